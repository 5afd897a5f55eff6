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
  close(): Promise<void>;
}

const RETRY_AFTER_S = '5';

/**
 * Listens at the address of the API while the controller waits for its ledger: it is alive, so that nothing restarts it, and not
 * ready. Everybody gets the same answers, without any fact about the database.
 * @throws PortolanError `give-up` when the address is in use, `invalid` when a certificate cannot be read.
 */
export async function startWaitingServer(settings: ServerSettings): Promise<WaitingServer> {
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
  server.on('request', ({ method, url = '/' }, response) => {
    const path = method === 'GET' ? url.split('?')[0] : undefined;
    const { status, type, body } = answerTo(path);
    send(
      response,
      status,
      { ...headers, 'content-type': type, ...(status === 503 ? { 'retry-after': RETRY_AFTER_S } : {}) },
      body,
    );
  });
  await listen(server, settings);
  return {
    url: urlOf(server, settings),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** The same codes as those of the API for a controller whose ledger does not answer. */
function answerTo(path: string | undefined): { readonly status: number; readonly type: string; readonly body: object } {
  if (path === '/healthz') return { status: 200, type: JSON_TYPE, body: { status: 'ok', lagMs: 0 } };
  if (path === '/readyz')
    return {
      status: 503,
      type: JSON_TYPE,
      body: { ready: false, reasons: ['waits for the ledger: the log says why'] },
    };
  return {
    status: 503,
    type: PROBLEM_TYPE,
    body: problem(503, 'ledger/unreachable', {
      detail: 'The controller waits for its ledger. Nothing was done.',
      remedy: 'Retry in a few seconds. The log of the controller says why it waits.',
    }),
  };
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
