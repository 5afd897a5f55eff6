import pRetry from 'p-retry';
import type { SecretReference } from '../configuration/platform/spec.ts';
import { PortolanError } from '../model/errors.ts';
import type { Secret } from '../model/secret.ts';
import { safeLine } from '../model/text.ts';
import { backoffMs, retryAfterMs } from '../platform/retrying.ts';
import { Allowance } from '../runtime/allowance.ts';
import { after, type Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { type OutboundAnswer, OutboundError, type OutboundMessage, type Post } from './outbound.ts';

/**
 * Why a message was dropped. `overflow`: the queue was full. `refused`: the receiver rejected it. `failed`: all retries
 * failed. `shutdown`: the process ended.
 */
export const dropReasons = ['overflow', 'refused', 'failed', 'shutdown'] as const;
export type DropReason = (typeof dropReasons)[number];

/** Receives counts of messages. Called synchronously; must not throw or wait. */
export interface DeliveryCounts {
  /** Called before anything else is counted of a receiver. */
  opened(receiver: string): void;
  sent(receiver: string): void;
  dropped(receiver: string, reason: DropReason): void;
  /** The message repeated an earlier one, and was counted instead of sent. */
  collapsed(receiver: string): void;
}

/** Parts of the process that a sender needs. */
export interface SenderOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Masks every secret that this process knows. */
  readonly redact: (text: string) => string;
  readonly counts: DeliveryCounts;
  /**
   * Returns a reader of a secret; `where` names the reference in messages.
   * @throws PortolanError when the secret does not exist.
   */
  readonly openSecret: (reference: SecretReference, where: string) => () => Secret;
}

export interface DeliveryOptions<T> extends Omit<SenderOptions, 'openSecret'> {
  /** Name of the receiver in logs and metrics. */
  readonly receiver: string;
  /** Items that may wait. When it is exceeded, the oldest is dropped. */
  readonly capacity: number;
  readonly ratePerMinute: number;
  /** Time limit of one attempt. */
  readonly timeoutMs: number;
  /** Writes the message when it is sent, so that it is up to date. `undefined`: there is nothing to send any more. */
  readonly write: (item: T) => OutboundMessage | undefined;
  /** Merges two items with one key while the older one waits. Without it the newer one replaces the older one. */
  readonly merge?: (older: T, newer: T) => T;
  readonly delivered?: (item: T) => void;
  /** Returns false if there is nothing to send any more. Such an item uses nothing of the rate. */
  readonly isNews?: (item: T) => boolean;
  /** Returns whether an answer that looks like a rejection is a success. */
  readonly isGood?: (answer: OutboundAnswer) => boolean;
  readonly post: Post;
}

const RETRIES_MAX = 6;
/** Time limit of all attempts of one message, so that it does not block those behind it. */
const DEADLINE_MS = 180_000;
const DELAY_MS_FIRST = 1_000;
const DELAY_MS_MAX = 60_000;
/** Messages that may be sent at once before the rate limits them. */
const BURST_MAX = 5;

/** The answer or failure of one attempt that a retry may better. Used in this file only. */
class TemporaryFailure extends Error {
  readonly answer: OutboundAnswer | undefined;

  constructor(message: string, answer?: OutboundAnswer) {
    super(message);
    this.answer = answer;
  }
}

type Ending =
  | { readonly type: 'sent' }
  | { readonly type: 'not-sent'; readonly reason: DropReason; readonly why: string };

/** Sends to one receiver from its own queue, so that receivers do not affect each other. */
export class Delivery<T> {
  readonly #options: DeliveryOptions<T>;
  readonly #waiting = new Map<string, T>();
  readonly #over = new AbortController();
  readonly #report: ReturnType<typeof createReport>;
  readonly #allowance: Allowance;
  readonly #finished: Promise<void>;
  #closing = false;
  #overflowing = false;
  #wakeUp: () => void = () => {};

