import type { LedgerTransaction } from '../../../src/ledger/ledger.ts';
import { defaultTiming, type Timing } from '../../../src/reconcile/apply/world.ts';
import type { WriteClass } from '../../../src/model/owned.ts';
import { PortolanError } from '../../../src/model/errors.ts';
import type { Transport } from '../../../src/platform/transport.ts';
import { act, ByHand } from '../actors.ts';
import { Books, type Violation } from '../books.ts';
import { Chance } from '../chance.ts';
import type { LedgerHost } from '../ledgers.ts';
import type { Effect } from '../perturbations.ts';
import { EPOCH_MS, Server } from '../server.ts';
import { NO_WISHES } from '../shop.ts';
import { coveredMs } from '../spans.ts';
import { Timeline } from '../timeline.ts';
import { inShort, Trace } from '../trace.ts';
import { transportOf } from '../wire.ts';
import type { Step } from '../world.ts';
import { Command } from './command.ts';
import { Daemon } from './daemon.ts';
import { type AppName, anyContent, anyEstate, withInstall } from './estate.ts';
import { Git } from './git.ts';
import { Permissions } from './permissions.ts';
import { Person, undecidable } from './person.ts';
import {
  driverInWords,
  driverKindOf,
  type DriverPerturbation,
  type DriverPlan,
  nothingHappens,
  type ReplicaPerturbation,
} from './perturbations.ts';
import { Sends } from './sends.ts';
import { sharedWorkbench } from './workbench.ts';
import { anyDailyObjects, anySettings, type DriverSettings, type SettingTimes } from './settings.ts';
import type { Driving, DriversSettings } from './driving.ts';
import type { Sender, Surroundings } from './surroundings.ts';

const INSTALLING_SHARE = 0.3;

/** One platform, one branch, one ledger; drivers that follow one another, persons beside them, and what goes wrong. */
export class DriversWorld implements Surroundings {
  readonly seed: number;
  readonly driving: Driving;
  readonly timing: Timing;
  readonly settleMs: Readonly<Record<WriteClass, number>>;
  readonly timeline: Timeline;
  readonly server: Server;
  readonly books: Books;
  readonly permissions: Permissions;
  readonly truth: Sends;
  readonly git: Git;
  /** Digests that wait in the ledger to be taken up. */
  readonly approved = new Map<AppName, string>();
  readonly ledgers: LedgerHost;
  readonly answersAsValues = true;
  readonly refusedRequests = new Set<string>();
  readonly byHand = new ByHand();
  readonly counts = new Map<string, number>();
  readonly trace: Trace;
  readonly #chance: Chance;
  /** undefined: git names no installs. Apart from the others, so that it moves nothing in schedules without them. */
  readonly #installing: Chance | undefined;
  readonly #settingTimes: SettingTimes | undefined;
  readonly #dailyObjects: number | undefined;
  readonly #doomed = new Set<Sender>();
  #plan: DriverPlan = nothingHappens;
  #fullCommits = 0;
  #isDisturbed = false;
  #jump = { step: 0, formerMs: 0 };
  processes: Sender[] = [];
  settings: DriverSettings;
  wallOffsetMs = 0;
  refused = 0;
  steps = 0;
  passes = 0;
  /** Plans that persons let through, and times that the source said something else to a process at work. */
  approvals = 0;
  sourceChanges = 0;
  sharedReadings = 0;
  /** Drivers that began. */
  daemons = 0;
  commands = 0;
  /** Writes in doubt that a person has decided. */
  resolved = 0;
  violation: Violation | undefined;
  isCalm = false;
  readonly boot = 'boot-1';
  readonly readingMs = 300;
  readonly workbench = sharedWorkbench();

  constructor(settings: DriversSettings) {
    const { seed, driving, ledgers, tracing, platforms, timing = defaultTiming, lagMs = 0, clockError = 0 } = settings;
    this.#settingTimes = settings.settingTimes;
    this.timing = timing;
    this.settleMs = {
      'target-state': timing.settleTargetStateMs,
      'duplicate-rejecting': timing.settleCreationMs,
      'duplicate-accepting': timing.settleInstallMs,
    };
    this.seed = seed;
    this.driving = driving;
    this.ledgers = ledgers;
    const chance = new Chance(seed, 11);
    const ties = new Chance(seed, 1);
    const ids = new Chance(seed, 2);
    this.#chance = new Chance(seed, 3);
    this.timeline = new Timeline(() => ties.next());
    this.trace = new Trace(this.timeline, tracing);
    const dialect = chance.happens(0.75) ? 'extended' : 'documented';
    const estate = anyEstate(chance, platforms && new Chance(seed, 18));
    this.server = new Server(estate, dialect, this.timeline, () => ids.hex(16));
    const violate = (invariant: string, message: string): void => this.violate(invariant, message);
    this.books = new Books(
      violate,
      { has: (id) => this.server.state.rules.get(id) !== undefined },
      () => this.timeline.nowMs,
      () => false,
    );
    this.permissions = new Permissions(violate, lagMs, clockError);
    this.truth = new Sends(this, timing);
    this.git = new Git({ ...anyContent(chance), platforms });
    const installing = new Chance(seed, 17);
    // Without a listing a lost answer leaves an install in doubt for good.
    if (dialect === 'extended' && installing.happens(INSTALLING_SHARE)) this.#installing = installing;
    this.#install();
    this.#dailyObjects = anyDailyObjects(new Chance(seed, 31));
    this.settings = this.anySettings(chance);
  }

