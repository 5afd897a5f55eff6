import pRetry from 'p-retry';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { type Answer, parseAnswer } from './answer.ts';
import { type PlatformRequest, type PlatformResponse, type Transport, TransportError } from './transport.ts';

export interface RetryPolicy {
  /** Retries after the first attempt. */
  readonly retriesMax: number;
  /** From the first attempt on: a wait that would end later is not begun. */
  readonly deadlineMs: number;
  /** Backoff after a failure. */
  readonly delayMsFirst: number;
  readonly delayMsMax: number;
  /** Backoff after "too much", where the platform does not say how long. */
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

/** For whoever comes again by itself: what fails gives its place to others soon, and waits outside. */
export const hastyRetryPolicy: RetryPolicy = { ...defaultRetryPolicy, retriesMax: 1, delayMsFirst: 50, delayMsMax: 50 };

/**
 * How long to wait before retry number `attempt`: full-jitter exponential backoff.
 * @param attempt counts from 1.
 * @returns whole milliseconds in [0, delayMsMax).
 * @throws RangeError when `attempt` < 1: the caller's loop is wrong, and waiting 0 ms would hide it.
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/ ("Full Jitter")
 */
export function backoffMs(attempt: number, delayMsFirst: number, delayMsMax: number, random: Random): number {
  if (!(attempt >= 1)) throw new RangeError(`attempt counts from 1, got ${attempt}`);
  return Math.floor(random.next() * Math.min(delayMsMax, delayMsFirst * 2 ** (attempt - 1)));
}

const RETRY_AFTER_MS_MIN = 1_000;
const RETRY_AFTER_MS_MAX = 600_000;

/**
 * `Retry-After` in milliseconds from now, seconds or HTTP date, held within 1 s … 10 min so that neither a bad clock
 * nor an absurd figure stops us for a day. null: absent or unreadable.
 */
export function retryAfterMs(header: string | null, clock: Clock): number | null {
  const text = header?.trim() ?? '';
  const seconds = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  // A date starts with the name of a day; Date.parse takes far more than that, bare numbers too.
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  const ms = Number.isNaN(seconds) ? date - clock.now() : seconds * 1000;
  if (Number.isNaN(ms)) return null;
  return Math.min(RETRY_AFTER_MS_MAX, Math.max(RETRY_AFTER_MS_MIN, ms));
}

/** The platform says "too much": 429, 503 with `Retry-After`, or the 409 that a real server answers in its place. */
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

/** An answer that a later attempt may better. It never gets out of this file. */
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
  /** Asked before each retry; false gives up, because retries must stay a small share of all requests. */
  readonly mayRetry: () => boolean;
  /** false: a read that was sent and not answered in time is not repeated. */
  readonly retriesLate?: boolean;
  readonly onRetry?: (request: PlatformRequest, delayMs: number, why: string) => void;
}

/**
 * A transport that repeats reads. A write passes through once: repeating one may do it twice.
 * Resolves with the last answer, whatever its status, when the attempts are used up.
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
    // Most reads go well at once and need nothing more. Failed, it is p-retry's first attempt.
  }
  try {
    // No timer of p-retry's own: with `minTimeout: 0` it sets none, and `shouldRetry` sleeps on our clock.
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

/** A 2xx list may be long: it is parsed once, by its decoder. */
function parseWhereNeeded(response: PlatformResponse): Answer | undefined {
  return response.status >= 400 ? parseAnswer(response) : undefined;
}

/** null: not worth another attempt. */
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
