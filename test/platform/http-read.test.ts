import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpTransport, type HttpTransport, type HttpTransportOptions } from '../../src/platform/http.ts';
import { type PlatformRequest, TransportError } from '../../src/platform/transport.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { listen, startServer } from './http-server.ts';
import { selfSigned } from './self-signed.ts';

const read: PlatformRequest = {
  operation: 'getApplication',
  method: 'GET',
  path: '/openapi/v1/regions',
  query: {},
  isRead: true,
  timeoutMs: 5_000,
};
const write: PlatformRequest = { ...read, operation: 'addPort', method: 'POST', body: { port: '80' }, isRead: false };

function transportTo(url: string, options: Partial<HttpTransportOptions> = {}): HttpTransport {
  const http = createHttpTransport({ url, connections: 4, clock: systemClock, ...options });
  onTestFinished(() => http.close());
  return http;
}

async function failureOf(promise: Promise<unknown>): Promise<readonly [string, string]> {
  const error: unknown = await promise.then(
    () => expect.fail('it was answered'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof TransportError)) throw error;
  return [error.failure, error.code];
}

/** A server over TLS behind a line that carries nothing until it is told to. */
async function startStalled() {
  const { certPem, keyPem } = selfSigned();
  const seen: string[] = [];
  const server = createTlsServer({ cert: certPem, key: keyPem }, (request, response) => {
    seen.push(request.method ?? '');
    response.end('{}');
  });
  const port = await listen(server);
  const stalled: Socket[] = [];
  const line = createServer((socket) => {
    socket.on('error', () => {});
    socket.pause();
    stalled.push(socket);
    line.emit('stalled');
  });
  const linePort = await listen(line);
  onTestFinished(() => {
    for (const socket of stalled) socket.destroy();
    server.close();
    line.close();
  });
  return {
    url: `https://127.0.0.1:${linePort}`,
    certPem,
    seen,
    isReached: () => (stalled.length > 0 ? Promise.resolve() : once(line, 'stalled')),
    /** Lets everything through and waits until both ends have closed. */
    async carry(): Promise<void> {
      const closed = stalled.map(async (socket) => {
        const further = connect(port, '127.0.0.1');
        further.on('error', () => {});
        const ends = [once(socket, 'close'), once(further, 'close')];
        socket.pipe(further).pipe(socket);
        await Promise.all(ends);
      });
      await Promise.all(closed);
    },
  };
}

test.for(['the signal', 'the deadline'])('a read that %s ends while its socket opens never leaves', async (by) => {
  const server = await startStalled();
  const { send } = transportTo(server.url, { caPem: server.certPem });
  const stop = new AbortController();
  const isLate = by === 'the deadline';
  const failure = failureOf(send({ ...read, signal: stop.signal, timeoutMs: isLate ? 50 : 60_000 }));
  await server.isReached();
  if (!isLate) stop.abort(new Error('stopping'));
  // What it proved before stays what it proves: only a connection that failed shows that a read is unsent.
  expect(await failure).toEqual(['ambiguous', isLate ? 'ETIMEDOUT' : 'ABORTED']);
  await server.carry();
  expect(server.seen).toEqual([]);
});

test('a write that is cancelled while its socket opens is unsent, and its socket is closed', async () => {
  const server = await startStalled();
  const { send } = transportTo(server.url, { caPem: server.certPem });
  const stop = new AbortController();
  const failure = failureOf(send({ ...write, signal: stop.signal }));
  await server.isReached();
  stop.abort(new Error('stopping'));
  expect(await failure).toEqual(['unsent', 'ABORTED']);
  expect(server.seen).toEqual([]);
});

test.for([
  ['a read', read, 'ambiguous'],
  ['a write', write, 'unsent'],
] as const)('%s of a process that is stopping is not sent', async ([, request, verdict]) => {
  const server = await startServer((_, response) => response.end('{}'));
  const { send } = transportTo(server.url);
  expect(await failureOf(send({ ...request, signal: AbortSignal.abort(new Error('stopping')) }))).toEqual([
    verdict,
    'ABORTED',
  ]);
  await nextTurn();
  expect(server.seen).toEqual([]);
});

