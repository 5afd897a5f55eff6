import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, buildConnector, Client, type Dispatcher } from 'undici';
import { invalidInput, PortolanError } from '../model/errors.ts';
import type { Secret } from '../model/secret.ts';
import { type Clock, rejectOnAbort } from '../runtime/clock.ts';
import { createDeadlines, type Deadlines, type Expiring } from './deadlines.ts';
import { addressOf, type HttpBase, httpBase } from './http-address.ts';
import { type Progress, readAnswer, transportError } from './http-answer.ts';
import { sendRead } from './http-read.ts';
import { type PlatformRequest, type PlatformResponse, RECORD_BYTES_MAX, type Transport } from './transport.ts';
import { revealed, secretsIn, withoutEchoes } from './wire.ts';

export interface HttpTransportOptions {
  /** Base URL as `checkPlatformUrl` returned it. */
  readonly url: string;
  /** Called for every request, so that a renewed token is used at once. The API does not document the header. */
  readonly auth?: { readonly header: string; readonly value: () => Secret } | undefined;
  /** PEM text of trusted certificates besides those of the system. */
  readonly caPem?: string | undefined;
  /** Maximum number of open sockets for reads. */
  readonly connections: number;
  readonly clock: Clock;
}

export interface HttpTransport {
  readonly send: Transport;
  /** Waits for requests in flight, then closes the sockets for reads. */
  close(): Promise<void>;
}

type Connector = ReturnType<typeof buildConnector>;

/** Timeout for opening a socket, TLS included. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Returns the transport over HTTP. Reads share a pool of connections. Each write uses a new socket, because a pooled one may be
 * half closed, and then the outcome of the request would be unknown. Requests are not repeated, and redirects not followed.
 * @throws PortolanError `platform/invalid-tls` for a CA that is not PEM.
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const base = httpBase(options.url);
  const deadlines = createDeadlines(options.clock);
  const connect = createConnector(options);
  // Errors of connecting are stored, because only they prove that no byte of a request left.
  const neverConnected = new WeakSet<Error>();
  const pool = new Agent({
    connections: options.connections,
    pipelining: 1,
    connect: observed(connect, (error) => {
      if (error !== null) neverConnected.add(error);
    }),
  });

  const reads = { pool, deadlines, isNeverConnected: (error: Error) => neverConnected.has(error) };

  async function read(request: PlatformRequest): Promise<PlatformResponse> {
    const { ask, secrets } = askOf(request, options, base);
    const response = await sendRead(request, ask, reads);
    return { ...response, body: withoutEchoes(response.body, secrets) };
  }

  async function write(request: PlatformRequest): Promise<PlatformResponse> {
    let isOpen = false;
    const client = new Client(base.origin, {
      pipelining: 1,
      // Set before undici can write the first byte: while it is false, no byte has left. A later socket that does not open
      // proves nothing about the bytes of an earlier one.
      connect: observed(
        withholding(connect, () => !isOpen && request.mayLeave?.() === false),
        (error) => {
          isOpen ||= error === null;
        },
      ),
    });
    try {
      const { ask, secrets } = askOf(request, options, base);
      const response = await sendWrite(request, ask, client, deadlines, async () => {
        // First make sure that no more bytes can leave, then check whether some may have left.
        await client.destroy();
        return !isOpen;
      });
      return { ...response, body: withoutEchoes(response.body, secrets) };
    } finally {
      await client.destroy();
    }
  }

  return {
    send: (request) => (request.isRead ? read(request) : write(request)),
    close: () => pool.close(),
  };
}

/** Returns a connector that calls `onResult` just before undici learns whether the socket is open. */
function observed(connect: Connector, onResult: (error: Error | null) => void): Connector {
  return (details, callback) =>
    connect(details, (...result: Parameters<typeof callback>) => {
      onResult(result[0]);
      callback(...result);
    });
}

/** Returns a connector that closes a socket which may not be used after all: opening it may have taken long. */
function withholding(connect: Connector, isWithheld: () => boolean): Connector {
  return (details, callback) =>
    connect(details, (...result: Parameters<typeof callback>) => {
      const [error, socket] = result;
      if (error !== null || !isWithheld()) return callback(...result);
      socket.destroy();
      callback(Object.assign(new Error('it was withheld when its connection was open'), { code: 'WITHHELD' }), null);
    });
}

