import type { ResourceId } from '../model/ids.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import { after, type Clock, NOT_NEEDED } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { ControllerObserver } from './api.ts';
import { Heap, type HeapItem } from './heap.ts';

/**
 * Order in which due keys start. `change`: a commit or an operator waits for the result. `routine`: work that is due
 * anyway, such as drift polls, resyncs and retries. A key that is requested for both starts as a change.
 */
export type Lane = 'change' | 'routine';

/**
 * @param because holds each reason once, oldest first. It ends with `… and 3 more` where reasons were dropped.
 * @param wantedMs the time at which the last request for it became due. A result that is as new as this serves all of them.
 */
export type Work = (key: ResourceId, because: readonly string[], wantedMs: MonotonicMs) => Promise<void>;

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Returns how many keys may run at once. It is called before each start; a value below 1 counts as 1, so that every
   * key runs at some time.
   */
  readonly concurrency: () => number;
  readonly observer: Pick<ControllerObserver, 'queued' | 'began' | 'ended' | 'retried'>;
  /** Called when work rejects, which is a bug: the caller logs it. */
  readonly onError?: (key: ResourceId, error: unknown) => void;
}

/** Maximum number of changes that start in a row while routine work is due. */
export const CHANGES_IN_A_ROW = 7;
export const REASONS_MAX = 8;
/** Longest timer. A timer of Node.js takes 24.8 days at most, and fires at once beyond that. */
const SLEEP_MS_MAX = 24 * 3600 * 1000;

interface Slot extends HeapItem {
  readonly key: ResourceId;
  lane: Lane;
  dueMs: MonotonicMs;
  /** When the last of its requests became due, or will. */
  wantedMs: MonotonicMs;
  /** Breaks ties between slots that are due at the same time: the older slot starts first. */
  readonly order: number;
  readonly reasons: string[];
  /** Number of reasons beyond `REASONS_MAX`. */
  dropped: number;
  isReady: boolean;
}

interface Run {
  readonly key: ResourceId;
  /** The next run, if one was requested during this run. */
  next: Slot | undefined;
  isRateLimited: boolean;
  /** Work or a task runs. */
  isTaken: boolean;
  /** Tasks that wait for the end of this run, oldest first. */
  readonly waiting: (() => void)[];
}

