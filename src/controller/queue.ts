import type { ResourceId } from '../model/ids.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { ControllerObserver } from './api.ts';
import { Heap, type HeapItem } from './heap.ts';

/**
 * `change`: somebody waits for it, a commit or a person's word. `routine`: a look that is due anyway, such as drift
 * polls, resyncs and retries. A key that is wanted for both goes with the changes.
 */
export type Lane = 'change' | 'routine';

/** `because`: every reason once, oldest first; `… and 3 more` in the end where there were too many to keep. */
export type Work = (key: ResourceId, because: readonly string[]) => Promise<void>;

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Keys that may run at once, asked before each start; below 1 counts as 1, so that nothing waits for ever. */
  readonly concurrency: () => number;
  readonly observer: Pick<ControllerObserver, 'queued' | 'began' | 'ended' | 'retried'>;
  /** Work rejected: a fault of ours, to be logged. */
  readonly onError?: (key: ResourceId, error: unknown) => void;
}

/** Starts of changes in a row, while routine work is due too. */
export const CHANGES_IN_A_ROW = 7;
export const REASONS_MAX = 8;
/** A timer of Node's takes 24.8 days at most, and fires at once beyond that. */
const SLEEP_MS_MAX = 24 * 3600 * 1000;

interface Slot extends HeapItem {
  readonly key: ResourceId;
  lane: Lane;
  dueMs: MonotonicMs;
  /** Among equals the one that came first. */
  readonly order: number;
  readonly reasons: string[];
  /** Reasons that were not kept. */
  dropped: number;
  isReady: boolean;
}

interface Run {
  readonly key: ResourceId;
  /** What was asked for while it ran. */
  again: Slot | undefined;
  isRateLimited: boolean;
}

