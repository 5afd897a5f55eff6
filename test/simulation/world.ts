import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { DialectSetting } from '../../src/platform/dialect.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { ScopePlan } from '../../src/model/plan.ts';
import type { GuardLimits } from '../../src/plan/guard.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { act, ByHand, hangsOnCount } from './actors.ts';
import { Books, type Violation } from './books.ts';
import { Chance } from './chance.ts';
import { hidesInstall, readFaults } from './faults.ts';
import { ledThrough, type LedgerHost } from './ledgers.ts';
import { type Effect, inWords, kindOf, type Perturbation, type Plan } from './perturbations.ts';
import type { Mutant } from './mutant.ts';
import { Pauses, type Resting } from './pauses.ts';
import { Server } from './server.ts';
import { edited, type Wishes } from './shop.ts';
import { Timeline } from './timeline.ts';
import { Trace } from './trace.ts';
import { type Sender, Truth } from './truth.ts';

/** One process that reconciles, as the world sees it. */
export interface Process extends Sender, Resting {
  /** Asked to stop: it finishes what is in flight. */
  stopping: boolean;
  /** It waits for its next pass. */
  readonly idle: boolean;
  /** What its last pass came to. */
  readonly last: Outcome | undefined;
  live(): Promise<void>;
  kill(): void;
  clock(): Clock;
}

/** Everything that a schedule starts from; equal settings give equal schedules. */
export interface Settings {
  readonly seed: number;
  readonly platform: Seed;
  readonly wishes: Wishes;
  readonly dialect: Dialect;
  readonly dialectSetting: DialectSetting;
  readonly plan: Plan;
  readonly ledgers: LedgerHost;
  readonly spawn: (world: World, number: number) => Process;
  readonly limits: GuardLimits;
  readonly firstInstall: boolean;
  readonly mutant: Mutant;
  /** Keeps the trace as lines; its hash is always made. */
  readonly tracing: boolean;
  readonly checksSecrets: boolean;
  /** Answers to reads arrive as values; else as text, which the client parses. */
  readonly answersAsValues: boolean;
  /** At the end, with everything it was told. */
  readonly comparesLedger: boolean;
  /** A process that would only find what it found last time mostly rests instead. */
  readonly restsLong: boolean;
  readonly mayReadOnly: boolean;
}

/** What befalls one effect. */
export interface Step {
  readonly number: number;
  readonly fault: string | undefined;
  readonly a: number;
  readonly crash: Extract<Perturbation, { type: 'crash' }> | undefined;
  readonly pauseMs: number;
  /** Its monotonic clock does not count the pause. */
  readonly suspends?: boolean;
}

/** What makes a refusal for the order of things nobody's fault: the platform moved, or did not do what it said. */
const lies = readFaults.filter((fault) => fault.lies === true).map((fault) => fault.name);
const DISTURBING = new Set<string>(['accepted-not-done', ...lies]);

/** One platform, one ledger, the processes that share them, and what goes wrong between them. */
export class World {
  readonly seed: number;
  readonly timeline: Timeline;
  readonly server: Server;
  readonly books: Books;
  readonly truth: Truth;
  readonly byHand = new ByHand();
  readonly ledgers: LedgerHost;
  readonly mutant: Mutant;
  readonly dialectSetting: DialectSetting;
  readonly checksSecrets: boolean;
  /** Answers to reads arrive as values; else as text, which the client parses. */
  readonly answersAsValues: boolean;
  readonly comparesLedger: boolean;
  readonly pauses: Pauses<Process>;
  readonly counts = new Map<string, number>();
  readonly trace: Trace;
  readonly #spawn: Settings['spawn'];
  readonly #chance: Chance;
  #plan: Plan;
  #disturbed = false;
  #fullCommits = 0;
  /** Processes that die when an effect under way has happened. */
  readonly #doomed = new Set<Process>();
  controllers: Process[] = [];
  steps = 0;
  passes = 0;
  /** Passes amid chaos that wrote nothing, neither to the platform nor to the ledger. */
  idlePasses = 0;
  /** Writes that the platform itself refused. */
  refused = 0;
  /** Which they were, since this was emptied last. */
  readonly refusedRequests = new Set<string>();
  /** Intents that a person has decided: what they made is on record without what only the platform could tell. */
  readonly decidedByHand = new Set<string>();
  wishes: Wishes;
  limits: GuardLimits;
  firstInstall: boolean;
  mayReadOnly: boolean;
  wallOffsetMs = 0;
  #boots = 1;
  violation: Violation | undefined;
  /** From here on nothing goes wrong, and passes are asked for one by one. */
  isCalm = false;
  /** What went wrong so far. */
  perturbed = 0;
  #next: (() => void) | undefined;
  /** The one process that is left in calm times. */
  #last: Process | undefined;