/**
 * Holds the keys that need work, and starts their work when it is due. Each key has one slot. Requests for a key that
 * waits are merged into one run, which gets all their reasons. Requests for a key that runs are merged into one more
 * run. A key never runs twice at the same time.
 *
 * Due keys start in the order of their due times, changes before routine work. Routine work cannot starve: while any is
 * due, at least one of `CHANGES_IN_A_ROW + 1` starts is routine. A key that fails delays only itself.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #options: WorkQueueOptions;
  /** Keys that wait. Each is in exactly one of the heaps below. */
  readonly #slots = new Map<ResourceId, Slot>();
  readonly #later = new Heap<Slot>(isEarlier);
  readonly #ready: Readonly<Record<Lane, Heap<Slot>>> = { change: new Heap(isEarlier), routine: new Heap(isEarlier) };
  readonly #runs = new Map<ResourceId, Run>();
  readonly #failures = new Map<ResourceId, number>();
  #work: Work | undefined;
  #order = 0;
  #changesInARow = 0;
  #isPumpDue = false;
  #timer: { readonly dueMs: MonotonicMs; readonly stop: AbortController } | undefined;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  /** Number of keys that are due and wait for a free slot. Keys that are due later do not count. */
  get depth(): number {
    this.#promote();
    return this.#ready.change.size + this.#ready.routine.size;
  }

  get running(): number {
    return this.#runs.size;
  }

  isRunning(key: ResourceId): boolean {
    return this.#runs.has(key);
  }

  /**
   * Makes the key due now, whatever its backoff, and merges with a request that waits. A key that runs gets one more
   * run.
   */
  add(key: ResourceId, because: string, lane: Lane = 'change'): void {
    this.#want(key, this.#clock.monotonic(), because, lane);
  }

  /** Makes the key due in `ms`, or earlier if an earlier request waits. */
  addAfter(key: ResourceId, ms: number, because: string, lane: Lane = 'routine'): void {
    if (Number.isNaN(ms)) throw new RangeError(`${key} cannot be due in NaN ms`);
    this.#want(key, this.#clock.monotonic() + Math.max(0, ms), because, lane);
  }

  /**
   * Makes the key due after its exponential backoff with jitter (5 ms … 1000 s).
   * @returns the delay in ms.
   */
  addRateLimited(key: ResourceId, because: string, lane: Lane = 'routine'): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const delayMs = keyBackoffMs(failures, this.#options.random);
    const run = this.#runs.get(key);
    if (run !== undefined) run.isRateLimited = true;
    this.#options.observer.retried(key);
    this.#want(key, this.#clock.monotonic() + delayMs, because, lane);
    return delayMs;
  }

  /** Resets the backoff and makes the key due now: earlier failures say nothing about this request. */
  restart(key: ResourceId, because: string): void {
    this.forget(key);
    this.add(key, because);
  }

  /** Resets the key's backoff after a success. */
  forget(key: ResourceId): void {
    this.#failures.delete(key);
  }

  /** Removes the key and its backoff. A run in progress continues, and has no other run after it. */
  remove(key: ResourceId): void {
    this.#failures.delete(key);
    const run = this.#runs.get(key);
    if (run !== undefined) run.next = undefined;
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    this.#slots.delete(key);
    this.#heapOf(slot).remove(slot);
  }

  /**
   * Runs a task for a key while no work of the key runs: now, or right after the work in progress, whatever is due. Tasks
   * of one key run one after another. Work that is requested meanwhile runs after them.
   * @throws the signal's reason when it is aborted before the task begins; whatever the task throws.
   */
  async alone<Result>(key: ResourceId, task: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    const run = this.#runs.get(key) ?? this.#occupy(key);
    if (run.isTaken) await turnOf(run, signal);
    run.isTaken = true;
    try {
      return await task();
    } finally {
      this.#leave(run);
    }
  }

  /**
   * Runs `work` for due keys, never twice at the same time for one key. A key whose work rejects becomes due after its
   * backoff. Work that called `addRateLimited` before it rejected adds no second delay.
   */
  start(work: Work): void {
    if (this.#work !== undefined) throw new Error('the work queue was started twice');
    this.#work = work;
    this.#pumpSoon();
  }

  /** Starts no more work. Resolves when no work runs; keys that wait keep their slots. */
  async drain(): Promise<void> {
    this.#drained ??= Promise.withResolvers<void>();
    this.#timer?.stop.abort(NOT_NEEDED);
    this.#timer = undefined;
    if (this.#runs.size === 0) this.#drained.resolve();
    await this.#drained.promise;
  }

  /**
   * Returns when the key is due. `undefined`: it has no slot, but may be running. A time in the past: it waits for a
   * free slot.
   */
  nextDueMs(key: ResourceId): EpochMs | undefined {
    const slot = this.#slots.get(key) ?? this.#runs.get(key)?.next;
    return slot && this.#clock.now() + (slot.dueMs - this.#clock.monotonic());
  }

  #want(key: ResourceId, dueMs: MonotonicMs, because: string, lane: Lane): void {
    const run = this.#runs.get(key);
    const slot = run === undefined ? this.#slots.get(key) : run.next;
    if (slot === undefined) {
      const fresh = this.#newSlot(key, dueMs, because, lane);
      if (run === undefined) this.#enqueue(fresh);
      else run.next = fresh;
    } else if (run === undefined) {
      this.#heapOf(slot).remove(slot);
      this.#merge(slot, dueMs, because, lane);
      this.#heapOf(slot).add(slot);
    } else {
      this.#merge(slot, dueMs, because, lane);
    }
    this.#pumpSoon();
  }

  #newSlot(key: ResourceId, dueMs: MonotonicMs, because: string, lane: Lane): Slot {
    this.#order += 1;
    const order = this.#order;
    return { key, lane, dueMs, wantedMs: dueMs, order, reasons: [because], dropped: 0, isReady: false, index: -1 };
  }

  #merge(slot: Slot, dueMs: MonotonicMs, because: string, lane: Lane): void {
    // A request for later is served by the run that is due before it.
    slot.wantedMs = dueMs <= this.#clock.monotonic() ? dueMs : Math.min(slot.wantedMs, dueMs);
    slot.dueMs = Math.min(slot.dueMs, dueMs);
    if (lane === 'change') slot.lane = 'change';
    if (slot.reasons.includes(because)) return;
    if (slot.reasons.length < REASONS_MAX) slot.reasons.push(because);
    else slot.dropped += 1;
  }

  #enqueue(slot: Slot): void {
    this.#slots.set(slot.key, slot);
    this.#later.add(slot);
  }

  #heapOf(slot: Slot): Heap<Slot> {
    return slot.isReady ? this.#ready[slot.lane] : this.#later;
  }

  /**
   * Schedules one pump after all requests of the current task, so that merging and the order of lanes see all of them.
   */
  #pumpSoon(): void {
    if (this.#isPumpDue || this.#work === undefined || this.#drained !== undefined) return;
    this.#isPumpDue = true;
    queueMicrotask(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#work === undefined || this.#drained !== undefined) return;
    this.#promote();
    while (this.#runs.size < Math.max(1, this.#options.concurrency())) {
      const slot = this.#takeReady();
      if (slot === undefined) break;
      void this.#run(slot, this.#work);
    }
    this.#setTimer();
  }

  /** Moves keys that have become due to their lanes. */
  #promote(): void {
    const nowMs = this.#clock.monotonic();
    for (let slot = this.#later.first(); slot !== undefined && slot.dueMs <= nowMs; slot = this.#later.first()) {
      this.#later.remove(slot);
      slot.isReady = true;
      this.#ready[slot.lane].add(slot);
      this.#options.observer.queued(slot.key, slot.reasons[0] ?? '');
    }
  }

  #takeReady(): Slot | undefined {
    const { change, routine } = this.#ready;
    const isTurnOfRoutine = this.#changesInARow >= CHANGES_IN_A_ROW || change.size === 0;
    const lane = isTurnOfRoutine && routine.size > 0 ? routine : change;
    this.#changesInARow = lane === change && routine.size > 0 ? this.#changesInARow + 1 : 0;
    const slot = lane.takeFirst();
    if (slot !== undefined) this.#slots.delete(slot.key);
    return slot;
  }

  async #run(slot: Slot, work: Work): Promise<void> {
    const { key } = slot;
    const { observer, onError } = this.#options;
    const run = this.#occupy(key);
    run.isTaken = true;
    const beganMs = this.#clock.monotonic();
    observer.began(key, Math.max(0, beganMs - slot.dueMs));
    let isRejected = false;
    try {
      await work(key, reasonsOf(slot), slot.wantedMs);
    } catch (error) {
      isRejected = true;
      onError?.(key, error);
      if (!run.isRateLimited) this.addRateLimited(key, 'its last run failed');
    }
    const result = isRejected ? 'error' : run.isRateLimited ? 'requeue' : 'success';
    this.#leave(run, () => observer.ended(key, result, this.#clock.monotonic() - beganMs));
  }

  /** Begins a run of a key that does not run. A slot that waits becomes its next run. */
  #occupy(key: ResourceId): Run {
    const slot = this.#slots.get(key);
    if (slot !== undefined) {
      this.#slots.delete(key);
      this.#heapOf(slot).remove(slot);
      slot.isReady = false;
    }
    const run: Run = { key, next: slot, isRateLimited: false, isTaken: false, waiting: [] };
    this.#runs.set(key, run);
    return run;
  }

  /** Hands the key to the task that waits for it longest, or ends the run. */
  #leave(run: Run, ended: () => void = () => {}): void {
    const next = run.waiting.shift();
    if (next === undefined) this.#runs.delete(run.key);
    ended();
    if (next !== undefined) return next();
    if (run.next !== undefined) this.#enqueue(run.next);
    if (this.#drained !== undefined && this.#runs.size === 0) this.#drained.resolve();
    this.#pumpSoon();
  }

  /** Keeps one timer, for the key that is due next. */
  #setTimer(): void {
    const dueMs = this.#later.first()?.dueMs;
    if (this.#timer?.dueMs === dueMs) return;
    this.#timer?.stop.abort(NOT_NEEDED);
    this.#timer = undefined;
    if (dueMs === undefined) return;
    const stop = new AbortController();
    const timer = { dueMs, stop };
    this.#timer = timer;
    // Rounded up: a timer that fires too early would be set again at once.
    const waitMs = Math.min(SLEEP_MS_MAX, Math.max(1, Math.ceil(dueMs - this.#clock.monotonic())));
    after(this.#clock, waitMs, stop.signal, () => {
      if (this.#timer === timer) this.#timer = undefined;
      this.#pump();
    });
  }
}

/** Resolves when it is the turn of a task. @throws the signal's reason when it is aborted before. */
function turnOf({ waiting }: Run, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = (): void => {
    waiting.splice(waiting.indexOf(begin), 1);
    reject(signal.reason);
  };
  const begin = (): void => {
    signal.removeEventListener('abort', leave);
    resolve();
  };
  waiting.push(begin);
  signal.addEventListener('abort', leave, { once: true });
  return promise;
}

function isEarlier(left: Slot, right: Slot): boolean {
  return left.dueMs < right.dueMs || (left.dueMs === right.dueMs && left.order < right.order);
}

function reasonsOf({ reasons, dropped }: Slot): readonly string[] {
  return dropped === 0 ? reasons : [...reasons, `… and ${dropped} more`];
}

const DELAY_MS_FIRST = 5;
const DELAY_MS_MAX = 1_000_000;

/**
 * Returns how long a key waits after its `failures`-th failure in a row. The upper bound doubles from 10 ms to 1000 s.
 * The delay lies in the upper half of that, so that keys that failed together do not retry together: 5 … 10 ms at
 * first, 500 … 1000 s in the end.
 * @param failures counts from 1.
 * @returns milliseconds in [5, 1 000 000).
 * @throws RangeError when `failures` < 1, because a short wait would hide the wrong count.
 */
export function keyBackoffMs(failures: number, random: Random): number {
  if (!(failures >= 1)) throw new RangeError(`failures count from 1, got ${failures}`);
  const ceilingMs = Math.min(DELAY_MS_MAX, DELAY_MS_FIRST * 2 ** failures);
  return (ceilingMs / 2) * (1 + random.next());
}
