import type { MonotonicMs } from '../model/time.ts';
import { after, type Clock, NOT_NEEDED } from '../runtime/clock.ts';
import { type AnsweredRequest, AdaptiveLimit } from './adaptive-limit.ts';

/**
 * The request budget of one platform: a maximum number of concurrent requests and of requests per second, in the order of their
 * arrival. All reads and writes share it. The concurrency follows from the response times, up to the configured maximum: it
 * decreases when the platform becomes slower, before it fails, and increases again.
 *
 * Rate-limiting queues on npm read the process's clock and timers, so that a simulation in virtual time would wait for real
 * time. Therefore this is an own implementation.
 */
export interface RequestBudget {
  /** Resolves when a request may be sent; call the result once when it ended. Rejects with the signal's reason. */
  take(signal?: AbortSignal): Promise<EndOfRequest>;
  /** The platform throttled a request: the rate is halved, and grows back by a tenth of the limit every minute. */
  throttled(): void;
  /** Counts one retry against the maximum share of retries; false: no retry is allowed now. */
  takeRetry(): boolean;
  /** The state, for metrics. */
  readonly state: () => BudgetState;
}

/** Ends a request. `answer`: given if it succeeded or timed out; other ends do not depend on the platform's load. */
export type EndOfRequest = (answer?: AnsweredRequest) => void;

export interface BudgetState {
  readonly running: number;
  readonly waiting: number;
  /** The present limit of concurrent requests. */
  readonly concurrency: number;
  readonly requestsPerSecond: number;
  /** The configured limits. */
  readonly max: BudgetLimits;
}

export interface BudgetLimits {
  /** Maximum number of concurrent requests; an integer of 1 or more. */
  readonly concurrency: number;
  /** More than 0. */
  readonly requestsPerSecond: number;
}

interface Waiter {
  readonly grant: (end: EndOfRequest) => void;
}

const GROWTH_PER_MS = 0.1 / 60_000;
/** Minimum time between two halvings, so that one burst halves the rate once. */
const THROTTLE_PAUSE_MS = 1000;
const RETRY_WINDOW_MS = 60_000;
const RETRY_SHARE = 0.1;
/** Retries that are always allowed, so that a client with few requests can retry. */
const RETRIES_ALWAYS = 20;

export function createRequestBudget(limits: BudgetLimits, clock: Clock): RequestBudget {
  const { concurrency, requestsPerSecond } = limits;
  if (!Number.isInteger(concurrency) || concurrency < 1 || !(requestsPerSecond > 0)) {
    throw new RangeError(
      `a budget needs room for a request, got ${concurrency} at once and ${requestsPerSecond} a second`,
    );
  }
  return new SharedBudget(limits, clock);
}

class SharedBudget implements RequestBudget {
  readonly #clock: Clock;
  readonly #max: BudgetLimits;
  readonly #waiting: Waiter[] = [];
  readonly #rate: ReturnType<typeof createRate>;
  readonly #retries: ReturnType<typeof createRetryShare>;
  readonly #limit: AdaptiveLimit;
  /** The start of each request in flight, the oldest first. */
  readonly #began = new Set<{ readonly atMs: MonotonicMs }>();
  readonly #hanging: ReturnType<typeof createAlarm>;
  #isWaking = false;
  readonly throttled: () => void;
  readonly takeRetry: () => boolean;

  constructor(limits: BudgetLimits, clock: Clock) {
    this.#clock = clock;
    this.#max = limits;
    this.#rate = createRate(limits, clock);
    this.#retries = createRetryShare(clock);
    this.#limit = new AdaptiveLimit(limits.concurrency);
    this.#hanging = createAlarm(clock, () => this.#pump());
    this.throttled = this.#rate.halve;
    this.takeRetry = this.#retries.take;
  }

  readonly state = (): BudgetState => ({
    running: this.#began.size,
    waiting: this.#waiting.length,
    concurrency: this.#limit.current(),
    requestsPerSecond: this.#rate.perSecond(),
    max: this.#max,
  });