  /** What an operator might configure. */
  anySettings(chance: Chance): DriverSettings {
    return anySettings(chance, this.#settingTimes, this.#dailyObjects);
  }

  violate(invariant: string, message: string): void {
    this.violation ??= { invariant, message };
    this.note(`VIOLATION ${invariant}: ${message}`);
  }

  readonly #bug = (error: unknown): void =>
    this.violate('BUG', `thrown: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);

  /** One line of the trace. */
  note(text: string): void {
    this.trace.note(text);
  }

  /** From here on this happens, counted from the next step. */
  meet(plan: DriverPlan): void {
    this.#plan = plan;
    this.steps = 0;
  }

  start(): Sender {
    // Who has seen that something is in doubt may look at the platform before anything else.
    if (!this.isCalm && undecidable(this).length > 0 && this.#chance.happens(0.3)) return this.startPerson();
    const number = this.processes.length + 1;
    const isCommand =
      this.driving === 'command' || (this.driving === 'both' && !this.isCalm && this.#chance.happens(0.4));
    if (isCommand) this.commands += 1;
    else this.daemons += 1;
    return this.launch(isCommand ? new Command(this, number) : new Daemon(this, number));
  }

  /** Somebody settles by hand what is in doubt. */
  startPerson(): Sender {
    return this.launch(new Person(this, this.processes.length + 1));
  }

  protected launch(process: Sender): Sender {
    const { number } = process;
    this.processes.push(process);
    this.note(`p${number} starts as ${process.kind}`);
    process.live().catch(this.#bug);
    return process;
  }

  /** The process that works, if any does. */
  get newest(): Sender | undefined {
    return this.processes.findLast(({ alive, drainMs }) => alive && drainMs === undefined);
  }

  get daemon(): Daemon | undefined {
    return this.newest instanceof Daemon ? this.newest : undefined;
  }

  /** What a process that sends at this step saw on its wall clock last. */
  get seenWallMs(): number {
    const { step, formerMs } = this.#jump;
    return EPOCH_MS + this.timeline.nowMs + (step === this.steps ? formerMs : this.wallOffsetMs);
  }

  begin(process: Sender, effect: Effect): Step | 'dead' {
    if (!process.alive) return 'dead';
    this.steps += 1;
    const number = this.steps;
    const step: Step = { number, fault: undefined, a: number, crash: undefined, pauseMs: 0 };
    const perturbation = this.#plan.at(number, effect);
    if (perturbation === undefined) return step;
    const kind = driverKindOf(perturbation);
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    this.note(`p${process.number} ${number} ${effect.operation} << ${driverInWords(perturbation)}`);
    return this.#befall(step, process, effect, perturbation);
  }

  #befall(step: Step, process: Sender, effect: Effect, perturbation: DriverPerturbation): Step | 'dead' {
    switch (perturbation.type) {
      case 'crash': {
        const crash = { ...perturbation, reboots: false };
        if (perturbation.when === 'after') {
          this.#doomed.add(process);
          return { ...step, crash };
        }
        if (perturbation.when === 'during' && effect.kind === 'write') return { ...step, crash, a: perturbation.a };
        this.crash(process, crash);
        return 'dead';
      }
      case 'read':
      case 'write':
        this.#isDisturbed = true;
        return { ...step, fault: perturbation.fault, a: perturbation.a };
      case 'full':
        this.#fullCommits = Math.max(this.#fullCommits, perturbation.commits);
        return step;
      case 'takeover':
        this.joins();
        return step;
      case 'clock':
        this.#jump = { step: step.number, formerMs: this.wallOffsetMs };
        this.wallOffsetMs += perturbation.jumpMs;
        return step;
      case 'stop':
        process.stop();
        this.startAfter(perturbation.downMs);
        return step;
      case 'freeze':
      case 'cut':
      case 'outage':
        this.befallReplica(process, perturbation);
        return step;
      default:
        this.#around(perturbation);
        return step;
    }
  }

  watchedMs(_scope: string, fromMs: number, toMs: number): number {
    const lives = this.processes.filter(({ kind }) => kind === 'daemon').map(({ life }) => life);
    return coveredMs(lives, fromMs, toMs);
  }

  /** Another process begins beside those that live. */
  protected joins(): void {
    this.start();
  }

  /** Only one of several controllers can be cut off from the others. */
  protected befallReplica(_process: Sender, { type }: ReplicaPerturbation): void {
    throw new Error(`${type} befalls several controllers only`);
  }

  /** What happens beside the processes. */
  #around(
    perturbation: Extract<DriverPerturbation, { type: 'git' | 'rewind' | 'source' | 'human' | 'stranger' }>,
  ): void {
    switch (perturbation.type) {
      case 'git':
        this.git.edit(perturbation.edit, new Chance(perturbation.a));
        return this.#install();
      case 'rewind':
        return this.git.rewind();
      case 'source':
        this.git.isAway = true;
        return this.timeline.after(perturbation.awayMs, () => {
          this.git.isAway = false;
        });
      case 'human': {
        const { daemon } = this;
        // A person does it at the same time, and not as a part of what the process is at.
        if (daemon !== undefined) this.timeline.after(0, () => void daemon.operate(perturbation.act).catch(this.#bug));
        return;
      }
      case 'stranger':
        this.#isDisturbed = true;
        return act(perturbation.act, this.#surroundings(), new Chance(perturbation.a));
    }
  }

  /** Sometimes git names one more install. */
  #install(): void {
    if (this.#installing?.happens(0.3) === true) this.git.commit(withInstall(this.git.head.content, this.#installing));
  }

  #surroundings(): Parameters<typeof act>[1] {
    const { server, timeline, books, byHand } = this;
    return { server, timeline, books, byHand, wishes: NO_WISHES, truth: { owed: new Set(), made: new Set() } };
  }

  crash(process: Sender, { downMs }: { readonly downMs: number }): void {
    this.note(`p${process.number} dies`);
    process.kill();
    this.startAfter(downMs);
  }

  protected startAfter(ms: number): void {
    this.timeline.after(ms, () => {
      if (this.newest === undefined) this.start();
    });
  }

  /** A process has come to its end by itself. */
  ended(process: Sender): void {
    this.note(`p${process.number} ends`);
    if (!this.isCalm) this.startAfter(this.#chance.pick([0, 1_000, 60_000, 700_000]));
  }

  diesAfter(process: Sender, { crash }: Step): boolean {
    if (crash?.when !== 'after' || this.isCalm) return false;
    this.crash(process, crash);
    return true;
  }

  hasPassed(step: number): boolean {
    return this.steps > step && ![...this.#doomed].some(({ alive }) => alive);
  }

  takeFullDisk(): boolean {
    if (this.#fullCommits === 0) return false;
    this.#fullCommits -= 1;
    return true;
  }

  committed(transaction: LedgerTransaction, process: Sender): void {
    this.books.committed(transaction, process.epoch);
    this.permissions.committed(transaction.operations, this.books.objects, process);
    process.hasCommitted(transaction);
    this.note(`p${process.number} commit ${transaction.operations.map(inShort).join(', ')}`);
  }

  began(): void {
    this.passes += 1;
  }

  chanceOf(number: number): Chance {
    return new Chance(this.seed, 100 + number);
  }

  transportOf(process: Sender): Transport {
    return transportOf<Sender>(this, process);
  }

  isUndisturbed(): boolean {
    return !this.#isDisturbed;
  }

  latencyMs(): number {
    return 5 + this.#chance.int(40);
  }

  /** Nothing goes wrong any more, and the source can be taken. */
  calmDown(): void {
    this.isCalm = true;
    this.#plan = nothingHappens;
    this.#fullCommits = 0;
    this.server.heal();
    this.git.repair();
    this.note('calm');
    const survivors = this.survivors();
    for (const process of this.processes) if (!survivors.includes(process)) process.kill();
  }

  /** Processes that go on once nothing goes wrong any more. */
  protected survivors(): readonly Sender[] {
    const newest = this.processes.findLast(
      ({ alive, drainMs, epoch }) => alive && drainMs === undefined && epoch === this.books.epoch,
    );
    return newest === undefined ? [] : [newest];
  }

  /** What a person waits for while time goes on. */
  async whileDriving<T>(work: Promise<T>): Promise<T | undefined> {
    let done: { readonly value: T } | undefined;
    let failure: { readonly error: unknown } | undefined;
    work.then(
      (value) => (done = { value }),
      (error: unknown) => (failure = { error }),
    );
    await this.timeline.drive(() => done !== undefined || failure !== undefined || this.violation !== undefined);
    if (failure !== undefined && !(failure.error instanceof PortolanError)) throw failure.error;
    return done?.value;
  }

  async letPass(ms: number): Promise<void> {
    let isOver = false;
    this.timeline.after(ms, () => {
      isOver = true;
    });
    await this.timeline.drive(() => isOver || this.violation !== undefined);
  }
}