  constructor(options: DeliveryOptions<T>) {
    this.#options = options;
    options.counts.opened(options.receiver);
    this.#report = createReport(options);
    const { clock, ratePerMinute } = options;
    this.#allowance = new Allowance(clock, Math.min(BURST_MAX, ratePerMinute), ratePerMinute / 60_000);
    this.#finished = this.#work().catch((error: unknown) => {
      // Only the end of the grace period may end it. Anything else is a bug, and is logged.
      if (!this.#over.signal.aborted)
        options.log.error(`notifications stopped: ${String(error)}`, { receiver: options.receiver });
    });
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Adds an item without waiting. */
  push(key: string, item: T): void {
    if (this.#closing) return this.#drop('shutdown');
    const older = this.#waiting.get(key);
    const { merge } = this.#options;
    this.#waiting.set(key, older === undefined || merge === undefined ? item : merge(older, item));
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > this.#options.capacity && oldest !== undefined) {
      this.#waiting.delete(oldest);
      this.#drop('overflow');
      if (!this.#overflowing)
        this.#options.log.warn(
          'the receiver gets more messages than it accepts: the oldest are dropped and counted. Narrow its rules, or raise ratePerMinute',
          { receiver: this.#options.receiver, waiting: this.#waiting.size },
        );
      this.#overflowing = true;
    }
    this.#wakeUp();
  }

  /** Rejects new items, sends those that wait within `graceMs`, and drops the rest. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#wakeUp();
    const done = new AbortController();
    after(this.#options.clock, graceMs, done.signal, () => this.#over.abort(new Error('the grace is over')));
    await this.#finished;
    done.abort();
    for (const _ of this.#waiting) this.#drop('shutdown');
    this.#waiting.clear();
  }

  async #work(): Promise<void> {
    for (;;) {
      if (this.#waiting.size === 0 && this.#closing) return;
      if (this.#waiting.size === 0) this.#overflowing = false;
      if (this.#waiting.size === 0) await new Promise<void>((resolve) => (this.#wakeUp = resolve));
      const [next] = this.#waiting;
      if (next === undefined) continue;
      if (this.#options.isNews?.(next[1]) === false) {
        this.#waiting.delete(next[0]);
        continue;
      }
      this.#allowance.use(1);
      const { debtMs } = this.#allowance;
      if (debtMs > 0) await this.#options.clock.sleep(debtMs, this.#over.signal);
      this.#over.signal.throwIfAborted();
      // While it waited, the item may have been merged or replaced by newer ones.
      const [key, item] = this.#waiting.entries().next().value ?? next;
      this.#waiting.delete(key);
      const ending = await deliver(item, this.#options, this.#over.signal);
      if (ending === undefined) continue;
      if (ending.type === 'sent') {
        this.#options.delivered?.(item);
        this.#options.counts.sent(this.#options.receiver);
      } else this.#drop(ending.reason);
      this.#report(ending, this.#waiting.size);
    }
  }

  #drop(reason: DropReason): void {
    this.#options.counts.dropped(this.#options.receiver, reason);
  }
}

/** Sends one item with retries. Returns `undefined` if there was nothing to send. Never rejects. */
async function deliver<T>(item: T, options: DeliveryOptions<T>, signal: AbortSignal): Promise<Ending | undefined> {
  const { clock, random, post } = options;
  const deadlineMs = clock.monotonic() + DEADLINE_MS;
  const attempt = async (): Promise<Ending | undefined> => {
    const message = options.write(item);
    if (message === undefined) return undefined;
    const answer = await post(message, options.timeoutMs, signal).catch((error: unknown) => {
      if (error instanceof OutboundError && error.code !== 'ABORTED') throw new TemporaryFailure(error.message);
      throw error;
    });
    return endingOf(answer, options);
  };
  try {
    // p-retry sets no timer with `minTimeout: 0`; `shouldRetry` sleeps on our clock.
    return await pRetry(attempt, {
      retries: RETRIES_MAX,
      minTimeout: 0,
      shouldRetry: async ({ error, attemptNumber }) => {
        if (!(error instanceof TemporaryFailure) || signal.aborted) return false;
        const asked = retryAfterMs(error.answer?.retryAfter ?? null, clock);
        const delayMs = asked ?? backoffMs(attemptNumber, DELAY_MS_FIRST, DELAY_MS_MAX, random);
        if (clock.monotonic() + delayMs >= deadlineMs) return false;
        await clock.sleep(delayMs, signal);
        return true;
      },
    });
  } catch (error) {
    if (signal.aborted) return { type: 'not-sent', reason: 'shutdown', why: 'the process ends' };
    if (error instanceof TemporaryFailure) return { type: 'not-sent', reason: 'failed', why: error.message };
    if (error instanceof PortolanError)
      return { type: 'not-sent', reason: 'refused', why: `${error.message}. ${error.remedy}` };
    return { type: 'not-sent', reason: 'refused', why: String(error) };
  }
}

function endingOf<T>(answer: OutboundAnswer, { isGood, redact }: DeliveryOptions<T>): Ending {
  const { status, text } = answer;
  if ((status >= 200 && status < 300) || isGood?.(answer) === true) return { type: 'sent' };
  const why = `it answered ${status}${text === '' ? '' : `: ${safeLine(redact(text)).slice(0, 300)}`}`;
  if (status === 408 || status === 429 || status >= 500) throw new TemporaryFailure(why, answer);
  const hint = status >= 300 && status < 400 ? ' (redirects are not followed: configure the address it leads to)' : '';
  return { type: 'not-sent', reason: 'refused', why: why + hint };
}

/**
 * Returns a function that logs when a receiver begins to fail and when it recovers. Logging each failure would flood
 * the log.
 */
function createReport<T>({ receiver, log }: DeliveryOptions<T>): (ending: Ending, waiting: number) => void {
  let lost = 0;
  return (ending, waiting) => {
    if (ending.type === 'sent') {
      if (lost > 0) log.info('the receiver accepts messages again', { receiver, lost });
      lost = 0;
      return;
    }
    lost += 1;
    if (lost > 1 || ending.reason === 'shutdown') return;
    log.warn(
      `a message was not delivered: ${ending.why}. Later failures of this receiver are counted, but not logged`,
      { receiver, waiting },
    );
  };
}
