import { createServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ServerSettings } from '../configuration/settings/server-spec.ts';
import { readTls } from './certificates.ts';
import { policyHeaders } from './headers.ts';
import { parseListen } from './hosts.ts';
import { defaultLimits } from './limits.ts';
import { problem } from './problem.ts';
import { cannotListen, urlOf } from './listening.ts';

/** A server that only answers for a process that is not ready. */
export interface WaitingServer {
  /** Without a slash at the end. */
  readonly url: string;
  /** Changes the code of the error because of which the controller waits. */
  waitFor(code: string): void;
  close(): Promise<void>;
}

const RETRY_AFTER_S = '5';

/**
 * Listens at the address of the API while the controller waits for its ledger: it is alive, so that nothing restarts it, and not
 * ready. Everybody gets the same answers: the code of the error, and no other fact about the database or the controllers that use it.
 * @param code of the error because of which it waits.
 * @throws PortolanError `give-up` when the address is in use, `invalid` when a certificate cannot be read.
 */
export async function startWaitingServer(settings: ServerSettings, code: string): Promise<WaitingServer> {
  const tls = readTls(settings);
  const { headerBytes, headersMs, requestMs, checkMs, connections } = defaultLimits;
  const limits = {
    maxHeaderSize: headerBytes,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
  };
  const server =
    tls === undefined ? createServer(limits) : createTlsServer({ ...limits, ...tls, minVersion: 'TLSv1.2' });
  server.maxConnections = connections;
  const headers = { ...policyHeaders({ tls }), connection: 'close' };
  let present = code;
  server.on('request', ({ method, url = '/' }, response) => {
    const path = method === 'GET' ? url.split('?')[0] : undefined;
    const { status, type, body, retryAfterS } = answerTo(path, present);
    const retry = retryAfterS === undefined ? {} : { 'retry-after': retryAfterS };
    send(response, status, { ...headers, 'content-type': type, ...retry }, body);
  });
  await listen(server, settings);
  return {
    url: urlOf(server, settings),
    waitFor: (other) => {
      present = other;
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: object;
  /** undefined: a repetition does not help soon. */
  readonly retryAfterS?: string;
}

function answerTo(path: string | undefined, code: string): Answer {
  if (path === '/healthz') return { status: 200, type: JSON_TYPE, body: { status: 'ok', lagMs: 0 } };
  if (path === '/readyz')
    return {
      status: 503,
      type: JSON_TYPE,
      body: { ready: false, reasons: ['waits for the ledger: the log says why'] },
      retryAfterS: RETRY_AFTER_S,
    };
  return code === 'controller/other-source' ? besideOthers(code) : withoutLedger(code);
}

function withoutLedger(code: string): Answer {
  const body = problem(503, code, {
    detail: 'The controller waits for its ledger. Nothing was done.',
    remedy: 'Retry in a few seconds. The log of the controller says why it waits.',
  });
  return { status: 503, type: PROBLEM_TYPE, body, retryAfterS: RETRY_AFTER_S };
}

/** Its ledger belongs to controllers of another source until they all end, which may be never. */
function besideOthers(code: string): Answer {
  const body = problem(503, code, {
    detail:
      'The controllers of another source use the ledger of this one, which waits until they have ended. Nothing was done.',
    remedy:
      'Ask the operator of this controller: its log says how it gets a ledger. A repetition helps only once it is ready.',
  });
  return { status: 503, type: PROBLEM_TYPE, body };
}

function send(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, body: object): void {
  response.writeHead(status, headers).end(JSON.stringify(body));
}

async function listen(server: Server, settings: ServerSettings): Promise<void> {
  const { host, port } = parseListen(settings.listen);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen({ host, port }, resolve);
    });
  } catch (error) {
    throw cannotListen(settings, error);
  }
}