  constructor(settings: Settings) {
    this.seed = settings.seed;
    const ties = new Chance(settings.seed, 1);
    this.timeline = new Timeline(() => ties.next());
    this.trace = new Trace(this.timeline, settings.tracing);
    const ids = new Chance(settings.seed, 2);
    this.server = new Server(settings.platform, settings.dialect, this.timeline, () => ids.hex(16));
    const violate = (invariant: string, message: string): void => this.violate(invariant, message);
    this.books = new Books(
      violate,
      { has: (id) => this.server.state.rules.get(id) !== undefined },
      () => this.timeline.nowMs,
      () => this.truth.adoptionAllowed || this.wishes.adopt,
    );
    this.truth = new Truth(this.books, this.server.state, violate, this);
    this.truth.adoptionAllowed = settings.wishes.adopt;
    this.ledgers = settings.ledgers;
    this.mutant = settings.mutant;
    this.dialectSetting = settings.dialectSetting;
    this.checksSecrets = settings.checksSecrets;
    this.answersAsValues = settings.answersAsValues;
    this.#spawn = settings.spawn;
    this.comparesLedger = settings.comparesLedger;
    this.#chance = new Chance(settings.seed, 3);
    this.pauses = new Pauses(this, this.#chance, settings.restsLong);
    this.#plan = settings.plan;
    this.wishes = settings.wishes;
    this.limits = settings.limits;
    this.firstInstall = settings.firstInstall;
    this.mayReadOnly = settings.mayReadOnly;
  }

  get dialect(): Dialect {
    return this.server.dialect;
  }

  get boot(): string {
    return `boot-${this.#boots}`;
  }

  violate(invariant: string, message: string): void {
    this.violation ??= { invariant, message };
    this.note(`VIOLATION ${invariant}: ${message}`);
  }

  /** One line of the trace. */
  note(text: string): void {
    this.trace.note(text);
  }

  start(): Process {
    const controller = this.#spawn(this, this.controllers.length + 1);
    this.controllers.push(controller);
    this.note(`p${controller.number} starts`);
    controller.live().catch((error: unknown) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.violate('BUG', `controller ${controller.number} threw: ${text}`);
    });
    return controller;
  }

  /** An effect of a process is about to happen. `dead`: the process never hears of it. */
  begin(controller: Process, effect: Effect): Step | 'dead' {
    if (!controller.alive) return 'dead';
    this.steps += 1;
    const number = this.steps;
    const perturbation = this.#plan.at(number, effect);
    if (perturbation === undefined) return { number, fault: undefined, a: 0, crash: undefined, pauseMs: 0 };
    this.perturbed += 1;
    this.counts.set(kindOf(perturbation), (this.counts.get(kindOf(perturbation)) ?? 0) + 1);
    this.note(`p${controller.number} ${number} ${effect.operation} << ${inWords(perturbation)}`);
    return this.#befall(number, controller, effect, perturbation);
  }

  #befall(number: number, controller: Process, effect: Effect, perturbation: Perturbation): Step | 'dead' {
    const step: Step = { number, fault: undefined, a: number, crash: undefined, pauseMs: 0 };
    switch (perturbation.type) {
      case 'crash':
        if (perturbation.when === 'after' && effect.kind !== 'rest') {
          this.#doomed.add(controller);
          return { ...step, crash: perturbation };
        }
        if (perturbation.when === 'during' && effect.kind === 'write') {
          return { ...step, crash: perturbation, a: perturbation.a };
        }
        this.crash(controller, perturbation);
        return 'dead';
      case 'read':
      case 'write': {
        const isUnlisted = this.dialect === 'documented' && hidesInstall(perturbation.fault, effect.operation);
        if (isUnlisted && !this.byHand.counts()) return step;
        if (DISTURBING.has(perturbation.fault)) this.#disturbed = true;
        return { ...step, fault: perturbation.fault, a: perturbation.a };
      }
      case 'full':
        this.#fullCommits = Math.max(this.#fullCommits, perturbation.commits);
        return step;
      case 'pause':
        this.wallOffsetMs += perturbation.suspension?.jumpMs ?? 0;
        return { ...step, pauseMs: perturbation.ms, suspends: perturbation.suspension !== undefined };
      case 'takeover':
        this.start();
        return step;
      case 'actor':
        if (perturbation.actor === 'delete-component' && hangsOnCount(this)) return step;
        this.#disturbed = true;
        act(perturbation.actor, this, new Chance(perturbation.a));
        return step;
      case 'git':
        this.wishes = edited(this.wishes, perturbation.edit, new Chance(perturbation.a));
        if (this.wishes.adopt) this.truth.adoptionAllowed = true;
        return step;
      case 'clock':
        this.wallOffsetMs += perturbation.jumpMs;
        return step;
      case 'stop':
        controller.stopping = true;
        this.timeline.after(perturbation.downMs, () => this.#succeed());
        return step;
    }
  }

