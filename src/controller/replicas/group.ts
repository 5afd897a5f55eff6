import type { LeaseUnit, LiveReplica, SharedLedger, UnitLeader } from '../../ledger/shared.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { RegionDetails } from '../../model/platform-status.ts';
import type { ReplicaGroup, ReplicaState, UnitState } from '../../model/replicas.ts';
import { compareText } from '../../model/text.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Dependencies } from '../api.ts';

/** Facts that only the leader of platforms knows. Its heartbeats report them to the other replicas. */
export interface LedFacts {
  readonly platforms: Dependencies['platforms'];
  readonly regions: readonly RegionDetails[];
  readonly queued: number;
  readonly running: number;
  /** Its last read of what other replicas store succeeded; undefined: an earlier version, which does not report it. */
  readonly isCurrent?: boolean | undefined;
  /** The source that it works on; undefined: an earlier version, which does not report it. */
  readonly source?: string;
  /** Id of the revision that it read last; undefined: none yet, or it is an earlier version, which does not report it. */
  readonly read?: string | undefined;
}

/** The processes that share a ledger, as this one sees them. */
export class Replicas {
  /** Name of this process among them. */
  readonly name: string;
  /** The ledger, whose heartbeats carry the facts of this replica and bring those of the others. Everything must use this one. */
  readonly shared: SharedLedger;
  /** Time after its last sign at which a process counts as gone. */
  readonly leaseMs: number;
  /** Returns what this replica reports. The controller sets it. */
  facts: () => LedFacts = () => ({ platforms: [], regions: [], queued: 0, running: 0 });
  readonly #clock: Clock;
  #live: readonly LiveReplica[] = [];
  #leaders: readonly UnitLeader[] = [];
  #asOfMs: EpochMs;
  /** The source of the replica that `rivalOf` returned last. */
  #rivalSource: string | undefined;

  constructor(
    shared: SharedLedger,
    options: { readonly name: string; readonly leaseMs: number; readonly clock: Clock },
  ) {
    this.name = options.name;
    this.leaseMs = options.leaseMs;
    this.#clock = options.clock;
    this.#asOfMs = options.clock.now();
    const { reader, events, commands, sessions } = shared;
    this.shared = {
      reader,
      events,
      commands,
      sessions,
      lead: (unit) => shared.lead(unit),
      leaders: async () => (this.#leaders = await shared.leaders()),
      leave: () => shared.leave(),
      factsSince: (serial, prefixes) => shared.factsSince(serial, prefixes),
      onSignal: (listener) => shared.onSignal(listener),
      close: () => shared.close(),
      beat: async (report, isDraining) => {
        this.#live = await shared.beat({ ...report, facts: this.facts() as unknown as Json }, isDraining);
        return this.#live;
      },
    };
  }

  /** Returns what the other live replicas reported last. */
  others(): readonly LedFacts[] {
    return this.#live.filter(({ name }) => name !== this.name).map(({ facts }) => facts as unknown as LedFacts);
  }

  /**
   * Returns a live replica that leads platforms for another source; undefined: there is none, or its source must give way, because a
   * replica of this source leads platforms, too, and is older. Once this source gave way, it waits until all replicas of the other one
   * have ended, so that the platforms stay with those. The leases decide who leads, not the reports: those may be late.
   */
  rivalOf(source: string): { readonly name: string; readonly source: string } | undefined {
    const leading = new Set(
      this.#leaders
        .filter(({ unit, leftMs }) => unit.startsWith('platform:') && leftMs > 0)
        .map(({ replica }) => replica),
    );
    const oldestFirst = [...this.#live].sort(byAge);
    const own = oldestFirst.find((one) => (sourceOf(one) ?? source) === source && leading.has(one.name));
    const others = oldestFirst.flatMap((one) => {
      const other = sourceOf(one) ?? source;
      return other === source
        ? []
        : [{ name: one.name, source: other, isOlder: own === undefined || byAge(one, own) < 0 }];
    });
    const found =
      others.find(({ name, isOlder }) => leading.has(name) && isOlder) ??
      (own === undefined ? others.find((one) => one.source === this.#rivalSource) : undefined);
    this.#rivalSource = found?.source;
    return found;
  }

  /** Returns the replica that leads a unit at present; undefined: none, or the database is out of reach. */
  async leaderOf(unit: LeaseUnit): Promise<string | undefined> {
    await this.#readLeaders();
    return this.#leaders.find((one) => one.unit === unit && one.leftMs > 0)?.replica;
  }

  /** @param units that can be led. A unit that was never led is among them only here. */
  async state(units: readonly LeaseUnit[]): Promise<ReplicaGroup> {
    const isCurrent = await this.#readLeaders();
    const leaders = new Map(this.#leaders.map((leader) => [leader.unit, leader]));
    const known = [...new Set([...units, ...leaders.keys()])].sort(compareText);
    const states = known.map((unit) => unitState(unit, leaders.get(unit)));
    const leads = (name: string): number => states.filter(({ leader }) => leader === name).length;
    const replicas = this.#live.map(
      ({ name, version, address, startedMs, seenAgoMs, isDraining }): ReplicaState => ({
        name,
        version,
        address,
        startedMs,
        seenAgoMs: Math.max(0, Math.round(seenAgoMs)),
        isDraining,
        isSelf: name === this.name,
        leads: leads(name),
      }),
    );
    return { isShared: true, asOfMs: this.#asOfMs, isCurrent, replicas, units: states };
  }

  async #readLeaders(): Promise<boolean> {
    try {
      await this.shared.leaders();
      this.#asOfMs = this.#clock.now();
      return true;
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      return false;
    }
  }
}

/** Returns the source that a replica works on; undefined: an earlier version, which does not report it. */
export function sourceOf({ facts }: Pick<LiveReplica, 'facts'>): string | undefined {
  return (facts as unknown as Partial<LedFacts>).source;
}

/** All replicas compare the same times. */
function byAge(left: LiveReplica, right: LiveReplica): number {
  return left.startedMs - right.startedMs || compareText(left.name, right.name);
}

function unitState(unit: LeaseUnit, last: UnitLeader | undefined): UnitState {
  const colon = unit.indexOf(':');
  const isLed = last !== undefined && last.leftMs > 0;
  return {
    unit,
    type: unit.slice(0, colon) as UnitState['type'],
    name: unit.slice(colon + 1),
    leader: isLed ? last.replica : null,
    epoch: last?.epoch ?? null,
    sinceMs: last === undefined ? null : last.sinceMs,
    leaseLeftMs: isLed ? Math.round(last.leftMs) : null,
  };
}
