import { hash } from 'node:crypto';
import { Command } from '../drivers/command.ts';
import { Daemon, idOf } from '../drivers/daemon.ts';
import type { AppName } from '../drivers/estate.ts';
import { Git } from '../drivers/git.ts';
import { Permissions } from '../drivers/permissions.ts';
import { Sends } from '../drivers/sends.ts';
import { anySettings, type DriverSettings } from '../drivers/settings.ts';
import { workbench } from '../drivers/workbench.ts';
import type { Sender, Surroundings } from '../drivers/surroundings.ts';
import type { Ledger, LedgerTransaction } from '../../../src/ledger/ledger.ts';
import { MemoryStore, openMemoryLedger } from '../../support/memory-ledger.ts';
import type { PlatformRequest, Transport } from '../../../src/platform/transport.ts';
import type { Decision } from '../../../src/sandbox/handle.ts';
import { Books, isPending, type Violation } from '../books.ts';
import { ModelChance } from './chance.ts';
import { differencesOf, Effects } from './effects.ts';
import type { Chance } from '../chance.ts';
import { ledThrough, type LedgerHost } from '../ledgers.ts';
import { EPOCH_MS, Server } from '../server.ts';
import type { Sent } from '../truth.ts';
import type { Step } from '../world.ts';
import { Agenda } from './agenda.ts';
import type { Beginning, ModelSettings } from './beginning.ts';
import { contentsFor, estate, type Role, type Scenario, settingsFor } from './scenario.ts';
import { StateText } from './state.ts';
import { lateUntilMs, Offers, replyTo } from './offers.ts';

/** A job calls a command that ended so much later once more. */
const JOB_EVERY_MS = 6 * 60_000;

const CALL = {
  prune: true,
  yes: true,
  answer: true,
  expects: false,
  wait: false,
  allows: false,
  maxPrunes: undefined,
  maxShare: 1,
  ignoresWindows: false,
};

/** One platform, one branch and one ledger, the processes on them, and what must always be true. */
export class ModelGround implements Surroundings {
  readonly seed = 1;
  readonly boot = 'boot-1';
  readonly readingMs = 0;
  readonly answersAsValues = true;
  readonly wallOffsetMs = 0;
  readonly isCalm = false;
  readonly refusedRequests = new Set<string>();
  readonly approved = new Map<AppName, string>();
  readonly timeline = new Agenda();
  readonly server: Server;
  readonly books: Books;
  readonly permissions: Permissions;
  readonly truth: Surroundings['truth'];
  readonly git: Git;
  readonly ledgers: LedgerHost;
  readonly trace: string[] = [];
  readonly processes: Sender[] = [];
  /** Of all processes that there ever were. */
  readonly roles: Role[] = [];
  #ids: number;
  readonly #store: MemoryStore;
  readonly offers = new Offers();
  readonly settings: DriverSettings;
  readonly anySettings = anySettings;
  readonly workbench = workbench;
  readonly state: StateText;
  readonly #sends: Sends;
  protected readonly scenario: Scenario;
  protected readonly pair: ModelSettings['pair'];
  readonly #tracing: boolean;
  /** A command has ended, and its job calls it once more. */
  protected isJobDue = false;
  readonly #effects: Effects;
  faultsLeft: number;
  commitsLeft: number;
  approvalsLeft: number;
  protected hasOvertaken = false;
  /** Ledger, platform or time has moved since it was last asked who dies here, takes over, or speaks. */
  isMoved = false;
  protected movedMs: number;
  protected mayHaveMoved = false;
  protected hasTimePassed = false;
  refused = 0;
  approvals = 0;
  sourceChanges = 0;
  resolved = 0;
  sharedReadings = 0;
  violation: Violation | undefined;
  /** After each thing that changed the ledger or the platform. */
  onState: () => void = () => {};