test.for([
  ['a read', read],
  ['a write', write],
] as const)('%s that is given up after it was sent may have been handled', async ([, request]) => {
  const stop = new AbortController();
  const server = await startServer(() => stop.abort(new Error('stopping')));
  const { send } = transportTo(server.url);
  expect(await failureOf(send({ ...request, signal: stop.signal }))).toEqual(['ambiguous', 'ABORTED']);
  expect(server.seen).toHaveLength(1);
});

test('an abort in the middle of a body ends the read and its connection, and the next read has another one', async () => {
  const stop = new AbortController();
  let isCut: Promise<unknown> | undefined;
  const server = await startServer((_, response) => {
    if (isCut !== undefined) return response.end('{}');
    isCut = once(response, 'close');
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.write('[', () => setImmediate(() => stop.abort(new Error('stopping'))));
  });
  const { send } = transportTo(server.url, { connections: 1 });
  expect(await failureOf(send({ ...read, signal: stop.signal }))).toEqual(['ambiguous', 'ABORTED']);
  await isCut;
  expect(await send(read)).toMatchObject({ status: 200, body: '{}' });
  expect(server.connections()).toBeGreaterThan(1);
});

test.for([
  ['larger than 4 MiB', 'TOO_LARGE', {}],
  ['of another encoding', 'ENCODING', { 'content-encoding': 'br' }],
] as const)('a body %s is given up at once with its connection, not read to an end', async ([, code, headers]) => {
  let isCut: Promise<unknown> | undefined;
  const server = await startServer((_, response) => {
    if (isCut !== undefined) return response.end('{}');
    isCut = once(response, 'close');
    response.writeHead(200, headers);
    const more = (): void => {
      if (!response.destroyed) response.write(' '.repeat(1024 * 1024), more);
    };
    return more();
  });
  const { send } = transportTo(server.url, { connections: 1 });
  expect(await failureOf(send(read))).toEqual(['ambiguous', code]);
  await isCut;
  expect(await send(read)).toMatchObject({ status: 200, body: '{}' });
});

test('letters that arrive in pieces are whole, and what is said before the answer proper is not the answer', async () => {
  const server = await startServer((_, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
    const bytes = Buffer.from('{"name":"später 区"}');
    response.writeHead(200, { 'content-type': 'application/json' });
    let at = 0;
    const next = (): void => {
      if (at === bytes.length) response.end();
      else response.write(bytes.subarray(at, (at += 1)), () => setImmediate(next));
    };
    next();
  });
  expect(await transportTo(server.url).send(read)).toEqual({
    status: 200,
    contentType: 'application/json',
    retryAfter: null,
    body: '{"name":"später 区"}',
  });
});

test('a read whose status has no body is resolved with an empty one; a status that there is not is no answer', async () => {
  let status = 204;
  const server = await startServer((_, response) => response.writeHead(status).end());
  const { send } = transportTo(server.url);
  expect(await send(read)).toMatchObject({ status: 204, body: '' });
  status = 600;
  for (const request of [read, write]) expect(await failureOf(send(request))).toEqual(['ambiguous', 'STATUS']);
});

test('a closed transport leaves no timer behind, however its requests ended', async () => {
  let sleeping = 0;
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => {
      sleeping += 1;
      return systemClock.sleep(ms, signal).finally(() => {
        sleeping -= 1;
      });
    },
  };
  const server = await startServer((_, response) => response.end('{}'));
  const silent = await startServer(() => {});
  const answering = createHttpTransport({ url: server.url, connections: 2, clock });
  const waiting = createHttpTransport({ url: silent.url, connections: 2, clock });
  const stop = new AbortController();
  const ends = [
    ...[read, read, read, write].map((request) => answering.send({ ...request, timeoutMs: 600_000 })),
    failureOf(waiting.send({ ...read, timeoutMs: 50 })),
    failureOf(waiting.send({ ...read, timeoutMs: 600_000, signal: stop.signal })),
  ];
  await sleep(100);
  stop.abort(new Error('stopping'));
  await Promise.all(ends);
  await Promise.all([answering.close(), waiting.close()]);
  await nextTurn();
  expect(sleeping).toBe(0);
});
