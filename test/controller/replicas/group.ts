import type { LeaseEnd, LeaseFacts, RefusedBecause } from '../../../src/controller/api.ts';
import { type LeadChange, platformUnit, sourceUnit } from '../../../src/controller/replicas/leadership.ts';
import { ReplicaLeadership } from '../../../src/controller/replicas/replica-leadership.ts';
import type { LeaseUnit } from '../../../src/ledger/shared.ts';
import type { PortolanError } from '../../../src/model/errors.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { createTextLog } from '../../../src/runtime/text-log.ts';
import { type DatabaseLink, LinkLost, MemoryDatabase } from '../../support/memory-database.ts';
import { MemoryStore } from '../../support/memory-ledger.ts';
import { type MemoryShared, openMemoryShared } from '../../support/memory-shared.ts';
import { silentObserver } from '../../support/silent-observer.ts';
import { seededRandom, VirtualClock } from '../../support/virtual-clock.ts';

/** Work that a test lets a replica have when it hands a unit over. */
type Work = (change: LeadChange) => Promise<void> | void;

interface ReplicaOptions {
  readonly version?: string;
  readonly work?: Work;
  readonly source?: string;
}

/** One process of the group. A killed or paused one does nothing, not even sleep. */
export class GroupReplica {
  readonly name: string;
  readonly shared: MemoryShared;
  readonly leadership: ReplicaLeadership;
  readonly gained: { readonly unit: LeaseUnit; readonly from: LeaseFacts['from']; readonly atMs: number }[] = [];
  readonly lost: { readonly unit: LeaseUnit; readonly because: LeaseEnd; readonly atMs: number }[] = [];
  readonly lines: string[] = [];
  readonly refusals: RefusedBecause[] = [];
  /** Why it ended by itself. */
  ending: PortolanError | undefined;
  /** Rejects because of a bug. */
  readonly ended: Promise<void>;
  isReachable = true;
  /** What the database answers a statement with, in place of carrying it out. */
  faultOf: (operation: string) => Error | undefined = () => undefined;
  /** Whether it can read what the others store. */
  isCurrent = true;
  /** When it sent its heartbeats, as they arrived or were lost. */
  readonly beats: number[] = [];
  readonly clock: Clock;
  #paused: Promise<void> | undefined;
  #resume: () => void = () => {};
  /** Time that its monotonic clock has not counted, and since when it stands still. */
  #suspendedMs = 0;
  #suspendedFromMs: number | undefined;

  constructor(group: Group, name: string, { version = '1', work, source = 'default' }: ReplicaOptions = {}) {
    this.name = name;
    const clock = this.#clockOf(group.clock);
    this.clock = clock;
    const startedMs = clock.now();
    const random = seededRandom(group.replicas.size + 1);
    this.shared = openMemoryShared(group.database, {
      clock,
      random,
      actor: name,
      replica: name,
      source,
      leaseMs: group.leaseMs,
      link: this.#link(group.clock),
    });
    this.leadership = new ReplicaLeadership({
      shared: this.shared,
      clock,
      random,
      log: createTextLog('info', (line) => void this.lines.push(line), clock),
      leaseMs: group.leaseMs,
      source,
      observer: {
        ...silentObserver,
        led: ({ unit, from }) => this.gained.push({ unit, from, atMs: clock.monotonic() }),
        yielded: (unit, because) => this.lost.push({ unit, because, atMs: clock.monotonic() }),
        fenced: (_, because) => this.refusals.push(because),
      },
      units: () => group.units.map((unit) => (unit.startsWith('source:') ? sourceUnit(source) : unit)),
      report: () => ({ name, version, address: null, startedMs, facts: {} }),
      isCurrent: () => this.isCurrent,
    });
    if (work !== undefined) this.leadership.onChange(work);
    this.ended = this.leadership.failed.then((error) => {
      this.ending = error;
      return this.leadership.drain();
    });
    this.leadership.start();
  }

  led(units: readonly LeaseUnit[]): readonly LeaseUnit[] {
    return units.filter((unit) => this.leadership.of(unit) !== undefined);
  }