  /** Returns the number of requests that count against the limit, and the time when the oldest of them stops counting. */
  #load(): { readonly inFlight: number; readonly untilMs: MonotonicMs } {
    const hangsAfterMs = this.#limit.hangsAfterMs();
    const hungBeforeMs = this.#clock.monotonic() - hangsAfterMs;
    let inFlight = this.#began.size;
    for (const { atMs } of this.#began) {
      if (atMs > hungBeforeMs) return { inFlight, untilMs: atMs + hangsAfterMs };
      inFlight -= 1;
    }
    return { inFlight, untilMs: Number.POSITIVE_INFINITY };
  }

  #pump(): void {
    while (this.#began.size < this.#max.concurrency && this.#waiting.length > 0) {
      const { inFlight, untilMs } = this.#load();
      if (inFlight >= this.#limit.current()) {
        this.#hanging.setFor(untilMs);
        return;
      }
      const waitMs = this.#rate.takeOrWaitMs();
      if (waitMs > 0) {
        this.#wakeIn(waitMs);
        break;
      }
      this.#waiting.shift()?.grant(this.#begin(inFlight + 1));
    }
    this.#hanging.cancel();
  }

  #wakeIn(ms: number): void {
    if (this.#isWaking) return;
    this.#isWaking = true;
    void this.#clock.sleep(ms).then(() => {
      this.#isWaking = false;
      this.#pump();
    });
  }

  #begin(inFlight: number): EndOfRequest {
    const nowMs = this.#clock.monotonic();
    const request = { atMs: nowMs };
    const sent = this.#limit.began(inFlight, this.#began.size + 1, nowMs);
    this.#began.add(request);
    return (answer) => {
      if (!this.#began.delete(request)) return;
      this.#limit.ended(sent, answer, this.#clock.monotonic());
      this.#pump();
    };
  }

  async take(signal?: AbortSignal): Promise<EndOfRequest> {
    signal?.throwIfAborted();
    const end = await new Promise<EndOfRequest>((resolve, reject) => {
      const waiter: Waiter = {
        grant: (granted) => {
          signal?.removeEventListener('abort', leave);
          resolve(granted);
        },
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        if (this.#waiting.length === 0) this.#hanging.cancel();
        reject(signal?.reason);
      };
      this.#waiting.push(waiter);
      this.#pump();
      // Most requests get their turn at once; a listener would cost more than the turn.
      if (this.#waiting.at(-1) === waiter) signal?.addEventListener('abort', leave, { once: true });
    });
    this.#retries.request();
    return end;
  }
}

/** Returns a timer that is set only while it is needed: an unneeded sleep would keep the process alive. */
function createAlarm(clock: Clock, ring: () => void) {
  let stop: AbortController | undefined;
  return {
    /** Sets the timer unless it is set already. It may ring too early: the callback checks the load. */
    setFor(atMs: MonotonicMs): void {
      if (stop !== undefined || atMs === Number.POSITIVE_INFINITY) return;
      const mine = new AbortController();
      stop = mine;
      after(clock, Math.max(1, Math.ceil(atMs - clock.monotonic())), mine.signal, () => {
        if (stop === mine) stop = undefined;
        ring();
      });
    },
    cancel(): void {
      stop?.abort(NOT_NEEDED);
      stop = undefined;
    },
  };
}

/** Returns a token bucket whose filling rate can be halved and then grows back. */
function createRate(limits: BudgetLimits, clock: Clock) {
  const max = limits.requestsPerSecond;
  // A burst is limited to the concurrency: the requests of a whole second at once would be a load spike.
  const capacity = Math.max(1, Math.min(limits.concurrency, max));
  let tokens = capacity;
  let filledMs: MonotonicMs = clock.monotonic();
  let halvedMs: MonotonicMs = Number.NEGATIVE_INFINITY;
  let rateWhenHalved = max;

  const perSecond = (): number => {
    const grownBy = max * GROWTH_PER_MS * (clock.monotonic() - halvedMs);
    return Math.min(max, rateWhenHalved + grownBy);
  };

  return {
    perSecond,
    /** Takes a token and returns 0, or returns the whole milliseconds until there is one. */
    takeOrWaitMs(): number {
      const nowMs = clock.monotonic();
      const rate = perSecond();
      tokens = Math.min(capacity, tokens + (rate * (nowMs - filledMs)) / 1000);
      filledMs = nowMs;
      // Rounding loses fractions of a token; without this margin, wake-ups could be slightly too early forever.
      if (tokens < 1 - 1e-9) return Math.max(1, Math.ceil(((1 - tokens) / rate) * 1000));
      tokens -= 1;
      return 0;
    },
    halve(): void {
      const nowMs = clock.monotonic();
      if (nowMs - halvedMs < THROTTLE_PAUSE_MS) return;
      rateWhenHalved = Math.max(Math.min(1, max), perSecond() / 2);
      halvedMs = nowMs;
      tokens = Math.min(tokens, 1);
    },
  };
}

/** Limits retries to a tenth of the requests of the last minute, so that they do not overload a failing server. */
function createRetryShare(clock: Clock) {
  let windowMs: MonotonicMs = clock.monotonic();
  let now = { requests: 0, retries: 0 };
  let before = { requests: 0, retries: 0 };

  // Two buckets of a minute approximate a sliding window in constant space.
  const turn = (): void => {
    const ageMs = clock.monotonic() - windowMs;
    if (ageMs < RETRY_WINDOW_MS) return;
    before = ageMs < 2 * RETRY_WINDOW_MS ? now : { requests: 0, retries: 0 };
    now = { requests: 0, retries: 0 };
    windowMs = clock.monotonic();
  };

  return {
    request(): void {
      turn();
      now.requests += 1;
    },
    take(): boolean {
      turn();
      const allowed = RETRIES_ALWAYS + RETRY_SHARE * (now.requests + before.requests);
      if (now.retries + before.retries >= allowed) return false;
      now.retries += 1;
      return true;
    },
  };
}
