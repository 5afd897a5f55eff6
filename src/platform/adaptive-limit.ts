import type { MonotonicMs } from '../model/time.ts';

/** What a request was sent under; handed back with its answer. */
export interface SentUnder {
  readonly atMs: MonotonicMs;
  readonly epoch: number;
  /** With so little else in flight that its time is the best there is. */
  readonly isQuiet: boolean;
}

export interface AnsweredRequest {
  /** Name in the table of operations. */
  readonly operation: string;
  readonly isInTime: boolean;
}

const START = 8;
const GROW_BELOW = 1.4;
const SHRINK_ABOVE = 1.75;
const SHRINK_TO = 1.6;
/** Answers that a decision takes, at least; as many as the limit where that is more. */
const WINDOW_ANSWERS = 8;
/** Fewer will do where the answers come this slowly. */
const WINDOW_MS = 1_000;
const WINDOW_ANSWERS_SLOW = 4;
/** One answer that hangs must not outweigh the others. */
const SLOWNESS_MAX = 4;
/** Differences below this are the network's and our own, not the server's. */
const FLOOR_MS = 5;
const HANGS_AFTER_MS_MIN = 300;
/** Times the usual answer. */
const HANGS_AFTER = 10;
/** Share of the newest answer in what is usual. */
const USUAL_SHARE = 0.05;
const QUIET_PART = 8;
/** The first answers of all pay for connections, too. */
const WARM_UP_ANSWERS = 8;
/** The first probe comes before the limit first grows; from the second on they come three times as late each. */
const PROBE_MS_SECOND = 10_000;
const PROBE_MS_GROWTH = 3;
const PROBE_MS_LAST = 30_000;
const PROBE_ANSWERS = 6;
const PROBE_MS_MAX = 5_000;
/** The best time is of this period or the one before. */
const PERIOD_MS = 30_000;
const PERIOD_ANSWERS = 4;

/**
 * How many requests a server bears at once, found out by how long it takes to answer.
 *
 * A server that has room answers sixteen requests as fast as one; when it has none left, more at once only wait longer
 * inside of it. So the time that answers take while the limit is used up is compared with the best recent time, taken
 * while at most an eighth of it is in use. Below 1.4 × the best the limit grows (doubled in the beginning, by one
 * later on), above 1.75 × it shrinks to where the time would be 1.6 × again, at most by half at once.
 *
 * - Times are compared within one operation only: an install is no slow listing.
 * - Answers to requests that were sent under another limit say nothing about this one.
 * - While the limit is not used up, nothing is learned about it, and it stays.
 * - Where the limit is always used up, it is cut to an eighth for a few requests, soon at first and every 30 s later on,
 *   so that the best time is one without a queue, and of now.
 *
 * After TCP Vegas and the gradient limits of Netflix's concurrency-limits; ours, because those read the process's clock,
 * and take the single fastest answer for the best time, which with answers of unequal size is far too strict.
 *
 * Pure but for its own books; the caller says what time it is.
 */
export class AdaptiveLimit {
  readonly #max: number;
  #limit: number;
  #isOpening = true;
  /** Rises with each change of the limit. */
  #epoch = 0;
  #window = emptyWindow();
  /** Requests still to end while the limit is cut to measure the best time. */
  #probe: { readonly startMs: MonotonicMs; missing: number } | undefined;
  #probeDueMs: MonotonicMs = Number.NEGATIVE_INFINITY;
  #probeEveryMs = PROBE_MS_SECOND;
  #answers = 0;
  readonly #best = new Map<string, BestTime>();
  #usualMs = 0;

  constructor(max: number) {
    this.#max = max;
    this.#limit = Math.min(START, max);
  }

  /** Requests that may be in flight now; 1 … max. */
  current(): number {
    return this.#probe === undefined ? this.#limit : this.#quietLimit();
  }