  constructor({ scenario, pair, faults, from, tracing }: ModelSettings) {
    this.scenario = scenario;
    this.pair = pair;
    this.#tracing = tracing;
    this.faultsLeft = faults;
    this.settings = settingsFor(scenario);
    this.#ids = from?.ids ?? 0;
    const newId = (): string => (this.#ids += 1).toString(16).padStart(32, 'a');
    this.server = new Server(from?.platform ?? estate, 'extended', this.timeline, newId);
    const violate = (invariant: string, message: string): void => this.violate(invariant, message);
    const live = { has: (id: string) => this.server.state.rules.get(id) !== undefined };
    this.books = new Books(
      violate,
      live,
      () => this.timeline.nowMs,
      () => false,
    );
    this.permissions = from?.permissions.copyFor(violate) ?? new Permissions(violate);
    this.#sends = from?.sends.copyFor(this) ?? new Sends(this);
    this.#effects = from?.effects.copyFor(violate) ?? new Effects(violate, scenario.dailyObjects);
    this.truth = {
      sends: (request, process) => this.#sending(request, process),
      acted: (sent, outcome) => this.#acted(sent, outcome),
    };
    const contents = [...scenario.done, ...scenario.commits];
    const [first, ...others] = contents.slice(0, from?.commits ?? scenario.done.length + 1);
    if (first === undefined) throw new Error(`${scenario.name} says nothing`);
    this.git = new Git(first, contentsFor);
    for (const content of others) this.git.commit(content);
    this.commitsLeft = contents.length - this.git.head.number;
    this.approvalsLeft = from?.approvalsLeft ?? scenario.approvals;
    this.timeline.nowMs = from?.nowMs ?? 0;
    this.movedMs = from?.movedMs ?? 0;
    const store = from?.store.clone() ?? new MemoryStore('lineage');
    this.#store = store;
    this.state = new StateText(store, this.server, this.timeline);
    if (from !== undefined) this.#takeOver(from);
    this.ledgers = { open: async () => this.#offering(openMemoryLedger(store)), close: async () => {} };
  }

  violate(invariant: string, message: string): void {
    this.violation ??= { invariant, message };
    this.note(`VIOLATION ${invariant}: ${message}`);
  }

  note(text: string): void {
    if (this.#tracing) this.trace.push(`${String(this.timeline.nowMs).padStart(9)} ms  ${text}`);
  }

  #takeOver(from: Beginning): void {
    this.books.takeOver(from.books);
    this.roles.push(...from.roles);
    for (const [name, digest] of from.approved) this.approved.set(name, digest);
    this.hasOvertaken = from.hasOvertaken;
    for (const { at, untilMs } of from.late) this.#willArrive(this.#sends.sent[at] as Sent, untilMs);
  }

  /** What is left if everybody dies now, or is overtaken. What is under way may act some time. */
  beginning(overtakes: boolean): Beginning {
    const { sent } = this.#sends;
    const violate = (): void => {};
    const books = new Books(
      violate,
      { has: () => false },
      () => 0,
      () => false,
    );
    books.takeOver(this.books);
    return {
      store: this.#store.clone(),
      platform: this.server.state.clone(),
      ids: this.#ids,
      books,
      permissions: this.permissions.copyFor(violate),
      sends: this.#sends.copyFor(this),
      roles: [...this.roles],
      late: this.#lateOnes().map((late) => ({ at: sent.indexOf(late.sent), untilMs: late.untilMs })),
      nowMs: this.timeline.nowMs,
      movedMs: this.timeline.nowMs,
      approved: new Map(this.approved),
      commits: this.git.head.number,
      approvalsLeft: this.approvalsLeft,
      hasOvertaken: this.hasOvertaken || overtakes,
      effects: this.#effects.copyFor(violate),
    };
  }

  #lateOnes(): Offers['late'] {
    const orphans = this.offers.all.flatMap(({ kind, sent }) =>
      kind === 'act' && sent !== undefined
        ? [{ label: this.labelOf(sent.request), sent, untilMs: lateUntilMs(sent) }]
        : [],
    );
    return [...this.offers.late, ...orphans];
  }

  /** What the state is if everybody dies now, or is overtaken, and this one begins. */
  keyAsDead(successor: Role, overtakes: boolean): string {
    return this.#keyOf([successor], this.#lateOnes(), undefined, this.hasOvertaken || overtakes);
  }

  /** Frees what nobody waits for any more. */
  end(): void {
    for (const process of this.processes) process.kill();
  }

  start(role: Role): void {
    this.roles.push(role);
    const number = this.roles.length;
    const process = role === 'daemon' ? new Daemon(this, number) : new Command(this, number, CALL);
    this.processes.push(process);
    this.state.begins(process, role, this.commitsLeft);
    this.note(`p${number} starts as ${role}`);
    process.live().catch((error: unknown) => {
      this.violate('BUG', error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
  }

  /** What the state of everything is, but for the faults that may still come. */
  key(): string {
    const alive = this.processes.filter((process) => process.alive);
    const known = alive.map((process) => this.state.ofProcess(process, this.offers.labelsOf(process)));
    return this.#keyOf(
      [...known, this.isMoved, this.hasTimePassed, this.isJobDue],
      this.offers.late,
      this.holder?.number,
      this.hasOvertaken,
    );
  }

  #keyOf(known: readonly unknown[], late: Offers['late'], sender: number | undefined, hasOvertaken: boolean): string {
    const { timeline } = this;
    return hash(
      'sha1',
      [
        this.state.ledger(),
        this.state.platform(),
        ...known,
        ...late.map(({ label, sent, untilMs }) => `${label} ${sent.intent.requestHash} ${untilMs - timeline.nowMs}`),
        this.permissions.digest(timeline.nowMs, sender, this.settings.pruneAfterMs),
        [this.commitsLeft, this.approvalsLeft, hasOvertaken].join(),
        this.#effects.text(),
      ].join('\n'),
    );
  }

  /** Something is in doubt, or waits to be removed or approved: what time does to it matters. */
  get isWaiting(): boolean {
    for (const intent of this.books.intents.values()) if (isPending(intent)) return true;
    return this.offers.late.length > 0 || this.differences().length > 0;
  }

  /** Something is on record that git names no more. */
  get #isRemoving(): boolean {
    return this.scenario.commits.at(-1) !== undefined && this.git.head.content !== this.scenario.done[0];
  }

  protected get holder(): Sender | undefined {
    return this.processes.findLast(({ alive, epoch }) => alive && epoch === this.books.epoch);
  }

  protected moves(): void {
    this.isMoved = true;
    this.movedMs = this.timeline.nowMs;
  }

  /** A write that was lost on its way acts now. */
  protected arrives(late: (typeof this.offers.late)[number]): void {
    this.offers.forget(late);
    this.act(late.sent);
  }

  comesLate(sent: Sent): void {
    this.#willArrive(sent, lateUntilMs(sent));
  }

  #willArrive(sent: Sent, untilMs: number): void {
    sent.fate = 'late';
    const late = { label: this.labelOf(sent.request), sent, untilMs };
    this.offers.late.push(late);
    this.timeline.after(untilMs - this.timeline.nowMs, () => {
      if (this.offers.late.includes(late)) this.arrives(late);
    });
  }