/**
 * What is to be worked on, and when. One slot per key: whatever asks for a key while it waits is one run, and its
 * reasons are kept; whatever asks while it runs is one more run afterwards. Never two runs of one key at once.
 *
 * Due keys start in the order in which they fell due, changes before routine. Routine work is never shut out: of
 * `CHANGES_IN_A_ROW + 1` starts at least one is its own while any is due. A failing key only waits longer itself.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #options: WorkQueueOptions;
  /** Keys that wait, each in exactly one of the heaps below. */
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

  /** Keys that are due and wait for a free place; those that are due later do not count. */
  get depth(): number {
    this.#promote();
    return this.#ready.change.size + this.#ready.routine.size;
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Due now, backoff or not; collapses with whatever is there. While the key runs, it runs once more afterwards. */
  add(key: ResourceId, because: string, lane: Lane = 'change'): void {
    this.#want(key, this.#clock.monotonic(), because, lane);
  }

  /** Due `ms` from now; the earliest wins. */
  addAfter(key: ResourceId, ms: number, because: string, lane: Lane = 'routine'): void {
    if (Number.isNaN(ms)) throw new RangeError(`${key} cannot be due in NaN ms`);
    this.#want(key, this.#clock.monotonic() + Math.max(0, ms), because, lane);
  }

  /** Due after the key's exponential backoff with jitter (5 ms … 1000 s). @returns the delay in ms. */
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

  /** As `add`, and its backoff starts anew: whatever went wrong before says nothing of this. */
  restart(key: ResourceId, because: string): void {
    this.forget(key);
    this.add(key, because);
  }

  /** It went well: its backoff starts anew. */
  forget(key: ResourceId): void {
    this.#failures.delete(key);
  }

  /** Out of the queue, its backoff forgotten; what runs is not stopped, and does not run once more. */
  remove(key: ResourceId): void {
    this.#failures.delete(key);
    const run = this.#runs.get(key);
    if (run !== undefined) run.again = undefined;
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    this.#slots.delete(key);
    this.#heapOf(slot).remove(slot);
  }

  /**
   * Runs `work` for due keys, never two at once for one key. Work that rejects comes again after its backoff; work
   * that has asked for that itself before it rejected waits only once.
   */
  start(work: Work): void {
    if (this.#work !== undefined) throw new Error('the work queue was started twice');
    this.#work = work;
    this.#pumpSoon();
  }

  /** Begins nothing new; resolves when nothing runs. What waits stays where it is. */
  async drain(): Promise<void> {
    this.#drained ??= Promise.withResolvers<void>();
    this.#timer?.stop.abort();
    this.#timer = undefined;
    if (this.#runs.size === 0) this.#drained.resolve();
    await this.#drained.promise;
  }

  /** undefined: nothing is planned for it, though it may run. A time that is past: it waits for a free place. */
  nextDueMs(key: ResourceId): EpochMs | undefined {
    const slot = this.#slots.get(key) ?? this.#runs.get(key)?.again;
    return slot && this.#clock.now() + (slot.dueMs - this.#clock.monotonic());
  }

  #want(key: ResourceId, dueMs: MonotonicMs, because: string, lane: Lane): void {
    const run = this.#runs.get(key);
    const slot = run === undefined ? this.#slots.get(key) : run.again;
    if (slot === undefined) {
      const fresh = this.#newSlot(key, dueMs, because, lane);
      if (run === undefined) this.#enqueue(fresh);
      else run.again = fresh;
    } else if (run === undefined) {
      this.#heapOf(slot).remove(slot);
      merge(slot, dueMs, because, lane);
      this.#heapOf(slot).add(slot);
    } else {
      merge(slot, dueMs, because, lane);
    }
    this.#pumpSoon();
  }

  #newSlot(key: ResourceId, dueMs: MonotonicMs, because: string, lane: Lane): Slot {
    this.#order += 1;
    return { key, lane, dueMs, order: this.#order, reasons: [because], dropped: 0, isReady: false, place: -1 };
  }

  #enqueue(slot: Slot): void {
    this.#slots.set(slot.key, slot);
    this.#later.add(slot);
  }

  #heapOf(slot: Slot): Heap<Slot> {
    return slot.isReady ? this.#ready[slot.lane] : this.#later;
  }

  /** Once after all that is added in one go: collapsing and the order of lanes then see all of it. */
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

  /** Moves what has fallen due to its lane. */
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
    const run: Run = { key, again: undefined, isRateLimited: false };
    this.#runs.set(key, run);
    const beganMs = this.#clock.monotonic();
    observer.began(key, Math.max(0, beganMs - slot.dueMs));
    let isRejected = false;
    try {
      await work(key, reasonsOf(slot));
    } catch (error) {
      isRejected = true;
      onError?.(key, error);
      if (!run.isRateLimited) this.addRateLimited(key, 'its last run failed');
    }
    this.#runs.delete(key);
    const result = isRejected ? 'error' : run.isRateLimited ? 'requeue' : 'success';
    observer.ended(key, result, this.#clock.monotonic() - beganMs);
    if (run.again !== undefined) this.#enqueue(run.again);
    if (this.#drained !== undefined && this.#runs.size === 0) this.#drained.resolve();
    this.#pumpSoon();
  }

  /** One timer, for the key that is due next. */
  #setTimer(): void {
    const dueMs = this.#later.first()?.dueMs;
    if (this.#timer?.dueMs === dueMs) return;
    this.#timer?.stop.abort();
    this.#timer = undefined;
    if (dueMs === undefined) return;
    const stop = new AbortController();
    const timer = { dueMs, stop };
    this.#timer = timer;
    // Rounded up, because a timer that fires a hair early would be set again and again.
    const waitMs = Math.min(SLEEP_MS_MAX, Math.max(1, Math.ceil(dueMs - this.#clock.monotonic())));
    this.#clock.sleep(waitMs, stop.signal).then(
      () => {
        if (this.#timer === timer) this.#timer = undefined;
        this.#pump();
      },
      (error: unknown) => {
        if (!stop.signal.aborted) throw error;
      },
    );
  }
}

function isEarlier(left: Slot, right: Slot): boolean {
  return left.dueMs < right.dueMs || (left.dueMs === right.dueMs && left.order < right.order);
}

function merge(slot: Slot, dueMs: MonotonicMs, because: string, lane: Lane): void {
  slot.dueMs = Math.min(slot.dueMs, dueMs);
  if (lane === 'change') slot.lane = 'change';
  if (slot.reasons.includes(because)) return;
  if (slot.reasons.length < REASONS_MAX) slot.reasons.push(because);
  else slot.dropped += 1;
}

function reasonsOf({ reasons, dropped }: Slot): readonly string[] {
  return dropped === 0 ? reasons : [...reasons, `… and ${dropped} more`];
}

const DELAY_MS_FIRST = 5;
const DELAY_MS_MAX = 1_000_000;

/**
 * How long a key waits after its `failures`-th failure in a row. The ceiling doubles from 10 ms to 1000 s, and the delay
 * lies in its upper half: 5 … 10 ms at first, 500 … 1000 s in the end, so that what failed together is not tried together.
 * @param failures counts from 1.
 * @returns milliseconds in [5, 1 000 000).
 * @throws RangeError when `failures` < 1: the caller's count is wrong, and waiting next to nothing would hide it.
 */
export function keyBackoffMs(failures: number, random: Random): number {
  if (!(failures >= 1)) throw new RangeError(`failures count from 1, got ${failures}`);
  const ceilingMs = Math.min(DELAY_MS_MAX, DELAY_MS_FIRST * 2 ** failures);
  return (ceilingMs / 2) * (1 + random.next());
}