  /**
   * A request that is under way for longer waits for something of its own, and is no load: while the limit is low, a
   * few that hang would otherwise keep everybody else out.
   */
  hangsAfterMs(): number {
    return Math.max(HANGS_AFTER_MS_MIN, HANGS_AFTER * this.#usualMs);
  }

  /**
   * Both counts with this one.
   * @param inFlight without those that hang.
   * @param all with them.
   */
  began(inFlight: number, all: number, nowMs: MonotonicMs): SentUnder {
    // Where everything hangs, the limit is what there is too much of.
    if (all >= this.#limit) this.#window.isUsedUp = true;
    return { atMs: nowMs, epoch: this.#epoch, isQuiet: inFlight <= this.#quietLimit() };
  }

  /** @param answer of a request that was answered well, or not in time; other ends say nothing about the server's load. */
  ended(sent: SentUnder, answer: AnsweredRequest | undefined, nowMs: MonotonicMs): void {
    const slowness = answer === undefined ? undefined : this.#learn(sent, answer, nowMs);
    if (sent.epoch !== this.#epoch) return;
    // A probe ends with requests of any kind: where all of them fail, the limit must not stay cut.
    if (this.#probe !== undefined) this.#probed(this.#probe, nowMs);
    else if (slowness !== undefined) this.#count(sent, slowness, nowMs);
  }

  /** @returns how many times the best time the answer took. */
  #learn(sent: SentUnder, { operation, isInTime }: AnsweredRequest, nowMs: MonotonicMs): number {
    const tookMs = Math.max(FLOOR_MS, nowMs - sent.atMs);
    const best = this.#bestOf(operation);
    const bestMs = best.ms() ?? tookMs;
    if (!isInTime) return SLOWNESS_MAX;
    this.#usualMs += USUAL_SHARE * (tookMs - this.#usualMs);
    this.#answers += 1;
    best.add(Math.min(tookMs, SLOWNESS_MAX * bestMs), sent.isQuiet && this.#answers > WARM_UP_ANSWERS, nowMs);
    return Math.min(SLOWNESS_MAX, tookMs / bestMs);
  }

  #quietLimit(): number {
    return Math.max(1, Math.floor(this.#limit / QUIET_PART));
  }

  #bestOf(operation: string): BestTime {
    const known = this.#best.get(operation);
    if (known !== undefined) return known;
    const fresh = new BestTime();
    this.#best.set(operation, fresh);
    return fresh;
  }

  #count(sent: SentUnder, slowness: number, nowMs: MonotonicMs): void {
    const window = this.#window;
    if (window.answers === 0) window.startMs = sent.atMs;
    window.answers += 1;
    window.slowness += slowness;
    const isFull = window.answers >= Math.max(WINDOW_ANSWERS, this.#limit);
    const isSlow = window.answers >= WINDOW_ANSWERS_SLOW && nowMs - window.startMs >= WINDOW_MS;
    if (isFull || isSlow) this.#decide(window.slowness / window.answers, window.isUsedUp, nowMs);
  }

  #decide(slowness: number, isUsedUp: boolean, nowMs: MonotonicMs): void {
    this.#window = emptyWindow();
    if (!isUsedUp) return;
    if (this.#limit > 1 && nowMs >= this.#probeDueMs) {
      this.#probe = { startMs: nowMs, missing: PROBE_ANSWERS };
      this.#epoch += 1;
      return;
    }
    const limit = this.#next(slowness);
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#epoch += 1;
  }

  #next(slowness: number): number {
    if (slowness < GROW_BELOW) return Math.min(this.#max, this.#isOpening ? 2 * this.#limit : this.#limit + 1);
    this.#isOpening = false;
    if (slowness <= SHRINK_ABOVE) return this.#limit;
    return Math.max(1, Math.floor(this.#limit * Math.max(0.5, SHRINK_TO / slowness)));
  }

  #probed(probe: { readonly startMs: MonotonicMs; missing: number }, nowMs: MonotonicMs): void {
    probe.missing -= 1;
    if (probe.missing > 0 && nowMs - probe.startMs < PROBE_MS_MAX) return;
    this.#probe = undefined;
    this.#probeDueMs = nowMs + this.#probeEveryMs;
    this.#probeEveryMs = Math.min(PROBE_MS_LAST, PROBE_MS_GROWTH * this.#probeEveryMs);
    this.#epoch += 1;
    this.#window = emptyWindow();
  }
}

/** Answers since the last decision. `startMs`: when the first of them was sent; `slowness`: summed up. */
function emptyWindow() {
  return { startMs: 0, answers: 0, slowness: 0, isUsedUp: false };
}

/** The mean time of an operation while little was in flight, the better one of this period and the one before. */
class BestTime {
  #startMs: MonotonicMs = Number.NEGATIVE_INFINITY;
  #now = new Mean();
  #beforeMs: number | undefined;
  /** Before anything was measured in quiet, any time is better than none. */
  #provisional: Mean | undefined = new Mean();

  add(tookMs: number, isQuiet: boolean, nowMs: MonotonicMs): void {
    if (!isQuiet) {
      if ((this.#provisional?.answers ?? PERIOD_ANSWERS) < PERIOD_ANSWERS) this.#provisional?.add(tookMs);
      return;
    }
    this.#provisional = undefined;
    if (this.#now.answers > 0 && nowMs - this.#startMs >= PERIOD_MS) {
      this.#beforeMs = this.#now.mean();
      this.#now = new Mean();
    }
    if (this.#now.answers === 0) this.#startMs = nowMs;
    this.#now.add(tookMs);
  }

  ms(): number | undefined {
    if (this.#provisional !== undefined) return this.#provisional.mean();
    if (this.#beforeMs === undefined) return this.#now.mean();
    return this.#now.answers < PERIOD_ANSWERS ? this.#beforeMs : Math.min(this.#beforeMs, this.#now.mean() ?? 0);
  }
}

class Mean {
  answers = 0;
  #sum = 0;

  add(value: number): void {
    this.answers += 1;
    this.#sum += value;
  }

  mean(): number | undefined {
    return this.answers === 0 ? undefined : this.#sum / this.answers;
  }
}
