import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { durationMsOf } from '../../../src/model/duration.ts';
import { seededRandom } from '../../support/virtual-clock.ts';
import { AcknowledgedCheck } from './acknowledged.ts';
import { BeliefObserver } from './beliefs.ts';
import { type Happened, JournalCheck } from './checks.ts';
import { differences, Estate } from './estate.ts';
import { EXPECTED, FAULTS, type Scene } from './faults.ts';
import { LeaseObserver, type LeaseRow } from './leases.ts';
import { observeTables } from './observation.ts';
import { ArrivalRecorder } from './recorder.ts';
import { Replica } from './replica.ts';

export interface ReplicaCycleOptions {
  readonly replicas: number;
  readonly cycles: number;
  readonly seed: number;
  /** Length of a lease, such as `2s`. */
  readonly lease: string;
  /** Settle windows; undefined: the defaults. */
  readonly settle: string | undefined;
  readonly platforms?: number;
  /** Whether the replicas reach the database through PgBouncer in transaction mode. */
  readonly isPooled?: boolean;
  /** Names of faults; by default all. */
  readonly faults?: readonly string[];
  /** Called with a line after each cycle. */
  readonly say?: (line: string) => void;
}

export interface ReplicaReport {
  readonly cycles: number;
  /** Milliseconds from the fault until the lease of another process began, for each unit, by the fault. */
  readonly takeovers: ReadonlyMap<string, readonly number[]>;
  /** Milliseconds from the end of the fault until everything was in sync, by the fault. */
  readonly convergence: ReadonlyMap<string, readonly number[]>;
  readonly acknowledged: number;
  readonly writes: number;
  readonly violations: readonly string[];
}

/** Longer chains only make the lists of the platforms long. */
const CHAIN_CYCLES_MAX = 50;
/** Time beside lease and settle window: several controllers share few processors with other work. */
const MARGIN_MS = 45_000;
/** Of installs, by default. */
const LONGEST_SETTLE = '20m';
const DEFAULT_PLATFORMS = 5;
/** Platforms that change in a cycle. */
const CHANGED = 2;

/** Replicas under faults, again and again: nothing is made twice, nothing is lost, and one process leads each unit. */
export async function replicaCycles(options: ReplicaCycleOptions): Promise<ReplicaReport> {
  const takeovers = new Map<string, number[]>();
  const convergence = new Map<string, number[]>();
  const violations: string[] = [];
  let [acknowledged, writes, cycles] = [0, 0, 0];
  for (let chain = 0; cycles < options.cycles && violations.length === 0; chain += 1) {
    const count = Math.min(CHAIN_CYCLES_MAX, options.cycles - cycles);
    const seed = options.seed + chain;
    const say = (line: string): void => options.say?.(`${cycles + 1} of ${options.cycles}: seed ${seed}, ${line}`);
    const world = await World.create({ ...options, seed, cycles: count, say }, takeovers, convergence);
    try {
      violations.push(...world.violations.splice(0));
      for (let n = 0; n < count && violations.length === 0; n += 1) {
        await world.cycle(n);
        violations.push(...world.violations.splice(0));
        cycles += 1;
      }
      acknowledged += world.acknowledged.count;
      writes += world.writes();
    } finally {
      await world.close();
    }
  }
  return { cycles, takeovers, convergence, acknowledged, writes, violations };
}

type Samples = Map<string, number[]>;

class World {
  readonly violations: string[] = [];
  readonly acknowledged: AcknowledgedCheck;
  readonly #journal: JournalCheck;
  readonly #recorder: ArrivalRecorder;
  readonly #beliefs: BeliefObserver;
  readonly #options: ReplicaCycleOptions;
  readonly #estate: Estate;
  readonly #replicas: Replica[];
  readonly #leases: LeaseObserver;
  readonly #random: ReturnType<typeof seededRandom>;
  readonly #leaseMs: number;
  readonly #takeovers: Samples;
  readonly #convergence: Samples;