  /** SIGSTOP, or SIGKILL if nothing resumes it. */
  pause(): void {
    const paused = Promise.withResolvers<void>();
    this.#paused = paused.promise;
    this.#resume = paused.resolve;
  }

  /** Its machine is suspended, and the monotonic clock of that machine with it. */
  suspend(): void {
    this.#suspendedFromMs = this.clock.monotonic() + this.#suspendedMs;
    this.pause();
  }

  resume(): void {
    const suspendedFromMs = this.#suspendedFromMs;
    this.#suspendedFromMs = undefined;
    if (suspendedFromMs !== undefined)
      this.#suspendedMs += this.clock.monotonic() + this.#suspendedMs - suspendedFromMs;
    this.#paused = undefined;
    this.#resume();
  }

  #clockOf(clock: VirtualClock): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => (this.#suspendedFromMs ?? clock.monotonic()) - this.#suspendedMs,
      sinceBoot: () => clock.sinceBoot(),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        await this.#paused;
      },
    };
  }

  #link(clock: VirtualClock): DatabaseLink {
    return {
      run: async (operation, statement) => {
        await this.#paused;
        if (operation === 'beat') this.beats.push(clock.monotonic());
        if (!this.isReachable) throw new LinkLost(false);
        const fault = this.faultOf(operation);
        if (fault !== undefined) throw fault;
        return statement();
      },
      signal: (deliver) => void Promise.resolve(this.#paused).then(deliver),
    };
  }
}

/** Replicas over one database, on virtual time. */
export class Group {
  readonly clock = new VirtualClock();
  /** Time by which the clock of the database was set back. */
  setBackMs = 0;
  readonly database = new MemoryDatabase(new MemoryStore('lineage'), () => this.clock.monotonic() - this.setBackMs);
  readonly replicas = new Map<string, GroupReplica>();
  readonly leaseMs: number;
  units: readonly LeaseUnit[];

  constructor(platforms: number, leaseMs = 15_000) {
    this.leaseMs = leaseMs;
    this.units = [
      ...Array.from({ length: platforms }, (_, at) => platformUnit(`p${String(at).padStart(2, '0')}`)),
      sourceUnit('default'),
    ];
  }

  add(name: string, options: ReplicaOptions = {}): GroupReplica {
    const replica = new GroupReplica(this, name, options);
    this.replicas.set(name, replica);
    return replica;
  }

  /** The live replica that leads each unit. @throws if two of them believe so. */
  leaders(): ReadonlyMap<LeaseUnit, string> {
    const leaders = new Map<LeaseUnit, string>();
    for (const replica of this.replicas.values())
      for (const unit of this.units) {
        const { name } = replica;
        if (!this.#isValid(replica, unit)) continue;
        if (leaders.has(unit)) throw new Error(`${leaders.get(unit)} and ${name} both lead ${unit}`);
        leaders.set(unit, name);
      }
    return leaders;
  }

  loads(): readonly number[] {
    return [...this.replicas.values()].map(
      ({ leadership }) => this.units.filter((unit) => leadership.of(unit) !== undefined).length,
    );
  }

  get isWhole(): boolean {
    return this.leaders().size === this.units.length;
  }

  /** Lets time pass until it is so. @returns how long it took. */
  async until(isSo: () => boolean, what: string, maxMs = 600_000): Promise<number> {
    const fromMs = this.clock.monotonic();
    while (!isSo()) {
      if (this.clock.monotonic() - fromMs > maxMs) throw new Error(`not within ${maxMs} ms: ${what}`);
      await this.pass(10);
    }
    return this.clock.monotonic() - fromMs;
  }

  async pass(ms: number): Promise<void> {
    await this.clock.sleep(ms);
  }

  /** A lease gives its leader nothing once it has ended. */
  #isValid({ leadership, clock }: GroupReplica, unit: LeaseUnit): boolean {
    const lead = leadership.of(unit);
    return lead !== undefined && lead.validUntilMs() > clock.monotonic();
  }
}
