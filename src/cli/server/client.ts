import ky, { type KyInstance, type Options } from 'ky';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import type { Secret } from '../../model/secret.ts';
import type { Surroundings } from '../session/command.ts';
import { openSecret } from '../session/secrets.ts';
import { answerProblem, isRecord, notPortolan, unreachableServer } from './answers.ts';
import { requiredServer, type ServerFlags } from './options.ts';
import { type ServerSentEvent, serverSentEvents } from '../../runtime/server-sent.ts';

/** Parameters of a query. Several values of one name become several parameters. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Sends requests to a running controller. Every failure is a PortolanError with a remedy. */
export interface ServerClient {
  readonly url: string;
  /** @param expect a field of the answer. An answer without it is not from this API. */
  get(path: string, expect: string, query?: Query): Promise<unknown>;
  /** Yields all items of a list, page by page. */
  list(path: string, query?: Query): AsyncIterable<unknown>;
  /** @param body JSON; undefined: none. */
  post(path: string, expect: string, body?: unknown): Promise<unknown>;
  /** Yields events until the server ends the stream, or stays silent for too long. */
  stream(query: Query): AsyncIterable<ServerSentEvent>;
}

/** Time limit of an answer. Plans wait for the platform, which may be slow; the server's own limit is lower. */
const ANSWER_MS = 150_000;
/** Silence after which a stream is considered dead. The server sends a sign of life every 15 s. */
const SILENCE_MS = 60_000;
const PAGE = 500;

/**
 * Creates a client of the server that the flags name.
 * @throws PortolanError `invalid` when no server is named, its address is not valid, or the token cannot be read.
 */
export function openServer(flags: ServerFlags, surroundings: Surroundings): ServerClient {
  const url = checkedUrl(requiredServer(flags.server), surroundings);
  const token = readToken(flags, surroundings);
  const http = ky.create({
    baseUrl: `${url}/api/v1/`,
    headers: {
      'user-agent': 'portolan',
      ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }),
    },
    retry: { limit: 0 },
    timeout: false,
    throwHttpErrors: false,
    // A redirect would send the token to another server.
    redirect: 'manual',
  });
  const asking = askingOf(url, http, surroundings);
  return {
    url,
    get: (path, expect, query) => asking.ask(path, expect, { method: 'get', searchParams: parametersOf(query) }),
    post: (path, expect, body) => asking.ask(path, expect, { method: 'post', json: body }),
    async *list(path, query) {
      let cursor: string | undefined;
      do {
        const searchParams = parametersOf({ limit: PAGE, ...query, cursor });
        const page = await asking.ask(path, 'items', { method: 'get', searchParams });
        if (!Array.isArray(page['items'])) throw notPortolan(url);
        yield* page['items'] as readonly unknown[];
        cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : undefined;
      } while (cursor !== undefined);
    },
    stream: (query) => asking.stream(query),
  };
}

function parametersOf(query: Query = {}): URLSearchParams {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each): [string, string] => [name, String(each)]),
  );
  return new URLSearchParams(pairs);
}

/** Sends requests with a time limit for each answer. */
function askingOf(url: string, http: KyInstance, { clock, signal: ended }: Surroundings) {
  const failure = (error: unknown, signal: AbortSignal): PortolanError =>
    error instanceof PortolanError ? error : unreachableServer(url, signal.aborted ? signal.reason : error);

  async function ask(path: string, expect: string, options: Options): Promise<Readonly<Record<string, unknown>>> {
    const stop = new AbortController();
    const signal = AbortSignal.any([ended, stop.signal]);
    clock.sleep(ANSWER_MS, signal).then(
      () => stop.abort(new Error(`no answer within ${ANSWER_MS / 1000} s`)),
      () => {}, // It answered.
    );
    try {
      const response = await http(path, { ...options, signal });
      return understood(url, response, await response.text(), expect);
    } catch (error) {
      throw failure(error, signal);
    } finally {
      stop.abort(new Error('it is over'));
    }
  }

  async function* stream(query: Query): AsyncIterable<ServerSentEvent> {
    const stop = new AbortController();
    const signal = AbortSignal.any([ended, stop.signal]);
    let heardMs = clock.monotonic();
    void (async () => {
      while (!signal.aborted) {
        await clock.sleep(SILENCE_MS / 4, signal).catch(() => {});
        if (clock.monotonic() - heardMs > SILENCE_MS) stop.abort(new Error('the server fell silent'));
      }
    })();
    try {
      const options = { searchParams: parametersOf(query), signal, headers: { accept: 'text/event-stream' } };
      const response = await http.get('events/stream', options);
      if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
        understood(url, response, await response.text(), '');
        throw notPortolan(url);
      }
      const bytes = response.body as unknown as AsyncIterable<Uint8Array>;
      for await (const event of serverSentEvents(bytes)) {
        heardMs = clock.monotonic();
        if (event.data !== '') yield event;
      }
    } catch (error) {
      throw failure(error, signal);
    } finally {
      stop.abort(new Error('it is over'));
    }
  }

  return { ask, stream };
}

function understood(url: string, response: Response, text: string, expect: string): Readonly<Record<string, unknown>> {
  const isJson = /^application\/(?:problem\+)?json\b/.test(response.headers.get('content-type') ?? '');
  const body = isJson ? parsed(text) : undefined;
  if (response.ok && isRecord(body) && expect in body) return body;
  throw answerProblem(url, response.status, body);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Broken off, or not what it says: the caller knows what that means.
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function checkedUrl(text: string, { terminal }: Surroundings): string {
  const url = URL.parse(text);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw invalidInput(
      'cli/bad-server',
      'The value of --server is not an http or https address without user, query and fragment.',
      'Pass an address such as https://portolan.example.com. Put the token into --token-file.',
    );
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    terminal.err.write(`note: ${url.origin} uses plain http: others on the network can read the token\n`);
  }
  return `${url.origin}${url.pathname.replace(/\/(?:api\/v1\/?)?$/, '')}`;
}

function readToken({ tokenFile }: ServerFlags, surroundings: Surroundings): Secret | undefined {
  if (tokenFile !== undefined) return openSecret({ file: tokenFile }, '--token-file', surroundings)();
  const variable = 'PORTOLAN_SERVER_TOKEN';
  if ((surroundings.env[variable] ?? '') === '') return undefined;
  return openSecret({ env: variable }, 'the token for --server', surroundings)();
}
