import { isDeepStrictEqual } from 'node:util';
import PQueue from 'p-queue';
import type { Command, Lead, LeaseUnit, NewCommand, SharedLedger } from '../../ledger/shared.ts';
import { errorFacts, PortolanError, type ReportedError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { MonotonicMs } from '../../model/time.ts';
import { type Clock, unlessAborted } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { onceMore } from '../../runtime/once-more.ts';
import { bugText, LoopBugs } from '../bugs.ts';
import { afterFormerLeader, expired, failedByBug } from './command-errors.ts';
import type { LeadChange, Leadership } from './leadership.ts';
import { pause } from './pause.ts';

/** A signal may be lost, and none arrives behind a pooler. */
const LOOK_EVERY_MS = 2_000;
/** The same for a caller who waits. */
const ASK_EVERY_MS = 300;
/** Time between attempts to record a result. */
const FINISH_AGAIN_MS = 500;
/** Attempts to record a result while the unit is handed over. The next leader carries the command out again. */
const LEAVING_ATTEMPTS = 3;
/** An older command would be a surprise, for example after a long outage, so the leader that finds it refuses it. */
const ORDER_MS_MAX = 3_600_000;
/**
 * The age at which the leader of the source refuses a command whose unit has no leader, for example because its platform was removed from
 * the configuration. It is higher, so that no leader that began the command in time still carries it out.
 */
const UNLED_MS = ORDER_MS_MAX + 300_000;
/** The same for a unit that has a leader, which may keep its lease and not work, such as one whose ledger has lost its records. */
const OVERDUE_MS = ORDER_MS_MAX + 900_000;
/** Interval at which such commands are read: they are rare, and no user waits for them any more. */
const UNLED_EVERY_MS = 600_000;
/** Reads of other replicas that this one answers at the same time: those that are short, and the long ones of each unit. */
const READS_MAX = 4;
/** Finished commands that are remembered: a list that was read before the end of one may still have it. */
const FINISHED_MAX = 1_000;

export interface CommandParts {
  readonly shared: Pick<SharedLedger, 'commands' | 'onSignal'>;
  readonly leadership: Pick<Leadership, 'of' | 'held' | 'onChange'>;
  /** Returns the units that may be led. */
  readonly units: () => readonly LeaseUnit[];
  /** Its leader refuses the old commands that no leader of their units has finished. */
  readonly sourceUnit: LeaseUnit;
  readonly clock: Clock;
  readonly log: Log;
  /** Carries a command out that this replica may carry out. */
  carryOut(command: Command, signal: AbortSignal): Promise<Json | undefined>;
  /** Returns what the command is about: those about the same thing run one after another. undefined: it only reads. */
  orderOf(command: Command): string | undefined;
  /** Returns whether a command may take minutes, because it reads the platform. */
  isLong(command: Command): boolean;
  /** Returns whether a hand-over waits until a command ends, because it writes. Any other is left to the next leader. */
  isAwaited(command: Command): boolean;
  /** Counts such a command among the work of its unit, which a hand-over waits for, but not without limit. */
  count(unit: LeaseUnit, work: Promise<void>): void;
  /** Returns whether a command only stops work: its user relies on it, however late its leader finds it. */
  onlyStops(command: Command): boolean;
  /** Called when the refusal of a command was recorded. @param ageMs since the command was recorded. */
  refused(command: Command, error: PortolanError, ageMs: number): void;
}

/** A command that this replica has found. */
interface Found extends Command {
  /** It may have been recorded before this replica led the unit, so a former leader may have begun it. */
  readonly isInherited: boolean;
}

interface Refused {
  readonly command: Found;
  readonly refusal: PortolanError;
  /** Returns the time since the command was recorded. */
  readonly ageMs: () => number;
}

type Result = { readonly value?: Json } | { readonly error: ReportedError };

/** Thrown into work that a replica leaves to the next leader. */
const LEAVING = new Error('another replica carries it out');

/**
 * Holds the orders of replicas to the leaders of units, through the database. A command is durable before its user waits for it.
 * Each leader carries out the commands of its unit that have no result, also those of a former leader. A command that was carried
 * out without its result being recorded is carried out once more: the digest or the state that it names refuses that, or it
 * changes nothing. Its refusal then says that a former leader may have carried it out. A command that no leader has finished within
 * an hour is refused.
 */
export class Commands {
  readonly #parts: CommandParts;
  readonly #stop = new AbortController();
  readonly #shortReads = new PQueue({ concurrency: READS_MAX });
  /** By unit: a platform that answers slowly holds up no other one. */
  readonly #longReads = new Map<LeaseUnit, PQueue>();
  /** The last task about each thing. */
  readonly #orders = new Map<string, Promise<unknown>>();
  /** By unit: the commands that have begun and that a hand-over waits for, and what makes all of the unit leave. */
  readonly #running = new Map<LeaseUnit, { readonly leaving: AbortController; readonly tasks: Set<Promise<void>> }>();
  readonly #taken = new Set<string>();
  readonly #finished = new Set<string>();
  /** By lead: the commands that the first reading under it has found. All others were recorded under the same lead. */
  readonly #inherited = new WeakMap<Lead, ReadonlySet<string>>();
  readonly #waiting = new Set<() => void>();
  /** Reads the commands of the units that this replica leads. */
  readonly #look = onceMore(async () => {
    if (this.#stop.signal.aborted) return;
    const looks = Promise.all(this.#parts.units().map((unit) => this.#lookAt(unit)));
    await looks.then(
      () => this.#bugs.clear(),
      (error: unknown) => this.#bugs.note(error),
    );
  });
  #unledDueMs: MonotonicMs;
  readonly #bugs: LoopBugs;
  readonly #unsubscribe: () => void;
  #end: () => Promise<void> = async () => {};

  /** Make it before other listeners to the leadership, so that a hand-over ends commands first, and then waits for the rest. */
  constructor(parts: CommandParts) {
    this.#parts = parts;
    this.#bugs = new LoopBugs(parts.log);
    this.#unledDueMs = parts.clock.monotonic() + UNLED_EVERY_MS;
    this.#unsubscribe = parts.leadership.onChange((change) => this.#leadChanged(change));
  }

  start(): void {
    const { shared } = this.#parts;
    const unlisten = shared.onSignal((topic) => {
      if (topic !== 'command') return;
      for (const wake of this.#waiting) wake();
      void this.#look();
    });
    const polling = this.#poll();
    this.#end = async () => {
      unlisten();
      await polling;
    };
  }

  /** Carries nothing more out. The next leader finds the commands that were not finished. */
  async close(): Promise<void> {
    this.#stop.abort(LEAVING);
    await Promise.all([...this.#running.keys()].map((unit) => this.#leave(unit)));
    this.#unsubscribe();
    await this.#end();
  }

  /** Records a command. @returns its id; it is durable then. @throws PortolanError of the ledger: nothing was recorded. */
  async add(command: NewCommand): Promise<string> {
    const id = await this.#parts.shared.commands.add(command);
    // No signal arrives behind a pooler.
    void this.#lookAt(command.unit).catch((error: unknown) => this.#bugs.note(error));
    return id;
  }

  /**
   * Waits for the result of a command.
   * @returns undefined when there was none within the time.
   * @throws PortolanError the refusal of the leader; the reason of the signal.
   */
  async resultOf(id: string, waitMs: number, signal: AbortSignal): Promise<{ readonly value?: Json } | undefined> {
    const { clock } = this.#parts;
    const untilMs = clock.monotonic() + waitMs;
    for (;;) {
      // Listens before it reads, so that it misses no signal.
      const bell = this.#bell(signal);
      try {
        const found = await this.#readResult(id);
        if (found !== undefined && 'error' in found) throw new PortolanError(found.error);
        if (found !== undefined) return found;
        signal.throwIfAborted();
        const leftMs = untilMs - clock.monotonic();
        if (leftMs <= 0) return undefined;
        await bell.ring(Math.min(leftMs, ASK_EVERY_MS));
      } finally {
        bell.silence();
      }
      signal.throwIfAborted();
    }
  }

  /**
   * Runs a command of this process about a thing after the commands about it that were recorded before.
   * @throws PortolanError of the ledger when they cannot be read: nothing was done then.
   */
  async afterRecorded<Answer>(unit: LeaseUnit, thing: string, task: () => Promise<Answer>): Promise<Answer> {
    await this.#takeOpen(unit);
    return this.#inOrder(thing, task);
  }

  /** Runs a task about a thing after the tasks about it before. */
  async #inOrder<Answer>(thing: string, task: () => Promise<Answer>): Promise<Answer> {
    const before = this.#orders.get(thing) ?? Promise.resolve();
    const turn = before.then(task);
    const ended = turn.then(
      () => {},
      () => {},
    );
    this.#orders.set(thing, ended);
    void ended.then(() => {
      if (this.#orders.get(thing) === ended) this.#orders.delete(thing);
    });
    return turn;
  }

  async #readResult(id: string): Promise<Result | undefined> {
    try {
      return (await this.#parts.shared.commands.result(id)) as Result | undefined;
    } catch (error) {
      // The database is out of reach for a moment; the command is durable.
      if (error instanceof PortolanError) return undefined;
      throw error;
    }
  }

  #bell(signal: AbortSignal) {
    const rung = Promise.withResolvers<void>();
    const wake = (): void => rung.resolve();
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    return {
      silence: (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
      },
      ring: async (waitMs: number): Promise<void> => {
        const enough = new AbortController();
        await Promise.race([rung.promise, pause(this.#parts.clock, waitMs, enough.signal)]);
        enough.abort();
      },
    };
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#look();
      await this.#refuseUnled().catch((error: unknown) => this.#bugs.note(error));
      await pause(this.#parts.clock, LOOK_EVERY_MS, signal);
    }
  }

  async #lookAt(unit: LeaseUnit): Promise<void> {
    if (this.#parts.leadership.of(unit) === undefined) return;
    try {
      await this.#takeOpen(unit);
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
    }
  }

  /** Refuses the commands that no replica can carry out, or does. */
  async #refuseUnled(): Promise<void> {
    const { leadership, shared, clock, sourceUnit, onlyStops } = this.#parts;
    if (leadership.of(sourceUnit) === undefined || clock.monotonic() < this.#unledDueMs) return;
    this.#unledDueMs = clock.monotonic() + UNLED_EVERY_MS;
    try {
      const unled = await shared.commands.unled(UNLED_MS);
      const overdue = (await shared.commands.overdue(OVERDUE_MS)).filter((command) => !onlyStops(command));
      const lead = leadership.of(sourceUnit);
      // One that is in both lists, or that this replica carries out for its unit, is taken once.
      if (lead !== undefined)
        for (const command of [...unled, ...overdue]) this.#take(lead, { ...command, isInherited: true });
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
    }
  }

  async #takeOpen(unit: LeaseUnit): Promise<void> {
    const { leadership, shared } = this.#parts;
    const before = leadership.of(unit);
    const open = await shared.commands.open(unit);
    const lead = leadership.of(unit);
    if (lead === undefined) return;
    const inherited = this.#inherited.get(lead) ?? new Set(open.map(({ id }) => id));
    // A reading that began before may lack what was recorded until the lease was taken.
    if (lead === before) this.#inherited.set(lead, inherited);
    for (const command of open) this.#take(lead, { ...command, isInherited: inherited.has(command.id) });
  }

  #take(lead: Lead, command: Found): void {
    const { id } = command;
    const { unit } = lead;
    const { clock } = this.#parts;
    const foundMs = clock.monotonic();
    if (this.#taken.has(id) || this.#finished.has(id) || this.#stop.signal.aborted) return;
    this.#taken.add(id);
    const running = this.#running.get(unit) ?? { leaving: new AbortController(), tasks: new Set() };
    this.#running.set(unit, running);
    const work = async (): Promise<void> => {
      const addedAgoMs = command.addedAgoMs + clock.monotonic() - foundMs;
      const task = this.#work(lead, { ...command, addedAgoMs }, running.leaving.signal);
      if (this.#parts.isAwaited(command)) {
        running.tasks.add(task);
        this.#parts.count(unit, task);
      }
      await task.finally(() => running.tasks.delete(task));
    };
    const thing = this.#parts.orderOf(command);
    void (thing === undefined ? this.#readsOf(command).add(work) : this.#inOrder(thing, work)).finally(() =>
      this.#taken.delete(id),
    );
  }

  /** Returns the queue of a read: plans may take minutes, and no question whose user waits for seconds comes after them. */
  #readsOf(command: Command): PQueue {
    if (!this.#parts.isLong(command)) return this.#shortReads;
    const queue = this.#longReads.get(command.unit) ?? new PQueue({ concurrency: READS_MAX });
    this.#longReads.set(command.unit, queue);
    return queue;
  }

  async #work(lead: Lead, command: Found, leaving: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([leaving, lead.over]);
    if (signal.aborted) return;
    const { carryOut, isAwaited, onlyStops, clock } = this.#parts;
    const beganMs = clock.monotonic();
    let result: Result;
    try {
      const isTooOld = command.addedAgoMs > ORDER_MS_MAX && !(command.unit === lead.unit && onlyStops(command));
      if (isTooOld) throw expired(ORDER_MS_MAX);
      const work = carryOut(command, signal);
      const value = await (isAwaited(command) ? work : unlessAborted(work, signal));
      result = value === undefined ? {} : { value };
    } catch (error) {
      // The next leader carries it out.
      if (signal.aborted || isNotLeader(error)) return;
      const ageMs = (): number => command.addedAgoMs + clock.monotonic() - beganMs;
      return this.#refuse(lead, { command, refusal: this.#refusalOf(command, error), ageMs }, leaving);
    }
    await this.#finish(lead, command, result, leaving);
  }

  #refusalOf(command: Found, error: unknown): PortolanError {
    const { orderOf, log } = this.#parts;
    if (!(error instanceof PortolanError))
      log.error(`a bug in Portolan: ${bugText(error)}`, { method: command.method, unit: command.unit });
    const refusal = error instanceof PortolanError ? error : failedByBug(command);
    const isRead = orderOf(command) === undefined;
    return command.isInherited && !isRead ? afterFormerLeader(refusal, command.unit) : refusal;
  }

  /**
   * Records a refusal, and then reports it with its age at that time, by which its user may have stopped waiting. A refusal that
   * was not recorded is not reported, because the next leader carries the command out, or refuses it and reports that.
   */
  async #refuse(lead: Lead, { command, refusal, ageMs }: Refused, leaving: AbortSignal): Promise<void> {
    const result: Result = { error: errorFacts(refusal) };
    const isRecorded =
      (await this.#finish(lead, command, result, leaving)) ||
      // The answer to an attempt may have been lost.
      isDeepStrictEqual(await this.#readResult(command.id), result);
    if (isRecorded) this.#parts.refused(command, refusal, ageMs());
  }

  /**
   * Records the result, as long as this replica leads the unit. One that leaves does not wait long for the database.
   * @returns whether it is known to be recorded.
   */
  async #finish(lead: Lead, command: Found, result: Result, leaving: AbortSignal): Promise<boolean> {
    const bugs = new LoopBugs(this.#parts.log);
    const { id } = command;
    const overdueMs = this.#parts.onlyStops(command) ? undefined : OVERDUE_MS;
    for (let left = LEAVING_ATTEMPTS; !lead.over.aborted && left > 0; left -= leaving.aborted ? 1 : 0) {
      try {
        await this.#parts.shared.commands.finish(lead, id, result as Json, overdueMs);
        this.#finished.add(id);
        const [oldest] = this.#finished;
        if (this.#finished.size > FINISHED_MAX && oldest !== undefined) this.#finished.delete(oldest);
        return true;
      } catch (error) {
        // A command without a result would be carried out once more.
        if (!(error instanceof PortolanError)) bugs.note(error);
        if (isNotLeader(error)) return false;
        await pause(this.#parts.clock, FINISH_AGAIN_MS, lead.over);
      }
    }
    return false;
  }

  async #leadChanged({ type, lead: { unit } }: LeadChange): Promise<void> {
    if (type === 'leading') void this.#look();
    if (type === 'leaving') this.#running.get(unit)?.leaving.abort(LEAVING);
    if (type === 'ended') await this.#leave(unit);
  }

  /** Ends the commands of a unit. Those that write are finished if they have begun. The next leader carries out all others. */
  async #leave(unit: LeaseUnit): Promise<void> {
    const running = this.#running.get(unit);
    if (running === undefined) return;
    this.#running.delete(unit);
    running.leaving.abort(LEAVING);
    await Promise.allSettled(running.tasks);
  }
}

function isNotLeader(error: unknown): boolean {
  return error instanceof PortolanError && (error.code === 'ledger/fenced' || error.code === 'controller/not-leader');
}