  private constructor(
    options: ReplicaCycleOptions,
    estate: Estate,
    recorder: ArrivalRecorder,
    replicas: Replica[],
    samples: readonly [Samples, Samples],
  ) {
    this.#options = options;
    this.#estate = estate;
    this.#replicas = replicas;
    this.#random = seededRandom(options.seed);
    this.#leaseMs = durationMsOf(options.lease);
    this.#leases = new LeaseObserver(estate.postgres);
    this.#beliefs = new BeliefObserver(replicas);
    this.#recorder = recorder;
    this.#journal = new JournalCheck(estate, recorder);
    this.acknowledged = new AcknowledgedCheck(estate);
    [this.#takeovers, this.#convergence] = samples;
  }

  static async create(options: ReplicaCycleOptions, takeovers: Samples, convergence: Samples): Promise<World> {
    const { lease, settle, cycles, platforms = DEFAULT_PLATFORMS, isPooled = false } = options;
    const recorder = new ArrivalRecorder();
    const estate = await Estate.create({
      platforms,
      generations: cycles + 2,
      lease,
      settle,
      isPooled,
      hasIdle: true,
      onRequest: (platform, request) => recorder.add(platform, request),
    });
    await observeTables(estate.postgres);
    const replicas: Replica[] = [];
    for (let n = 1; n <= options.replicas; n += 1) replicas.push(await Replica.start(`replica-${n}`, estate));
    const world = new World(options, estate, recorder, replicas, [takeovers, convergence]);
    try {
      await world.#converged('the start');
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  writes(): number {
    return this.#estate.platforms.reduce(
      (sum, { sandbox }) => sum + sandbox.requests().filter(({ isWrite }) => isWrite).length,
      0,
    );
  }

  async cycle(n: number): Promise<void> {
    const { faults = Object.keys(FAULTS), seed, say = () => {} } = this.#options;
    const name = faults[Math.floor(this.#random.next() * faults.length)] ?? 'kill';
    const changed = this.#estate.platforms.toSorted(() => this.#random.next() - 0.5).slice(0, CHANGED);
    this.#estate.change(changed, this.#random);
    await sleep(this.#random.next() * 2_000);
    const struck: { readonly unit: LeaseRow; readonly atMs: number }[] = [];
    const scene = this.#scene(async (...victims) => {
      await this.acknowledged.sample();
      const pids = victims.map(({ pid }) => pid);
      const led = (await this.#leases.read()).filter(({ pid, isHeld }) => isHeld && pids.includes(pid));
      const atMs = Date.now();
      struck.push(...led.map((unit) => ({ unit, atMs })));
    });
    await this.acknowledged.command(this.#replicas, this.#random, n);
    await this.acknowledged.sample();
    await FAULTS[name]?.(scene);
    const healedMs = performance.now();
    const isConverged = await this.#converged(`cycle ${n} (${name}, seed ${seed})`);
    const tookMs = performance.now() - healedMs;
    add(this.#convergence, name, tookMs);
    const times = struck.flatMap(({ unit, atMs }) => {
      const next = this.#leases.after(unit.unit, unit.epoch);
      return next === undefined || next.pid === unit.pid ? [] : [next.sinceMs - atMs];
    });
    for (const time of times) add(this.#takeovers, name, time);
    const happened = { claims: this.#beliefs.take(), struck: struck.map(({ unit }) => unit), expected: EXPECTED[name] };
    if (isConverged) await this.#check(`cycle ${n} (${name}, seed ${seed})`, happened);
    const moved = times.length === 0 ? '' : `, taken over after ${times.map((ms) => Math.round(ms)).join(', ')} ms`;
    say(`cycle ${n}: ${name}${moved}, in sync after ${Math.round(tookMs)} ms`);
  }

  async close(): Promise<void> {
    await this.#leases.close();
    await this.#beliefs.close();
    this.#recorder.close();
    for (const replica of this.#replicas) await replica.remove();
    await this.#estate.remove();
  }

  #scene(struck: Scene['struck']): Scene {
    return {
      estate: this.#estate,
      replicas: this.#replicas,
      random: this.#random,
      leaseMs: this.#leaseMs,
      wanted: this.#options.replicas,
      struck,
      leader: () => this.#leader(),
      violation: (text) => this.violations.push(text),
    };
  }

  async #leader(): Promise<Replica> {
    // Drawn once: how often it waits is no matter of the seed.
    const drawn = this.#random.next();
    for (;;) {
      const pids = (await this.#leases.read()).filter(({ isHeld }) => isHeld).map(({ pid }) => pid);
      const leaders = this.#replicas.filter(({ pid, isRunning }) => isRunning && pids.includes(pid));
      const leader = leaders[Math.floor(drawn * leaders.length)];
      if (leader !== undefined) return leader;
      await sleep(50);
    }
  }

  /** Waits until every platform is in sync with git, and has one live leader. */
  async #converged(when: string): Promise<boolean> {
    const settleMs = durationMsOf(this.#options.settle ?? LONGEST_SETTLE);
    const deadlineMs = performance.now() + 2 * this.#leaseMs + settleMs + MARGIN_MS;
    for (;;) {
      const open = await this.#open();
      if (open.length === 0) return true;
      const ended = this.#replicas.filter(({ isRunning }) => !isRunning);
      if (ended.length === 0 && performance.now() < deadlineMs) {
        await sleep(100);
        continue;
      }
      const logs = await Promise.all(this.#replicas.map((replica) => this.#saved(replica)));
      this.violations.push(
        ...ended.map(({ name }) => `${when}: ${name} ended by itself`),
        `${when}: it does not converge: ${open.join('; ')}\n${logs.join('\n')}`,
      );
      return false;
    }
  }

  /** Keeps the log of a replica. @returns its path, and what the replica says of the applications. */
  async #saved(replica: Replica): Promise<string> {
    const path = join(tmpdir(), `portolan-replicas-${this.#options.seed}-${replica.name}.log`);
    writeFileSync(path, replica.said);
    return `--- ${replica.name}, log in ${path}: ${await replica.answer('/applications?limit=100')}`;
  }

  async #open(): Promise<readonly string[]> {
    const found = this.#estate.platforms.flatMap((platform) => differences(platform));
    // It may wait for the database.
    for (const { name, url } of this.#replicas) if (url === undefined) found.push(`${name} is starting`);
    try {
      const leases = await this.#leases.read();
      const pids = this.#replicas.filter(({ isRunning }) => isRunning).map(({ pid }) => pid);
      for (const { name } of this.#estate.platforms) {
        const leaders = leases.filter(({ unit, isHeld }) => unit === `platform:${name}` && isHeld);
        if (leaders.length !== 1 || !pids.includes(leaders[0]?.pid ?? 0)) found.push(`${name} has no live leader`);
      }
      const pending = await this.#journal.pending();
      if (pending > 0) found.push(`${pending} intents without an outcome`);
    } catch (error) {
      found.push(String(error));
    }
    return found;
  }

  async #check(when: string, happened: Happened): Promise<void> {
    const found = [...(await this.acknowledged.violations()), ...(await this.#journal.violations(happened))];
    for (const violation of found) this.violations.push(`${when}: ${violation}`);
  }
}

function add(samples: Samples, name: string, value: number): void {
  const of = samples.get(name);
  if (of === undefined) samples.set(name, [value]);
  else of.push(value);
}
