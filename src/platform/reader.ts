import { PortolanError } from '../model/errors.ts';
import type { Expected } from '../model/reading.ts';
import { after, type Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { type Answer, parseAnswer, type Redact } from './answer.ts';
import { failedRead, stopped, unanswered } from './failures.ts';
import { isForeignAnswer, notTheApi } from './foreign.ts';
import type { RequestGate } from './gate.ts';
import { type RetryPolicy, retryingReads } from './retrying.ts';
import { LIST_BYTES_MAX, type PlatformRequest, type PlatformResponse, TransportError } from './transport.ts';

export interface ReadCall<T> {
  readonly operation: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** `where` names the request for messages. */
  readonly decode: (json: unknown, where: string) => T;
  readonly expected: Expected;
  /** Absent: the timeout of the operator's limits. A read with its own timeout is not repeated after that. */
  readonly timeoutMs?: number | undefined;
  /** Absent: `LIST_BYTES_MAX`. */
  readonly answerBytesMax?: number;
  /** Returns the meaning of an unsuccessful answer; undefined: it is an error. */
  readonly otherwise?: (answer: Answer) => { readonly value: T } | undefined;
}

export interface ReaderWorld {
  readonly url: string;
  readonly gate: RequestGate;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly policy: RetryPolicy;
  readonly signal?: AbortSignal | undefined;
  readonly redact?: Redact | undefined;
  /** Called for a read with its own deadline that takes long. */
  readonly onSlow?: ((slow: SlowRead) => void) | undefined;
}

/** A read that takes long, to be shown to waiting users. */
export interface SlowRead {
  readonly operation: string;
  readonly path: string;
  /** Time until the read is cancelled. */
  readonly deadlineMs: number;
}

/** A read that takes longer is reported as slow. */
const SLOW_MS = 3_000;

export interface Reader {
  /** @throws PortolanError with URL, status, code and message. */
  read<T>(call: ReadCall<T>): Promise<T>;
  /** Returns whether an answer so far was from the API. Before that, another server may answer at the address. */
  isProven(): boolean;
  /** Must be called when a write begins and when it ends: a read after it must not share an earlier request. */
  writeHappened(): void;
}

/** The reason that ends the wait for an answer. Without it, each abort creates an exception with a stack. */
const ANSWERED = new Error('the read was answered');

/**
 * Length (UTF-16 code units) from which an answer is large. Parsing and decoding take some ms each, so the event loop turns before
 * both: the rules of a thousand applications take 100 ms.
 */
const LARGE_LENGTH = 256 * 1024;

export const NO_QUERY: Readonly<Record<string, string>> = {};

/** Returns a reader with retries. Equal reads at the same time share one request. */
export function createReader(world: ReaderWorld): Reader {
  const { url, clock } = world;
  const underWay = new Map<string, Promise<Answer>>();
  let isProven = false;
  const send = sendInTime(world);

  async function ask(request: PlatformRequest, where: string, hasTimeout: boolean): Promise<Answer> {
    try {
      const response = await send(request, hasTimeout);
      const isLarge = response.body.length >= LARGE_LENGTH;
      if (isLarge) await clock.sleep(0);
      const answer = parseAnswer(response, world.redact);
      if (isLarge) await clock.sleep(0);
      return answer;
    } catch (error) {
      // The wait for a turn rejects with the signal's reason, which may be any value.
      if (world.signal?.aborted === true) throw stopped(where);
      if (error instanceof TransportError) throw unanswered(where, error);
      throw error;
    }
  }

  return {
    isProven: () => isProven,
    writeHappened: () => underWay.clear(),
    read: async (call) => {
      const { operation, path, query = NO_QUERY } = call;
      const where = `GET ${url}${path}`;
      const request: PlatformRequest = {
        operation,
        method: 'GET',
        path,
        query,
        isRead: true,
        timeoutMs: Math.min(world.timeoutMs, call.timeoutMs ?? world.timeoutMs),
        answerBytesMax: call.answerBytesMax ?? LIST_BYTES_MAX,
        ...(world.signal === undefined ? {} : { signal: world.signal }),
      };
      const answer = await once(underWay, request, () => ask(request, where, call.timeoutMs !== undefined));
      if (answer.isSuccess && answer.isJson) {
        const value = decoded(call, answer, where);
        isProven = true;
        return value;
      }
      const meant = call.otherwise?.(answer);
      if (meant !== undefined) return meant.value;
      throw failedRead(where, answer, call.expected);
    },
  };
}

type Send = (request: PlatformRequest, hasTimeout: boolean) => Promise<PlatformResponse>;

/** Returns the send with retries. A read with its own deadline is not repeated after that: it would probably hang again. */
function sendInTime({ gate, clock, random, log, policy, onSlow }: ReaderWorld): Send {
  const retries = {
    clock,
    random,
    policy,
    mayRetry: gate.budget.takeRetry,
    onRetry: (request: PlatformRequest, delayMs: number, why: string) =>
      log.debug('read is retried', { operation: request.operation, delayMs, why }),
  };
  const send = retryingReads((request) => gate.send(request), retries);
  const sendUnlessLate = retryingReads((request) => gate.send(request), { ...retries, retriesLate: false });
  return async (request, hasTimeout) => {
    if (!hasTimeout) return await send(request);
    const answered = new AbortController();
    after(clock, SLOW_MS, answered.signal, () =>
      onSlow?.({
        operation: request.operation,
        path: request.path,
        deadlineMs: Math.max(0, request.timeoutMs - SLOW_MS),
      }),
    );
    try {
      return await sendUnlessLate(request);
    } finally {
      answered.abort(ANSWERED);
    }
  };
}

function once(
  underWay: Map<string, Promise<Answer>>,
  { path, query }: PlatformRequest,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  // Building search parameters is expensive, and few reads have any.
  const key = query === NO_QUERY ? path : `${path}?${new URLSearchParams(query).toString()}`;
  const present = underWay.get(key);
  if (present !== undefined) return present;
  const asked = ask().finally(() => {
    if (underWay.get(key) === asked) underWay.delete(key);
  });
  underWay.set(key, asked);
  return asked;
}

function decoded<T>(call: ReadCall<T>, answer: Answer, where: string): T {
  const { expected } = call;
  const isForeign = () => isForeignAnswer(expected, answer.json);
  if (expected.isFirst === true && isForeign()) throw notTheApi(where, expected, answer);
  try {
    return call.decode(answer.json, where);
  } catch (error) {
    const isDrift = error instanceof PortolanError && error.code === 'platform/schema-drift';
    if (isDrift && isForeign()) throw notTheApi(where, expected, answer);
    throw error;
  }
}
