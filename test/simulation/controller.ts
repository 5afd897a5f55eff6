import { reconciledKinds } from '../../src/kinds/registry.ts';
import { type ApplyWorld, defaultTiming } from '../../src/reconcile/apply/world.ts';
import type { Ledger, LedgerTransaction } from '../../src/ledger/ledger.ts';
import { full } from '../../src/ledger/errors.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { createRequestBudget } from '../../src/platform/budget.ts';
import { createPlatformClient } from '../../src/platform/platform-client.ts';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import { interactive } from '../../src/reconcile/policies/interactive.ts';
import { type PassOptions, reconcile } from '../../src/reconcile/reconcile.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { isPending } from './books.ts';
import { Chance } from './chance.ts';
import { ledThrough } from './ledgers.ts';
import { EPOCH_MS } from './server.ts';
import { SOURCE, STORE_KEY, stores, type Wishes, workFor } from './shop.ts';
import { never, transportOf } from './wire.ts';
import type { Rested } from './pauses.ts';
import type { Process, World } from './world.ts';

/** One process that reconciles, pass after pass. Killed, it never hears of anything again. */
export class Controller implements Process {
  readonly number: number;
  readonly chance: Chance;
  readonly #world: World;
  readonly #bornMs: number;
  /** Time that its monotonic clock has not counted, and since when it stands still: its machine is suspended. */
  #suspendedMs = 0;
  #suspendedFromMs: number | undefined;
  alive = true;
  epoch = 0;
  /** Asked to stop: finishes what is in flight. */
  stopping = false;
  /** What the pass it is in was told. */
  wishes: Wishes;
  readOnly = false;
  onRecord: ReadonlySet<string> = new Set();
  passes = 0;
  /** Set while it waits for its next pass. */
  idle = false;
  last: Outcome | undefined;
  rested: Rested | undefined;

  constructor(world: World, number: number) {
    this.#world = world;
    this.number = number;
    this.chance = new Chance(world.seed, 100 + number);
    this.#bornMs = world.timeline.nowMs;
    this.wishes = world.wishes;
  }

  wallMs(): number {
    return EPOCH_MS + this.#world.timeline.nowMs + this.#world.wallOffsetMs;
  }

  nowMs(): number {
    return this.#world.timeline.nowMs;
  }

  kill(): void {
    this.alive = false;
  }

  /** Passes until it dies, or is told to stop. */
  async live(): Promise<void> {
    const world = this.#world;
    const ledger = await world.ledgers.open();
    this.epoch = ledger.epoch;
    world.books.opened(ledger.epoch);
    const applyWorld = this.#applyWorld(ledger);
    while (this.alive && !this.stopping) {
      await this.#pass(applyWorld);
      if (!this.alive || this.stopping) break;
      this.idle = true;
      await world.untilNextPass(this);
      this.idle = false;
    }
    this.alive = false;
  }

