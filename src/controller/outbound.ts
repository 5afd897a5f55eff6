import { createHmac } from 'node:crypto';
import { Agent } from 'undici';
import { isLoopback } from '../configuration/addresses.ts';
import { isForbiddenHost } from '../configuration/forbidden-hosts.ts';
import { invalidInput, PortolanError } from '../model/errors.ts';
import { Secret } from '../model/secret.ts';
import { after, type Clock, rejectOnAbort } from '../runtime/clock.ts';
import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** A message to a receiver of notifications or a collector of traces. */
export interface OutboundMessage {
  /**
   * Address with https, or with http to this machine; without user name and fragment. A secret holds the whole address.
   */
  readonly url: string | Secret;
  /** A secret value is read when the message is sent. */
  readonly headers: Readonly<Record<string, string | OutboundSecret>>;
  readonly body: string;
  /** Adds a header with `sha256=` and the HMAC-SHA-256 of the body's bytes in hex. */
  readonly signature?: { readonly header: string; readonly key: Secret };
}

export interface OutboundSecret {
  /** Text before the secret: `Bearer `. */
  readonly prefix: string;
  readonly value: Secret;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** Beginning of the answer, for logs. It may contain anything: redact it before showing it. */
  readonly text: string;
}

/** Sends one message once. Rejects with `OutboundError` if no complete answer arrives. */
export type Post = (message: OutboundMessage, timeoutMs: number, signal: AbortSignal) => Promise<OutboundAnswer>;

/**
 * No complete answer arrived: the connection was refused, was closed, or timed out. The message contains neither
 * payload nor address.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Enough to see why a receiver rejects a message. */
const ANSWER_BYTES_MAX = 2_048;
const CONNECT_TIMEOUT_MS = 10_000;
/** Added to the time limits of undici. The deadline on the injected clock is the one that counts. */
const SOCKET_SPARE_MS = 5_000;

/** The way to receivers and collectors. */
export interface Outbound {
  readonly post: Post;
  /** Closes the open sockets. */
  close(): Promise<void>;
}

/**
 * Creates the only way to receivers and collectors. It follows no redirect, because messages are signed and addressed
 * to one receiver. It does not retry, and reads only the beginning of an answer.
 */
export function createOutbound(clock: Clock): Outbound {
  const agent = new Agent({
    // Every receiver has its own queue, so few sockets are enough.
    connections: 2,
    connect: { timeout: CONNECT_TIMEOUT_MS, rejectUnauthorized: true, minVersion: 'TLSv1.2', lookup: lookupAllowed },
  });
  const post: Post = (message, timeoutMs, signal) =>
    withinTime(clock, timeoutMs, signal, (late) => exchange(message, agent, timeoutMs, late));
  return { post, close: () => agent.destroy() };
}

/**
 * Runs an exchange with another server within a time limit.
 * @param run gets a signal that is aborted when the time is over or `signal` is aborted.
 * @throws OutboundError when no complete answer arrives, PortolanError `invalid` for an address that must not be used.
 */
export async function withinTime<Result>(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const finished = new AbortController();
  after(clock, timeoutMs, finished.signal, () => late.abort());
  const giveUp = (): void => late.abort();
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    // undici observes the signal only after the socket is open.
    return await Promise.race([run(late.signal), rejectOnAbort(late.signal)]);
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    if (signal.aborted) throw new OutboundError('ABORTED', 'stopped before an answer arrived');
    if (late.signal.aborted) throw new OutboundError('TIMEOUT', `timed out after ${timeoutMs} ms`);
    const code = codeOf(error);
    if (code === 'EFORBIDDEN')
      throw invalidInput(
        'outbound/forbidden-address',
        'the name in the address resolves to a link-local or metadata address; nothing was sent',
        'Correct the name in the configuration, or its record on the name server.',
      );
    throw new OutboundError(code, `no answer: ${code}`);
  } finally {
    finished.abort();
    signal.removeEventListener('abort', giveUp);
  }
}

