import type { MonotonicMs } from '../model/time.ts';

/** The conditions under which a request was sent. */
export interface SentUnder {
  readonly atMs: MonotonicMs;
  readonly epoch: number;
  /** So few requests were in flight that its time counts as a best time. */
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
/** Minimum number of answers for a decision; the limit, if that is higher. */
const WINDOW_ANSWERS = 8;
/** A decision after this time needs fewer answers. */
const WINDOW_MS = 1_000;
const WINDOW_ANSWERS_SLOW = 4;
/** Maximum weight of one slow answer. */
const SLOWNESS_MAX = 4;
/** Shorter times are due to the network and this process, not to the server. */
const FLOOR_MS = 5;
const HANGS_AFTER_MS_MIN = 300;
/** Multiple of the usual response time. */
const HANGS_AFTER = 10;
/** Share of the newest answer in the usual response time. */
const USUAL_SHARE = 0.05;
const QUIET_PART = 8;
/** The first answers include the time for opening connections. */
const WARM_UP_ANSWERS = 8;
/** The first probe comes before the limit first grows. Each later probe waits three times as long as the one before. */
const PROBE_MS_SECOND = 10_000;
const PROBE_MS_GROWTH = 3;
const PROBE_MS_LAST = 30_000;
const PROBE_ANSWERS = 6;
const PROBE_MS_MAX = 5_000;
/** The best time is from this period or the one before. */
const PERIOD_MS = 30_000;
const PERIOD_ANSWERS = 4;

/**
 * Limits the number of concurrent requests, by the time that the server takes to answer.
 *
 * A server with free capacity answers sixteen requests as fast as one. Without free capacity, more requests only wait longer in
 * the server. So the response time while the limit is used up is compared with the best recent time, measured while at most an
 * eighth of the limit is in use. Below 1.4 × the best time the limit grows (doubled at first, by one later). Above 1.75 × it
 * shrinks to the point where the time would be 1.6 ×, at most by half at once.
 *
 * - Times are compared within one operation only, because an install takes longer than a listing.
 * - Answers to requests that were sent under another limit do not count.
 * - While the limit is not used up, it does not change.
 * - If the limit is always used up, it is cut to an eighth for a few requests, soon at first and every 30 s later, so that the
 *   best time is recent and measured without a queue.
 *
 * It follows TCP Vegas and the gradient limits of Netflix's concurrency-limits. Those libraries read the process's clock, and use
 * the fastest answer as the best time, which is too strict for answers of different sizes.
 *
 * It has no timers: the caller passes the time.
 */
export class AdaptiveLimit {
  readonly #max: number;
  #limit: number;
  #isOpening = true;
  /** Rises with each change of the limit. */
  #epoch = 0;
  #window = emptyWindow();
  /** The probe during which the limit is cut to measure the best time; `missing`: requests that must still end. */
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

  /** Returns the present limit of concurrent requests; 1 … max. */
  current(): number {
    return this.#probe === undefined ? this.#limit : this.#quietLimit();
  }

  /**
   * Returns the time after which a request counts as hanging and not as load. Otherwise, while the limit is low, a few hanging
   * requests would block all others.
   */
  hangsAfterMs(): number {
    return Math.max(HANGS_AFTER_MS_MIN, HANGS_AFTER * this.#usualMs);
  }

  /**
   * Notes that a request begins. Both counts include it.
   * @param inFlight requests without hanging ones.
   * @param all requests with hanging ones.
   */
  began(inFlight: number, all: number, nowMs: MonotonicMs): SentUnder {
    // If all requests hang, the limit is too high.
    if (all >= this.#limit) this.#window.isUsedUp = true;
    return { atMs: nowMs, epoch: this.#epoch, isQuiet: inFlight <= this.#quietLimit() };
  }

  /** Notes that a request ended. @param answer if it succeeded or timed out; other ends do not depend on the server's load. */
  ended(sent: SentUnder, answer: AnsweredRequest | undefined, nowMs: MonotonicMs): void {
    const slowness = answer === undefined ? undefined : this.#learn(sent, answer, nowMs);
    if (sent.epoch !== this.#epoch) return;
    // Requests of any outcome end a probe, so that the limit does not stay cut if all of them fail.
    if (this.#probe !== undefined) this.#probed(this.#probe, nowMs);
    else if (slowness !== undefined) this.#count(sent, slowness, nowMs);
  }

  /** Returns the ratio of the response time to the best time. */
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

/** Returns empty counts of answers since the last decision. `startMs`: when the first was sent; `slowness`: a sum. */
function emptyWindow() {
  return { startMs: 0, answers: 0, slowness: 0, isUsedUp: false };
}

/** The mean response time of an operation while few requests were in flight: the better of this period and the one before. */
class BestTime {
  #startMs: MonotonicMs = Number.NEGATIVE_INFINITY;
  #now = new Mean();
  #beforeMs: number | undefined;
  /** The mean of any times, until a quiet time was measured. */
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
