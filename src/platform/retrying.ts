import pRetry from 'p-retry';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { type Answer, parseAnswer } from './answer.ts';
import { type PlatformRequest, type PlatformResponse, type Transport, TransportError } from './transport.ts';

export interface RetryPolicy {
  /** Retries after the first attempt. */
  readonly retriesMax: number;
  /** Time from the first attempt; a wait that would end later is not begun. */
  readonly deadlineMs: number;
  /** Backoff after a failure. */
  readonly delayMsFirst: number;
  readonly delayMsMax: number;
  /** Backoff after throttling without `Retry-After`. */
  readonly throttledDelayMsFirst: number;
  readonly throttledDelayMsMax: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  retriesMax: 4,
  deadlineMs: 120_000,
  delayMsFirst: 200,
  delayMsMax: 5_000,
  throttledDelayMsFirst: 1_000,
  throttledDelayMsMax: 60_000,
};

/** The policy of the daemon, which retries anyway: a failed read ends soon and frees its slot. */
export const hastyRetryPolicy: RetryPolicy = { ...defaultRetryPolicy, retriesMax: 1, delayMsFirst: 50, delayMsMax: 50 };

/**
 * Returns the wait before retry number `attempt`: full-jitter exponential backoff.
 * @param attempt counts from 1.
 * @returns whole milliseconds in [0, delayMsMax).
 * @throws RangeError if `attempt` < 1, which is a mistake of the caller.
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/ ("Full Jitter")
 */
export function backoffMs(attempt: number, delayMsFirst: number, delayMsMax: number, random: Random): number {
  if (!(attempt >= 1)) throw new RangeError(`attempt counts from 1, got ${attempt}`);
  return Math.floor(random.next() * Math.min(delayMsMax, delayMsFirst * 2 ** (attempt - 1)));
}

const RETRY_AFTER_MS_MIN = 1_000;
const RETRY_AFTER_MS_MAX = 600_000;

/**
 * Returns `Retry-After` (seconds or an HTTP date) in milliseconds from now, limited to 1 s … 10 min, so that a wrong clock or
 * value does not stop Portolan for a day. null: it is absent or invalid.
 */
export function retryAfterMs(header: string | null, clock: Clock): number | null {
  const text = header?.trim() ?? '';
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  // A date starts with the name of a day. Date.parse accepts more than that, such as numbers.
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  const ms = Number.isNaN(seconds) ? date - clock.now() : seconds * 1000;
  if (Number.isNaN(ms)) return null;
  return Math.min(RETRY_AFTER_MS_MAX, Math.max(RETRY_AFTER_MS_MIN, ms));
}

/** Returns whether the platform throttled a request: 429, 503 with `Retry-After`, or the 409 of a real server. */
export function isThrottled(answer: Answer, response: PlatformResponse): boolean {
  if (answer.status === 429) return true;
  if (answer.status === 503) return response.retryAfter !== null;
  const words = `${answer.msg} ${answer.shown}`.toLowerCase();
  return answer.status === 409 && (words.includes('wait a moment please') || words.includes('操作过于频繁'));
}

const UNSENT_WORTH_RETRYING = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const AMBIGUOUS_FOR_GOOD = new Set(['TOO_LARGE', 'ABORTED', 'ENCODING']);

function isWorthRetrying(error: TransportError): boolean {
  return error.failure === 'unsent' ? UNSENT_WORTH_RETRYING.has(error.code) : !AMBIGUOUS_FOR_GOOD.has(error.code);
}

function isLate({ failure, code }: TransportError): boolean {
  return failure === 'ambiguous' && code === 'ETIMEDOUT';
}

/** An answer that a retry may improve. It is used only in this file. */
class PassingAnswer extends Error {
  readonly response: PlatformResponse;
  readonly isThrottled: boolean;

  constructor(response: PlatformResponse, throttled: boolean) {
    super(`answered ${response.status}`);
    this.response = response;
    this.isThrottled = throttled;
  }
}

export interface RetryWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: RetryPolicy;
  /** Called before each retry; false: no retry, because retries must stay a small share of all requests. */
  readonly mayRetry: () => boolean;
  /** false: a read that timed out is not repeated. */
  readonly retriesLate?: boolean;
  readonly onRetry?: (request: PlatformRequest, delayMs: number, why: string) => void;
}

/**
 * Returns a transport that retries reads. Writes are sent once, because a repetition may do them twice. Resolves with the last
 * answer, whatever its status, after the last attempt.
 */
export function retryingReads(transport: Transport, world: RetryWorld): Transport {
  return async (request) => (request.isRead ? await retried(transport, request, world) : await transport(request));
}

async function retried(transport: Transport, request: PlatformRequest, world: RetryWorld): Promise<PlatformResponse> {
  const { clock, policy } = world;
  const deadlineMs = clock.monotonic() + policy.deadlineMs;
  const attempt = async (): Promise<PlatformResponse> => {
    const response = await transport(request);
    const answer = parseWhereNeeded(response);
    if (answer === undefined) return response;
    const throttled = isThrottled(answer, response);
    if (!throttled && response.status !== 408 && response.status < 500) return response;
    throw new PassingAnswer(response, throttled);
  };
  const first = attempt();
  try {
    return await first;
  } catch {
    // Most reads succeed at once. A failed one counts as p-retry's first attempt.
  }
  try {
    // With `minTimeout: 0`, p-retry sets no timer, and `shouldRetry` sleeps on the injected clock.
    return await pRetry((number) => (number === 1 ? first : attempt()), {
      retries: policy.retriesMax,
      minTimeout: 0,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
      shouldRetry: async ({ error, attemptNumber }) => {
        const delayMs = delayBefore(attemptNumber, error, world);
        if (delayMs === null || clock.monotonic() + delayMs >= deadlineMs || !world.mayRetry()) return false;
        world.onRetry?.(request, delayMs, error.message);
        await clock.sleep(delayMs, request.signal);
        return true;
      },
    });
  } catch (error) {
    if (error instanceof PassingAnswer) return error.response;
    throw error;
  }
}

/** Parses an unsuccessful answer. A successful one may be long, and only its decoder parses it. */
function parseWhereNeeded(response: PlatformResponse): Answer | undefined {
  return response.status >= 400 ? parseAnswer(response) : undefined;
}

/** Returns the wait before the next attempt; null: no further attempt. */
function delayBefore(attempt: number, error: Error, world: RetryWorld): number | null {
  const { policy, random, clock } = world;
  if (error instanceof PassingAnswer) {
    const asked = retryAfterMs(error.response.retryAfter, clock);
    if (asked !== null) return asked;
    if (error.isThrottled) {
      return backoffMs(attempt, policy.throttledDelayMsFirst, policy.throttledDelayMsMax, random);
    }
  } else if (!(error instanceof TransportError && isWorthRetrying(error))) {
    return null;
  } else if (world.retriesLate === false && isLate(error)) {
    return null;
  }
  return backoffMs(attempt, policy.delayMsFirst, policy.delayMsMax, random);
}