  async #pass(applyWorld: ApplyWorld): Promise<void> {
    const world = this.#world;
    this.passes += 1;
    this.wishes = world.wishes;
    this.onRecord = new Set([...world.books.objects.values()].map((object) => object.naturalKey));
    world.truth.marks.told(this.wishes);
    world.truth.former.told(this.wishes, (name) => world.truth.serviceOf(name, this.wishes));
    this.readOnly = world.mayReadOnly && this.chance.happens(0.03);
    world.passes += 1;
    const { happened, perturbed } = world;
    const isRestless = world.server.isRestless();
    const options = this.#options();
    const outcome = await reconcile(workFor(this.wishes), applyWorld, options, interactive(options));
    if (!this.alive) return;
    this.last = outcome;
    this.#tellMarks(outcome);
    const isIdle = happened === world.happened;
    if (isIdle && !world.isCalm) world.idlePasses += 1;
    const isNormal = perturbed === world.perturbed && !isRestless && !this.readOnly;
    const isRest = isNormal && (isIdle ? !isWaiting(outcome) : isDone(outcome));
    this.rested = isRest ? { happened: world.happened, hasWritten: !isIdle } : undefined;
    const error = 'error' in outcome ? outcome.error : undefined;
    if (error?.code === 'ledger/fenced') this.alive = false;
    if (error !== undefined && `${error.message} ${error.remedy}`.includes(STORE_KEY)) {
      world.violate('I-SECRET', `the store's key is in ${error.code}: ${error.message}`);
    }
    world.note(`p${this.number} pass ${outcome.type}${error === undefined ? '' : ` ${error.code}`}`);
  }

  #tellMarks(outcome: Outcome): void {
    const { truth, books } = this.#world;
    const isRecorded = outcome.type === 'ended' && outcome.error === undefined && !this.readOnly;
    if (!isRecorded || this.epoch !== books.epoch) return;
    const pending = [...books.intents.values()].filter(isPending);
    truth.marks.ended(this.wishes, outcome, (id) =>
      pending.some((one) => one.resource === id && one.operation === 'createRule'),
    );
  }

  #options(): PassOptions {
    const { prune, adopt } = this.wishes;
    return {
      permissions: { adopt: () => adopt, adoptNamed: () => false, prune, firstInstall: () => this.#world.firstInstall },
      limits: this.#world.limits,
      targets: undefined,
      readOnly: this.readOnly,
      ledgerKnown: true,
    };
  }

  #applyWorld(ledger: Ledger): ApplyWorld {
    const world = this.#world;
    const clock = this.clock();
    return world.mutant.world({
      client: createPlatformClient({
        name: 'default',
        url: 'http://platform',
        transport: transportOf<Process>(world, this),
        clock,
        random: this.chance,
        log: silentLog,
        dialect: world.dialectSetting,
        budget: createRequestBudget({ concurrency: 16, requestsPerSecond: 1_000_000 }, clock),
        limits: { timeoutMs: 30_000 },
      }),
      ledger: this.#ledger(ledger),
      clock,
      random: this.chance,
      kinds: reconciledKinds,
      stores,
      timing: defaultTiming,
      actor: `controller ${this.number}`,
      source: SOURCE,
      snapshot: 'snapshot',
      emit() {},
      stopRequested: () => (this.stopping ? 'interrupted' : undefined),
    });
  }

  clock(): Clock {
    const world = this.#world;
    const { timeline } = world;
    return {
      now: () => this.wallMs(),
      // Of a process of its own: no two processes can compare theirs.
      monotonic: () => (this.#suspendedFromMs ?? timeline.nowMs) - this.#bornMs - this.#suspendedMs,
      sinceBoot: () => ({ boot: world.boot, uptimeMs: timeline.nowMs }),
      sleep: (ms) => this.#sleep(ms),
    };
  }

  #sleep(ms: number): Promise<void> {
    const world = this.#world;
    const step = world.begin(this, { kind: 'sleep', operation: 'sleep' });
    if (step === 'dead') return never();
    return new Promise((resolve) => {
      world.timeline.after(ms, () => {
        if (this.alive && !world.diesAfter(this, step)) resolve();
      });
    });
  }

  /** The ledger as this process has it: every commit is an effect, and a dead process reads nothing. */
  #ledger(ledger: Ledger): Ledger {
    return ledThrough(
      ledger,
      (answer) => (this.alive ? answer : never()),
      (transaction) => this.#commit(ledger, transaction),
    );
  }

  async #commit(ledger: Ledger, transaction: LedgerTransaction): Promise<void> {
    const world = this.#world;
    const step = world.begin(this, { kind: 'commit', operation: 'commit' });
    if (step === 'dead') return never();
    if (this.readOnly) world.violate('I-READONLY', 'a pass that may only read told the ledger something');
    if (world.checksSecrets) world.books.checkSecrets(transaction);
    if (world.takeFullDisk()) {
      world.truth.outcomeLost(transaction);
      world.note(`p${this.number} commit full`);
      throw full(ledger.location, undefined);
    }
    try {
      await ledger.commit(transaction);
    } catch (error) {
      world.note(`p${this.number} commit refused ${error instanceof PortolanError ? error.code : 'by a bug'}`);
      throw error;
    }
    world.books.committed(transaction, this.epoch);
    world.note(`p${this.number} commit ${describe(transaction)}`);
    if (world.diesAfter(this, step)) return never();
    if (step.pauseMs > 0) await this.#pause(step.pauseMs, step.suspends === true);
    return this.alive ? undefined : never();
  }

  async #pause(ms: number, suspends: boolean): Promise<void> {
    const { timeline } = this.#world;
    if (suspends) this.#suspendedFromMs ??= timeline.nowMs;
    await new Promise<void>((resolve) => timeline.after(ms, resolve));
    if (this.#suspendedFromMs === undefined) return;
    this.#suspendedMs += timeline.nowMs - this.#suspendedFromMs;
    this.#suspendedFromMs = undefined;
  }
}

function isWaiting(outcome: Outcome): boolean {
  return outcome.type === 'ended' && outcome.waits.length > 0;
}

function isDone(outcome: Outcome): boolean {
  if (outcome.type !== 'ended' || outcome.error !== undefined || isWaiting(outcome)) return false;
  return outcome.plan.actions.length + outcome.plan.deferred.length === 0;
}

function describe({ operations }: LedgerTransaction): string {
  return operations
    .flatMap((operation) => {
      switch (operation.op) {
        case 'open-intent':
          return [
            `open ${operation.intent.operation} ${operation.intent.action['id'] as string} ${operation.intent.id}`,
          ];
        case 'move-intent':
          return [`${operation.id} ${operation.state}`];
        case 'put-object':
          return [`put ${operation.object.naturalKey}`];
        case 'drop-object':
          return [`drop ${operation.uid}`];
        default:
          return [];
      }
    })
    .join(', ');
}
