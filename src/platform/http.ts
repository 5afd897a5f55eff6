import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, buildConnector, Client, type Dispatcher } from 'undici';
import { PortolanError } from '../model/errors.ts';
import type { Secret } from '../model/secret.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Progress, readAnswer, transportError } from './http-answer.ts';
import { answerBytesMax } from './operations.ts';
import { type PlatformRequest, type PlatformResponse, type Transport, TransportError } from './transport.ts';
import { revealed, secretsIn, withoutEchoes } from './wire.ts';

export interface HttpTransportOptions {
  /** Base URL as `checkPlatformUrl` returned it. */
  readonly url: string;
  /** Asked at every request, so that a renewed token is used at once. Any header will do: the API documents none. */
  readonly auth?: { readonly header: string; readonly value: () => Secret };
  /** PEM text of certificates to trust besides those of the system. */
  readonly caPem?: string;
  /** Sockets kept for reads, at most. */
  readonly connections: number;
  /** Until the socket is open, TLS included. Default 10 s. */
  readonly connectTimeoutMs?: number;
  readonly clock: Clock;
}

export interface HttpTransport {
  readonly send: Transport;
  /** Waits for what is under way, then closes the sockets kept for reads. */
  close(): Promise<void>;
}

type Connector = ReturnType<typeof buildConnector>;

/**
 * The one transport that meets a socket. Reads share a pool of kept connections; each write gets a fresh socket of
 * its own, because a kept one may be half closed, and then nobody can tell whether the request was handled. Nothing
 * is repeated and no redirect is followed.
 * @throws PortolanError `platform/invalid-tls` for a CA that is not PEM.
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const base = new URL(options.url);
  const connect = createConnector(options);
  // Failures of connecting are remembered by their error: they alone prove that no byte of a request left.
  const neverConnected = new WeakSet<Error>();
  const pool = new Agent({
    connections: options.connections,
    pipelining: 1,
    connect: (details, callback) =>
      connect(details, (...result: Parameters<typeof callback>) => {
        if (result[0] !== null) neverConnected.add(result[0]);
        callback(...result);
      }),
  });

  async function read(request: PlatformRequest): Promise<PlatformResponse> {
    return await exchange(
      request,
      options,
      base,
      pool,
      async (error) => error instanceof Error && neverConnected.has(error),
    );
  }

  async function write(request: PlatformRequest): Promise<PlatformResponse> {
    let isOpen = false;
    const client = new Client(base.origin, {
      pipelining: 1,
      connect: (details, callback) =>
        connect(details, (...result: Parameters<typeof callback>) => {
          // Set before undici can write the first byte; as long as it is false, none has left.
          if (result[0] === null) isOpen = true;
          callback(...result);
        }),
    });
    try {
      return await exchange(request, options, base, client, async () => {
        // First make sure that nothing can leave any more, then look whether something may have.
        await client.destroy();
        return !isOpen;
      });
    } finally {
      await client.destroy();
    }
  }

  return {
    send: (request) => (request.isRead ? read(request) : write(request)),
    close: () => pool.close(),
  };
}

function createConnector(options: HttpTransportOptions): Connector {
  const timeout = options.connectTimeoutMs ?? 10_000;
  // Verification is never left to the environment, and the context is built once: with a hundred roots it is slow.
  const tls = { rejectUnauthorized: true, minVersion: 'TLSv1.2' as const };
  if (options.caPem === undefined) return buildConnector({ timeout, ...tls });
  try {
    const certificates = options.caPem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    if (certificates.length === 0) throw new Error('there is no certificate in it');
    // A secure context takes rubbish without a word; parsing each certificate does not.
    for (const certificate of certificates) new X509Certificate(certificate);
    const secureContext = createSecureContext({
      ca: [...getCACertificates('default'), options.caPem],
      minVersion: tls.minVersion,
    });
    return buildConnector({ timeout, ...tls, secureContext });
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

/** Is it certain that no byte of the request left, and that none will? */
type ProvesUnsent = (error: unknown) => Promise<boolean>;

async function exchange(
  request: PlatformRequest,
  options: HttpTransportOptions,
  base: URL,
  dispatcher: Dispatcher,
  provesUnsent: ProvesUnsent,
): Promise<PlatformResponse> {
  const url = addressOf(request, base);
  const auth = authorization(options);
  const secrets = [...(auth === undefined ? [] : [auth.value]), ...secretsIn(request.body)];
  const body = request.body === undefined ? undefined : JSON.stringify(revealed(request.body));
  const finished = new AbortController();
  const late = new AbortController();
  const inTime = options.clock.sleep(request.timeoutMs, finished.signal);
  void inTime.then(
    () => late.abort(),
    () => {},
  );
  // A listener of our own, taken off again: a combined signal would hang on to the process's own for ever.
  const giveUp = (): void => late.abort();
  request.signal?.addEventListener('abort', giveUp, { once: true });
  if (request.signal?.aborted === true) giveUp();
  const progress: Progress = { hasHeaders: false };
  try {
    // Straight to undici: the classes of fetch take longer to load than all of the requests of a small plan.
    const asked = dispatcher.request({
      origin: base.origin,
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: {
        accept: 'application/json',
        'user-agent': 'portolan',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(auth === undefined ? {} : { [auth.header]: auth.value.reveal() }),
      },
      body: body ?? null,
      signal: late.signal,
      // The clock's deadline is the one that counts; these are the second line, should it ever stand still.
      headersTimeout: request.timeoutMs + 5_000,
      bodyTimeout: request.timeoutMs + 5_000,
      reset: !request.isRead,
    });
    // undici looks at the signal only once the socket is open.
    const answer = await Promise.race([asked, abortOf(late.signal)]);
    progress.hasHeaders = true;
    const response = await readAnswer(answer, answerBytesMax(request.operation));
    return { ...response, body: withoutEchoes(response.body, secrets) };
  } catch (error) {
    const isUnsent = await provesUnsent(error);
    throw transportError(error, isUnsent, progress, late.signal.aborted, request);
  } finally {
    finished.abort();
    request.signal?.removeEventListener('abort', giveUp);
  }
}

/** Rejects when the signal fires; never resolves. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** The token may go to the configured origin only, so an address that leads elsewhere is never asked. */
function addressOf(request: PlatformRequest, base: URL): URL {
  const path = `${base.pathname.replace(/\/+$/, '')}${request.path}`;
  const url = new URL(path, base.origin);
  // A parser resolves `..` and takes `//host` for another host; then the path is no longer the one that was asked.
  if (url.origin !== base.origin || url.pathname !== path || url.search !== '') {
    throw new TransportError(
      'unsent',
      'ADDRESS',
      `${request.operation}: the address does not stay within ${base.origin}`,
    );
  }
  url.search = new URLSearchParams(request.query).toString();
  return url;
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]+$/;

function authorization(options: HttpTransportOptions): { readonly header: string; readonly value: Secret } | undefined {
  if (options.auth === undefined) return undefined;
  const { header } = options.auth;
  const value = options.auth.value();
  const text = value.reveal();
  // Checked here, because the libraries below quote a bad header value in their errors.
  if (!HEADER_NAME.test(header) || !HEADER_VALUE.test(text) || text !== text.trim()) {
    throw new PortolanError({
      code: 'platform/invalid-credentials',
      disposition: 'invalid',
      message: `the token for ${options.url} (${value.origin}, header ${JSON.stringify(header)}) is empty or cannot stand in a header; nothing was sent`,
      remedy: 'Check the value for a line break or a space at its end, and spec.auth.header for a misspelling.',
    });
  }
  return { header, value };
}
