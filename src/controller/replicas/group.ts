import type { LeaseUnit, LiveReplica, SharedLedger, UnitLeader } from '../../ledger/shared.ts';
import { configuredBy } from '../../model/configured-units.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { RegionDetails } from '../../model/platform-status.ts';
import type { ReplicaGroup, ReplicaState, UnitState } from '../../model/replicas.ts';
import { compareText } from '../../model/text.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { lookAt } from '../../runtime/look.ts';
import { type Moment, momentOf, TimeLimit } from '../../runtime/time-limit.ts';
import type { Dependencies } from '../api.ts';

/** Facts that only the leader of platforms knows. Its heartbeats report them to the other replicas. */
export interface LedFacts {
  readonly platforms: Dependencies['platforms'];
  readonly regions: readonly RegionDetails[];
  readonly queued: number;
  readonly running: number;
  /** The units that it can lead. An earlier version does not report them. */
  readonly units?: readonly LeaseUnit[] | undefined;
  /** Its last read of what other replicas store succeeded; undefined: an earlier version, which does not report it. */
  readonly isCurrent?: boolean | undefined;
  /** Id of the revision that it read last; undefined: none yet, or it is an earlier version, which does not report it. */
  readonly read?: string | undefined;
  /** It leads the source, and finds that the accepted revision is the present one. An earlier version does not report it. */
  readonly confirms?: boolean | undefined;
  /** The number of the heartbeat in its process: a heartbeat that is read twice is one. */
  readonly beat?: number | undefined;
  /** Others should leave units to it. An earlier version does not report it. */
  readonly canTake?: boolean | undefined;
}

/** The last heartbeat of a replica that confirms the source. */
interface Confirmation {
  readonly beat: number | undefined;
  /** Its validity. If the next heartbeat is read within this time, its sender did not stand still before it. */
  readonly limit: TimeLimit;
  /** The heartbeat was read within the limit of the one before it. */
  readonly isSecond: boolean;
}

/** A heartbeat confirms the source for as long as three heartbeats take. */
const CONFIRMED_MS = 15_000;

/** The processes that share a ledger, as this one sees them. */
export class Replicas {
  /** Name of this process among them. */
  readonly name: string;
  /** The ledger, whose heartbeats carry the facts of this replica and bring those of the others. Everything must use this one. */
  readonly shared: SharedLedger;
  /** Time after its last sign at which a process counts as gone. */
  readonly leaseMs: number;
  /** Returns what this replica reports. The controller sets it. */
  facts: () => LedFacts = () => ({ platforms: [], regions: [], queued: 0, running: 0, confirms: false });
  /** Returns whether the last read of what others store succeeded; undefined: nothing reads it yet. The controller sets it. */
  isCurrent: () => boolean | undefined = () => undefined;
  readonly #clock: Clock;
  #live: readonly LiveReplica[] = [];
  /** By name, the other replicas whose last heartbeat confirms the source. */
  #confirming: ReadonlyMap<string, Confirmation> = new Map();
  /** Number of heartbeats of this process. */
  #beats = 0;
  /** The leaders as they were last read, by whichever part of this process, and when. */
  #leaders: readonly UnitLeader[] = [];
  #asOfMs: EpochMs;
  readonly #lookAtLeaders: () => Promise<readonly UnitLeader[] | undefined>;

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
      leaders: async () => {
        const leaders = await shared.leaders();
        [this.#leaders, this.#asOfMs] = [leaders, this.#clock.now()];
        return leaders;
      },
      leave: () => shared.leave(),
      factsSince: (serial, prefixes) => shared.factsSince(serial, prefixes),
      onSignal: (listener) => shared.onSignal(listener),
      close: () => shared.close(),
      beat: async (report, isDraining) => {
        const from = momentOf(this.#clock);
        this.#beats += 1;
        const facts: LedFacts = { ...(report.facts as object), ...this.facts(), beat: this.#beats };
        this.#live = await shared.beat({ ...report, facts: facts as unknown as Json }, isDraining);
        this.#hear(from);
        return this.#live;
      },
    };
    this.#lookAtLeaders = lookAt(options.clock, () => this.shared.leaders());
  }

  /** Returns what the other live replicas reported last. */
  others(): readonly LedFacts[] {
    return this.#live.filter(({ name }) => name !== this.name).map(({ facts }) => facts as unknown as LedFacts);
  }

  /**
   * The leader of the source is another replica, which confirms that the accepted revision is the present one. A leader that keeps its
   * lease and does not work, because the database has lost records, does not. Nor does one of an earlier version: removals wait for it.
   */
  get isSourceConfirmed(): boolean {
    const nowMs = this.#clock.monotonic();
    return [...this.#confirming.values()].some(({ limit, isSecond }) => isSecond && nowMs <= limit.untilMs());
  }

  /**
   * Notes who confirms the source. One heartbeat alone shows nothing: its sender may have stood still after it had written it and before
   * it was stored. Two of the same process that were read within this time show that it did not.
   */
  #hear(from: Moment): void {
    const isConfirming = ({ name, seenAgoMs, facts }: LiveReplica): boolean =>
      name !== this.name && seenAgoMs <= CONFIRMED_MS && (facts as unknown as LedFacts).confirms === true;
    const limit = new TimeLimit(this.#clock, CONFIRMED_MS, from);
    const nowMs = this.#clock.monotonic();
    const confirming = this.#live.filter(isConfirming).map(({ name, facts }): [string, Confirmation] => {
      const { beat } = facts as unknown as LedFacts;
      const former = this.#confirming.get(name);
      if (former !== undefined && former.beat === beat) return [name, former];
      return [name, { beat, limit, isSecond: former !== undefined && nowMs <= former.limit.untilMs() }];
    });
    this.#confirming = new Map(confirming);
  }

  /** Returns the replica that leads a unit at present; undefined: none, or the database does not answer. */
  async leaderOf(unit: LeaseUnit): Promise<string | undefined> {
    if (!(await this.#readLeaders())) return undefined;
    return this.#leaders.find((one) => one.unit === unit && one.leftMs > 0)?.replica;
  }

  /** @param units that can be led. A unit that was never led is among them only here. */
  async state(units: readonly LeaseUnit[]): Promise<ReplicaGroup> {
    const isCurrent = await this.#readLeaders();
    const leaders = new Map(this.#leaders.map((leader) => [leader.unit, leader]));
    const known = [...new Set([...units, ...leaders.keys()])].sort(compareText);
    const isReported = configuredBy(this.#live.map(({ facts }) => facts));
    const states = known.map((unit) => ({
      ...unitState(unit, leaders.get(unit)),
      isConfigured: units.includes(unit) || isReported(unit),
    }));
    const leads = (of: string): number =>
      this.#leaders.filter(({ holder, leftMs }) => holder === of && leftMs > 0).length;
    const replicas = this.#live.map(
      ({ holder, name, version, address, startedMs, seenAgoMs, isDraining }): ReplicaState => ({
        name,
        version,
        address,
        startedMs,
        seenAgoMs: Math.max(0, Math.round(seenAgoMs)),
        isDraining,
        isSelf: name === this.name,
        leads: leads(holder),
      }),
    );
    return { isShared: true, asOfMs: this.#asOfMs, isCurrent, replicas, units: states };
  }

  /** @returns whether they are of the present; otherwise they are those that were read last. */
  async #readLeaders(): Promise<boolean> {
    try {
      return (await this.#lookAtLeaders()) !== undefined;
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      return false;
    }
  }
}

function unitState(unit: LeaseUnit, last: UnitLeader | undefined): Omit<UnitState, 'isConfigured'> {
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
