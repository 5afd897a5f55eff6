import type { Controller } from '../../../src/controller/controller.ts';
import type { ControllerConfiguration, ControllerOptions } from '../../../src/controller/options.ts';
import { Replicas } from '../../../src/controller/replicas/group.ts';
import { platformUnit, replicaClock, sourceUnit } from '../../../src/controller/replicas/leadership.ts';
import { ReplicaLeadership } from '../../../src/controller/replicas/replica-leadership.ts';
import type { Write } from '../drivers/permissions.ts';
import type { LeaseUnit } from '../../../src/ledger/shared.ts';
import type { Intent } from '../../../src/model/owned.ts';
import { PortolanError } from '../../../src/model/errors.ts';
import { type Transport, TransportError } from '../../../src/platform/transport.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { openMemoryShared } from '../../support/memory-shared.ts';
import { Chance } from '../chance.ts';
import { type Belief, Daemon } from '../drivers/daemon.ts';
import { nameOfScope } from '../drivers/estate.ts';
import type { Git } from '../drivers/git.ts';
import type { DriverSettings } from '../drivers/settings.ts';
import { EPOCH_MS } from '../server.ts';
import { SimulatedLink } from './database-link.ts';
import {
  CLOCK_ERROR,
  LATE_MS,
  LEASE_MS,
  type Link,
  type Peer,
  PLATFORMS,
  type ReplicaSurroundings,
  timing,
} from './surroundings.ts';

/** Shorter waits are of work under way. */
const LATE_FROM_MS = 500;

type Opened = Pick<ControllerOptions, 'ledger' | 'leadership' | 'replicas' | 'clock'>;

/** `portolan run` beside others: the real controller and the real leadership, over a database that all of them share. */
export class Replica extends Daemon implements Peer {
  readonly name: string;
  readonly #world: ReplicaSurroundings;
  readonly #link: Chance;
  /** Its monotonic clock runs so much faster than time, and its wall clock shows so much more. */
  readonly #rate: number;
  readonly #wallOffsetMs: number;
  /** It is so busy that it goes on so much later than it asked for. */
  readonly #lateMs: number;
  readonly #cuts = new Map<Link, number>();
  readonly #waiting: (() => void)[] = [];
  readonly #epochs = new Set<number>();
  #frozenUntilMs = 0;
  /** Time that its monotonic clock has not counted, and since when it stands still: its machine is suspended. */
  #suspendedMs = 0;
  #suspendedFromMs: number | undefined;
  #bornMs: number;
  leadership: ReplicaLeadership | undefined;

  constructor(world: ReplicaSurroundings, number: number) {
    super(world, number);
    this.#world = world;
    this.name = `replica-${number}`;
    this.#link = new Chance(world.seed, 500 + number);
    this.#rate = this.#link.pick([1, 1, 1 - CLOCK_ERROR, 1 + CLOCK_ERROR]);
    this.#wallOffsetMs = this.#link.pick([0, 0, 3_600_000, -3_600_000, 40_000]);
    this.#lateMs = this.#link.pick([0, LATE_MS, LATE_MS]);
    this.#bornMs = world.timeline.nowMs;
  }

  protected override readonly platforms = PLATFORMS;