  /** The process dies now; another one comes after a while. */
  crash(controller: Process, { downMs, reboots }: Extract<Perturbation, { type: 'crash' }>): void {
    this.note(`p${controller.number} dies`);
    controller.kill();
    if (reboots) {
      this.#boots += 1;
      for (const other of this.controllers) other.kill();
    }
    this.timeline.after(downMs, () => this.#succeed());
  }

  #succeed(): void {
    if (!this.isCalm && !this.controllers.some((controller) => controller.alive && !controller.stopping)) this.start();
  }

  /** Whether the process dies now that an effect has happened, and so never hears of it. */
  diesAfter(controller: Process, { crash }: Step): boolean {
    if (crash?.when !== 'after' || this.isCalm) return false;
    this.crash(controller, crash);
    return true;
  }

  /** What is to go wrong has gone wrong, up to this step. */
  hasPassed(step: number): boolean {
    return this.steps > step && ![...this.#doomed].some((controller) => controller.alive);
  }

  takeFullDisk(): boolean {
    if (this.#fullCommits === 0) return false;
    this.#fullCommits -= 1;
    return true;
  }

  isUndisturbed(): boolean {
    return !this.#disturbed;
  }

  latencyMs(): number {
    return 5 + this.#chance.int(40);
  }

  /** Resolves when the controller shall look again: after a while, or in calm times when it is told to. */
  untilNextPass(controller: Process): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        if (this.isCalm) this.#next = resolve;
        else resolve();
      };
      if (this.isCalm) wake();
      else this.pauses.after(controller, wake);
    });
  }

  /** How much has happened to what a pass looks at: by what it did itself, by others, by what went wrong. */
  get happened(): number {
    return this.server.changes + this.books.commits + this.perturbed;
  }

  /** Once the present wishes are met and nothing has gone wrong yet: git says something else, and the plan begins. */
  turnTo(wishes: Wishes, plan: Plan): void {
    this.wishes = wishes;
    this.truth.adoptionAllowed ||= wishes.adopt;
    this.#plan = plan;
    this.steps = 0;
    this.note('git has something else');
  }

  /** The one process has nothing to do. */
  get isAtRest(): boolean {
    const [only, second] = this.controllers;
    if (second !== undefined || only?.idle !== true || only.last?.type !== 'ended') return false;
    return only.last.results.length + only.last.waits.length === 0;
  }

  /** Nothing goes wrong any more; one process is left, and it waits for its next pass. */
  async calmDown(): Promise<void> {
    this.isCalm = true;
    this.#plan = { at: () => undefined };
    this.#fullCommits = 0;
    this.server.heal();
    this.mayReadOnly = false;
    this.note('calm');
    const newest = this.controllers.findLast(
      (controller) => controller.alive && !controller.stopping && controller.epoch === this.books.epoch,
    );
    for (const controller of this.controllers) if (controller !== newest) controller.kill();
    this.#last = newest ?? this.start();
    await this.#driveToRest(this.#last);
    if (this.#last.alive) return;
    this.#last = this.start();
    await this.#driveToRest(this.#last);
  }

  /** Until the process waits for its next pass, or has died. */
  async #driveToRest(controller: Process | undefined): Promise<void> {
    const rests = (): boolean => controller?.alive !== true || (controller.idle && this.#next !== undefined);
    const state = await this.timeline.drive(() => this.violation !== undefined || rests());
    if (state === 'idle') this.violate('BUG', 'the controller waits for something that never comes');
  }

  /** One pass of the one process that is left. */
  async pass(): Promise<Outcome | undefined> {
    const next = this.#next;
    if (next === undefined) throw new Error('calm down first');
    this.#next = undefined;
    next();
    await this.#driveToRest(this.#last);
    return this.#last?.last;
  }

  get lastPlan(): ScopePlan | undefined {
    const outcome = this.#last?.last;
    return outcome === undefined || outcome.type === 'unobserved' ? undefined : outcome.plan;
  }

  /** What the `ledger` commands do: a process of its own has the ledger, and the controller starts anew. */
  async withLedger(work: (ledger: Ledger, clock: Clock) => Promise<void>): Promise<void> {
    this.#last?.kill();
    this.#next = undefined;
    const ledger = await this.ledgers.open();
    this.books.opened(ledger.epoch);
    const watched = ledThrough(
      ledger,
      (answer) => answer,
      async (transaction) => {
        await ledger.commit(transaction);
        this.books.committed(transaction, ledger.epoch);
      },
    );
    await work(watched, this.#spawn(this, 0).clock());
    this.note('a person was at the ledger');
    this.#last = this.start();
    await this.#driveToRest(this.#last);
  }

  async compareLedger(): Promise<void> {
    await this.books.compare(await this.ledgers.open());
  }

  async letPass(ms: number): Promise<void> {
    let isOver = false;
    this.timeline.after(ms, () => {
      isOver = true;
    });
    await this.timeline.drive(() => isOver || this.violation !== undefined);
  }
}