function createConnector(options: HttpTransportOptions): Connector {
  // The environment cannot disable verification. The context is built once, because that is slow.
  const tls = { rejectUnauthorized: true, minVersion: 'TLSv1.2' as const };
  if (options.caPem === undefined) return buildConnector({ timeout: CONNECT_TIMEOUT_MS, ...tls });
  try {
    const certificates = options.caPem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    if (certificates.length === 0) throw new Error('it contains no certificate');
    // A secure context accepts invalid input silently, so each certificate is parsed.
    for (const certificate of certificates) new X509Certificate(certificate);
    const secureContext = createSecureContext({
      ca: [...getCACertificates('default'), options.caPem],
      minVersion: tls.minVersion,
    });
    return buildConnector({ timeout: CONNECT_TIMEOUT_MS, ...tls, secureContext });
  } catch (error) {
    throw new PortolanError({
      code: 'platform/invalid-tls',
      disposition: 'invalid',
      message: `the CA for ${options.url} is not a PEM certificate: ${error instanceof Error ? error.message : 'unreadable'}`,
      remedy: 'Set spec.tls.caFile of the Platform to a file with the certificate of your authority in PEM form.',
      cause: error,
    });
  }
}

interface Ask {
  readonly ask: Dispatcher.DispatchOptions;
  /** All secrets of the request, to be masked in its answer. */
  readonly secrets: readonly Secret[];
}

/** Returns a request in the form of undici. */
function askOf(request: PlatformRequest, options: HttpTransportOptions, base: HttpBase): Ask {
  const path = addressOf(request, base);
  const auth = authorization(options);
  const body = request.body === undefined ? undefined : JSON.stringify(revealed(request.body));
  const ask: Dispatcher.DispatchOptions = {
    origin: base.origin,
    path,
    method: request.method,
    headers: {
      accept: 'application/json',
      'user-agent': 'portolan',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(auth === undefined ? {} : { [auth.header]: auth.value.reveal() }),
    },
    body: body ?? null,
    // The deadline of the clock decides; these timeouts apply only if the clock stands still.
    headersTimeout: request.timeoutMs + 5_000,
    bodyTimeout: request.timeoutMs + 5_000,
    reset: !request.isRead,
  };
  return { ask, secrets: [...(auth === undefined ? [] : [auth.value]), ...secretsIn(request.body)] };
}

/** Makes sure that no more bytes of the request leave. true: certainly no byte has left. */
type ProvesUnsent = () => Promise<boolean>;

async function sendWrite(
  request: PlatformRequest,
  ask: Dispatcher.DispatchOptions,
  client: Client,
  deadlines: Deadlines,
  provesUnsent: ProvesUnsent,
): Promise<PlatformResponse> {
  const late = new AbortController();
  const giveUp = (): void => late.abort();
  const deadline: Expiring = { expire: giveUp };
  deadlines.add(deadline, request.timeoutMs);
  // This listener is removed afterwards: a combined signal would stay attached to the process's signal forever.
  request.signal?.addEventListener('abort', giveUp, { once: true });
  if (request.signal?.aborted === true) giveUp();
  const progress: Progress = { hasHeaders: false };
  try {
    // undici is used directly: loading the classes of fetch takes longer than all requests of a small plan.
    const asked = client.request({ ...ask, signal: late.signal });
    // undici checks the signal only after the socket is open.
    const answer = await Promise.race([asked, rejectOnAbort(late.signal)]);
    progress.hasHeaders = true;
    return await readAnswer(answer, request.answerBytesMax ?? RECORD_BYTES_MAX);
  } catch (error) {
    const isUnsent = await provesUnsent();
    throw transportError(error, isUnsent, progress, late.signal.aborted, request);
  } finally {
    deadlines.remove(deadline);
    request.signal?.removeEventListener('abort', giveUp);
  }
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]+$/;

function authorization(options: HttpTransportOptions): { readonly header: string; readonly value: Secret } | undefined {
  if (options.auth === undefined) return undefined;
  const { header } = options.auth;
  const value = options.auth.value();
  const text = value.reveal();
  // Checked here, because libraries quote an invalid header value in their errors.
  if (!HEADER_NAME.test(header) || !HEADER_VALUE.test(text) || text !== text.trim()) {
    throw invalidInput(
      'platform/invalid-credentials',
      `the token for ${options.url} (${value.origin}, header ${JSON.stringify(header)}) is empty or not valid in a header. Nothing was sent.`,
      'Check the value for a line break or a space at its end, and spec.auth.header for a misspelling.',
    );
  }
  return { header, value };
}