  override readonly clock: Clock = {
    now: () => this.wallMs(),
    monotonic: () =>
      ((this.#suspendedFromMs ?? this.#world.timeline.nowMs) - this.#bornMs - this.#suspendedMs) * this.#rate,
    // In hundredths of a second, as Linux has it.
    sinceBoot: () => ({
      boot: `boot of ${this.name}`,
      uptimeMs: Math.floor((this.#world.timeline.nowMs * this.#rate) / 10) * 10,
      errorMs: 10,
    }),
    sleep: (ms, signal) => this.#sleepFor(ms, signal),
  };

  override wallMs(): number {
    return Math.floor(EPOCH_MS + this.#world.timeline.nowMs) + this.#world.wallOffsetMs + this.#wallOffsetMs;
  }

  protected override seenWallMs(): number {
    return Math.floor(this.#world.seenWallMs) + this.#wallOffsetMs;
  }

  #sleepFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const passesMs = Math.ceil((ms < LATE_FROM_MS ? ms : ms + this.#lateMs) / this.#rate);
    return this.sleeps.begin(signal, (wake) => this.#world.timeline.after(passesMs, () => this.deliver(wake)));
  }

  /** It does nothing until then: what it waits for comes when it goes on. Its monotonic clock may not count that time. */
  freeze(ms: number): void {
    const { timeline } = this.#world;
    const untilMs = timeline.nowMs + ms;
    if (untilMs <= this.#frozenUntilMs) return;
    this.#frozenUntilMs = untilMs;
    if (this.#link.happens(0.5)) this.#suspendedFromMs ??= timeline.nowMs;
    timeline.after(ms, () => this.#thaw());
  }

  get isFrozen(): boolean {
    return this.#world.timeline.nowMs < this.#frozenUntilMs;
  }

  #thaw(): void {
    if (this.isFrozen) return;
    if (this.#suspendedFromMs !== undefined) this.#suspendedMs += this.#world.timeline.nowMs - this.#suspendedFromMs;
    this.#suspendedFromMs = undefined;
    for (const run of this.#waiting.splice(0)) this.#world.timeline.after(this.#link.int(3), () => this.deliver(run));
  }

  protected override deliver(run: () => void): void {
    if (!this.alive) return;
    if (this.isFrozen) this.#waiting.push(run);
    else run();
  }

  /** As `deliver`, for the database. */
  receive(run: () => void): void {
    this.deliver(run);
  }

  cut(link: Link, ms: number): void {
    this.#cuts.set(link, this.#world.timeline.nowMs + ms);
  }

  isCut(link: Link): boolean {
    return (this.#cuts.get(link) ?? 0) > this.#world.timeline.nowMs;
  }

  /** Nothing keeps it from anything any more. */
  heal(): void {
    this.#cuts.clear();
    this.#frozenUntilMs = 0;
    this.#thaw();
  }

  protected override isAwake(): boolean {
    return this.alive && !this.isFrozen;
  }

  protected override branch(): Pick<Git, 'head' | 'isAway'> {
    const { git } = this.#world;
    const isCut = (): boolean => this.isCut('git');
    return {
      get head() {
        return git.head;
      },
      get isAway() {
        return git.isAway || isCut();
      },
    };
  }

  protected override async open(): Promise<Opened> {
    const world = this.#world;
    const clock = replicaClock(this.clock, this.#link);
    const opened = openMemoryShared(world.database, {
      clock: this.clock,
      random: this.#link,
      actor: `daemon ${this.number}`,
      replica: this.name,
      leaseMs: LEASE_MS,
      source: 'default',
      link: new SimulatedLink(world, this, this.#link),
    });
    const { name } = this;
    const replicas = new Replicas(opened, { name, leaseMs: LEASE_MS, clock });
    const { shared } = replicas;
    const startedMs = clock.now();
    const leadership = new ReplicaLeadership({
      shared,
      clock,
      random: this.#link,
      log: this.log(),
      observer: this.observer,
      leaseMs: LEASE_MS,
      source: 'default',
      units: () => [...PLATFORMS].map(platformUnit).concat(sourceUnit('default')),
      report: () => ({ name, version: '0.0.0', address: null, startedMs, facts: {} }),
      isCurrent: () => replicas.isCurrent(),
    });
    leadership.failed.catch((error: unknown) => {
      if (error instanceof PortolanError) return this.stop();
      world.violate('BUG', `${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    });
    this.leadership = leadership;
    leadership.start();
    return { ledger: shared.reader, leadership, replicas, clock };
  }

  protected override async close(controller: Controller): Promise<void> {
    await Promise.all([controller.drain(), this.leadership?.drain()]);
    await controller.close();
  }

  protected override configuration(settings: DriverSettings): ControllerConfiguration {
    const configuration = super.configuration(settings);
    const { settleTargetStateMs, settleCreationMs, settleInstallMs } = timing;
    const settle = { targetStateMs: settleTargetStateMs, creationMs: settleCreationMs, installMs: settleInstallMs };
    return { ...configuration, settings: { ...configuration.settings, settle } };
  }

  protected override transport(send: Transport): Transport {
    return async (request) => {
      if (this.isCut('platform')) {
        await this.clock.sleep(this.#link.int(3_000));
        throw new TransportError('unsent', 'ECONNREFUSED', 'cut off from the platform');
      }
      try {
        const answer = await send(request);
        await this.#awake();
        return answer;
      } catch (error) {
        await this.#awake();
        throw error;
      }
    };
  }

  #awake(): Promise<void> {
    if (!this.isFrozen) return Promise.resolve();
    return new Promise((resolve) => this.deliver(resolve));
  }

  /** It has taken a lease. */
  takes(epoch: number): void {
    this.#epochs.add(epoch);
  }

  override owns({ epoch }: Intent): boolean {
    return this.#epochs.has(epoch);
  }

  /** Units that it leads, as it believes. */
  leads(unit: LeaseUnit): boolean {
    return this.alive && this.leadership?.of(unit) !== undefined;
  }

  mayWrite(unit: LeaseUnit): boolean {
    const lead = this.leadership?.held(unit);
    const marginMs = this.leadership?.sendMarginMs ?? 0;
    return lead !== undefined && lead.validUntilMs() - marginMs > this.clock.monotonic();
  }

  /** Another process may have accepted what it works towards; see `settledCommit`. */
  protected override believes({ scope }: Intent): Belief {
    return {
      commit: this.#world.settledCommit(),
      unreadableSinceMs: undefined,
      movedMs: this.#world.movedMs(scope),
    };
  }

  protected override heard(): void {}

  override check(write: Write, atMs: number): boolean {
    const { scope, epoch } = write.intent;
    this.#world.leaders.sends(scope.slice(0, scope.indexOf('/')), this.name, epoch);
    const { verb, object, summary } = write.action;
    const name = nameOfScope(scope);
    const isNew = verb === 'create' && object.startsWith('rule/');
    if (isNew && name !== undefined && !this.#world.isNamed(name, object))
      this.#world.violate('I-AHEAD', `${this.name} sends ${summary}, which no accepted revision names`);
    if (!this.#world.isPlaced(scope))
      this.#world.violate('I-MOVED', `${this.name} sends ${summary} into ${scope}, where no revision has ${name} now`);
    return super.check(write, atMs);
  }
}