  labelOf({ operation, path }: PlatformRequest): string {
    return `${operation} ${path.slice(path.lastIndexOf('/'))}`;
  }

  /** The platform does what a request asks. */
  act(sent: Sent): Decision {
    const outcome = this.server.perform(sent.request);
    this.truth.acted(sent, outcome);
    this.moves();
    this.onState();
    return outcome;
  }

  #sending(request: PlatformRequest, process: Sender): Sent | undefined {
    const sent = this.#sends.sends(request, process);
    if (sent === undefined) return undefined;
    this.moves();
    return sent;
  }

  #acted(sent: Sent, outcome: Decision): void {
    this.#sends.acted(sent, outcome);
    this.#effects.acted(sent, outcome, this.#isApproved(sent));
  }

  /** A command is always agreed to; what it may remove in a day is bounded all the same. */
  #isApproved(sent: Sent): boolean {
    return this.roles[sent.controller - 1] === 'daemon' && this.#sends.isAgreed(sent);
  }

  // What the drivers ask of their world.

  get seenWallMs(): number {
    return EPOCH_MS + this.timeline.nowMs;
  }

  chanceOf(number: number): Chance {
    return new ModelChance(number);
  }

  transportOf(process: Sender): Transport {
    return (request) => replyTo(this, process, request);
  }

  /** What a daemon knows when a pass begins: what it has written down, what it shows, and how it has looked before. */
  /** There is one process at a time here, and the times without one are part of other schedules. */
  watchedMs(_scope: string, fromMs: number, toMs: number): number {
    return toMs - fromMs;
  }

  began(process: Sender): void {
    const status = process instanceof Daemon ? process.api?.application(idOf('one')) : undefined;
    this.state.passes(process, status, this.#isRemoving);
  }

  begin(process: Sender): Step | 'dead' {
    return process.alive ? { number: 0, fault: undefined, a: 0, crash: undefined, pauseMs: 0 } : 'dead';
  }

  diesAfter(): boolean {
    return false;
  }

  crash(): void {
    throw new Error('the model decides itself who dies');
  }

  takeFullDisk(): boolean {
    return false;
  }

  isUndisturbed(): boolean {
    return false;
  }

  latencyMs(): number {
    return 0;
  }

  committed(transaction: LedgerTransaction, process: Sender): void {
    this.books.committed(transaction, process.epoch);
    this.permissions.committed(transaction.operations, this.books.objects, process);
    process.hasCommitted(transaction);
    this.mayHaveMoved = true;
    if (transaction.operations.some(({ op }) => op !== 'set-fact' && op !== 'record'))
      this.movedMs = this.timeline.nowMs;
    this.note(`p${process.number} commit ${transaction.operations.map(({ op }) => op).join(', ')}`);
    this.onState();
  }

  ended(process: Sender): void {
    this.note(`p${process.number} ends`);
    if (this.holder !== undefined || this.isJobDue) return;
    this.isJobDue = true;
    this.timeline.after(JOB_EVERY_MS, () => {
      this.isJobDue = false;
      if (this.holder === undefined) this.start(this.pair[1]);
    });
  }

  /** Every commit is a step of its own. */
  #offering(ledger: Ledger): Ledger {
    return ledThrough(
      ledger,
      (answer) => answer,
      (transaction) => {
        const process = this.processes.find(({ epoch }) => epoch === ledger.epoch);
        if (process === undefined) throw new Error('a commit of nobody');
        return this.offers.ask(process, 'commit', 'commit', () => ledger.commit(transaction));
      },
    );
  }

  /** What is not as git says. */
  differences(): readonly string[] {
    return differencesOf(this.git.head.content, this.books, this.server.state);
  }
}
