import type { MonotonicMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';

/**
 * The requests that one platform can bear, shared by everything that talks to it: so many at once and so many a
 * second, in the order of asking. Reads and writes share it.
 *
 * Our own small one, because the queues on npm that limit a rate read the process's clock and timers, and then a
 * simulation on virtual time would wait for real.
 */
export interface RequestBudget {
  /** Resolves when a request may go; call the result once when it has been answered. Rejects with the signal's reason. */
  take(signal?: AbortSignal): Promise<() => void>;
  /** The platform said that it is too much: the rate is halved, and grows back by a tenth of the limit every minute. */
  throttled(): void;
  /** Counts one retry against the share of requests that may be retries; false: there is no room for one. */
  takeRetry(): boolean;
  /** For metrics. */
  readonly state: () => BudgetState;
}

export interface BudgetState {
  readonly running: number;
  readonly waiting: number;
  readonly requestsPerSecond: number;
}

export interface BudgetLimits {
  /** Requests under way at once; an integer of 1 or more. */
  readonly concurrency: number;
  /** More than 0. */
  readonly requestsPerSecond: number;
}

interface Waiter {
  readonly grant: () => void;
}

const GROWTH_PER_MS = 0.1 / 60_000;
/** Halvings closer together than this answer one and the same burst. */
const THROTTLE_PAUSE_MS = 1000;
const RETRY_WINDOW_MS = 60_000;
const RETRY_SHARE = 0.1;
/** Without it a client that sends little could never retry at all. */
const RETRIES_ALWAYS = 20;

export function createRequestBudget(limits: BudgetLimits, clock: Clock): RequestBudget {
  const { concurrency, requestsPerSecond } = limits;
  if (!Number.isInteger(concurrency) || concurrency < 1 || !(requestsPerSecond > 0)) {
    throw new RangeError(
      `a budget needs room for a request, got ${concurrency} at once and ${requestsPerSecond} a second`,
    );
  }
  const waiting: Waiter[] = [];
  const rate = createRate(limits, clock);
  const retries = createRetryShare(clock);
  let running = 0;
  let isWaking = false;

  function pump(): void {
    while (running < concurrency && waiting.length > 0) {
      const waitMs = rate.takeOrWaitMs();
      if (waitMs > 0) {
        wakeIn(waitMs);
        return;
      }
      running += 1;
      waiting.shift()?.grant();
    }
  }

  function wakeIn(ms: number): void {
    if (isWaking) return;
    isWaking = true;
    void clock.sleep(ms).then(() => {
      isWaking = false;
      pump();
    });
  }

  function released(): () => void {
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      running -= 1;
      pump();
    };
  }

  async function take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const waiter: Waiter = {
        grant: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(waiter), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      waiting.push(waiter);
      pump();
    });
    retries.request();
    return released();
  }

  return {
    take,
    throttled: rate.halve,
    takeRetry: retries.take,
    state: () => ({ running, waiting: waiting.length, requestsPerSecond: rate.perSecond() }),
  };
}

/** A token bucket whose filling rate may be halved and then grows back. */
function createRate(limits: BudgetLimits, clock: Clock) {
  const max = limits.requestsPerSecond;
  // A burst fills the places there are, and no more: a second's worth at once is what a server feels as a spike.
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
    /** 0: a token was taken. Otherwise whole milliseconds until there is one. */
    takeOrWaitMs(): number {
      const nowMs = clock.monotonic();
      const rate = perSecond();
      tokens = Math.min(capacity, tokens + (rate * (nowMs - filledMs)) / 1000);
      filledMs = nowMs;
      // Fractions of a token are lost to rounding; without the margin a wake-up could come a hair too early for ever.
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

/** Retries may be a tenth of the requests of the last minute, so that a sick server is not finished off by them. */
function createRetryShare(clock: Clock) {
  let windowMs: MonotonicMs = clock.monotonic();
  let now = { requests: 0, retries: 0 };
  let before = { requests: 0, retries: 0 };

  // Two buckets of a minute: a sliding window to within one bucket, in constant space.
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