async function exchange(
  message: OutboundMessage,
  agent: Agent,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const headers = wireHeaders(message);
  const url = wireAddress(message.url);
  const asked = await agent.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: { 'user-agent': 'portolan', ...headers },
    body: message.body,
    signal,
    headersTimeout: timeoutMs + SOCKET_SPARE_MS,
    bodyTimeout: timeoutMs + SOCKET_SPARE_MS,
  });
  const { statusCode: status, headers: answered, body } = asked;
  const text = await beginningOf(body);
  const retryAfter = answered['retry-after'];
  return { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : null, text };
}

/** Returns the beginning of an answer. An endless answer would block the queue. */
async function beginningOf(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= ANSWER_BYTES_MAX) break;
  }
  body.destroy();
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX));
}

/**
 * Returns the address of a message. It follows the rules for a platform's address, but may have a query, because some
 * receivers expect their credential there.
 */
function wireAddress(address: string | Secret): URL {
  const text = address instanceof Secret ? address.reveal() : address;
  const url = URL.parse(text);
  const fault =
    url === null || !/^https?:$/.test(url.protocol)
      ? 'is not an http or https address'
      : url.username !== '' || url.password !== ''
        ? 'holds a user name or password'
        : url.protocol === 'http:' && !isLoopback(url.href)
          ? 'is plain http to another machine'
          : isForbiddenHost(url.hostname)
            ? 'is a link-local or metadata address'
            : undefined;
  if (url !== null && fault === undefined) return url;
  // The message names the fault of the address, not the address.
  const origin = address instanceof Secret ? address.origin : 'the configuration';
  throw invalidInput(
    'outbound/invalid-address',
    `the address from the ${origin} ${fault ?? 'is missing'}; nothing was sent`,
    'Set it to an https address, or http://127.0.0.1:PORT for a receiver on this machine.',
  );
}

const HEADER_VALUE = /^[\u0020-\u007e]+$/;

function wireHeaders({ headers, body, signature }: OutboundMessage): Record<string, string> {
  const written: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = typeof value === 'string' ? value : `${value.prefix}${value.value.reveal()}`;
    // Checked here, because undici quotes a bad value in its error.
    if (!HEADER_VALUE.test(text)) throw badHeader(name, typeof value === 'string' ? undefined : value.value.origin);
    written[name] = text;
  }
  if (signature !== undefined) {
    const digest = createHmac('sha256', signature.key.reveal()).update(body).digest('hex');
    written[signature.header] = `sha256=${digest}`;
  }
  return written;
}

function badHeader(name: string, origin: string | undefined): PortolanError {
  return invalidInput(
    'outbound/invalid-header',
    `the value of the header ${name}${origin === undefined ? '' : ` (${origin})`} has characters that a header cannot have; nothing was sent`,
    'Remove line breaks and other characters that are not printable ASCII from the value.',
  );
}

/**
 * Returns the code of the innermost error, such as `ECONNREFUSED` or `UND_ERR_SOCKET`. Its message may contain an
 * address.
 */
function codeOf(error: unknown): string {
  let code = 'NETWORK';
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const own = (cause as { readonly code?: unknown }).code;
    if (typeof own === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(own)) code = own;
  }
  return code;
}

/**
 * Resolves a name, and fails with `EFORBIDDEN` if any of its addresses is forbidden. The socket cannot use another
 * address.
 */
export const lookupAllowed: LookupFunction = (name, options, answer) => {
  lookup(name, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) {
      answer(error, '', 4);
      return;
    }
    const [first] = addresses;
    if (first === undefined || addresses.some(({ address }) => isForbiddenHost(address))) {
      answer(Object.assign(new Error('a forbidden address'), { code: 'EFORBIDDEN' }), '', 4);
      return;
    }
    if (options.all === true) answer(null, addresses);
    else answer(null, first.address, first.family);
  });
};
