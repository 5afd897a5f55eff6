import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/model/secret.ts';
import { createHttpTransport, type HttpTransportOptions } from '../../src/platform/http.ts';
import { type PlatformRequest, type Transport, TransportError, LIST_BYTES_MAX } from '../../src/platform/transport.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { listen, startServer } from './http-server.ts';
import { selfSigned } from './self-signed.ts';

const TOKEN = 'token-5e6f7a8b9c';
const read: PlatformRequest = {
  operation: 'getApplication',
  method: 'GET',
  path: '/openapi/v1/regions',
  query: {},
  isRead: true,
  timeoutMs: 5_000,
};
const write: PlatformRequest = {
  ...read,
  operation: 'addPort',
  method: 'POST',
  body: { port: '80' },
  isRead: false,
};

function transportTo(url: string, options: Partial<HttpTransportOptions> = {}): Transport {
  const http = createHttpTransport({
    url,
    auth: { header: 'Authorization', value: () => new Secret(TOKEN, 'env PORTOLAN_TOKEN') },
    connections: 4,
    clock: systemClock,
    ...options,
  });
  onTestFinished(() => http.close());
  return http.send;
}

async function failureOf(promise: Promise<unknown>): Promise<TransportError> {
  const error = await promise.then(
    (value) => expect.fail(`resolved with ${inspect(value)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TransportError);
  return error as TransportError;
}

test('an answer of any status is resolved with its status, type, Retry-After and text', async () => {
  const server = await startServer((_, response) => {
    response.writeHead(503, { 'content-type': 'text/html', 'retry-after': '7' }).end('<h1>später</h1>');
  });
  expect(await transportTo(server.url)(read)).toEqual({
    status: 503,
    contentType: 'text/html',
    retryAfter: '7',
    body: '<h1>später</h1>',
  });
});

test('a status that has no body is resolved with an empty one', async () => {
  const server = await startServer((_, response) => response.writeHead(204).end());
  expect(await transportTo(server.url)(write)).toMatchObject({ status: 204, body: '' });
});

test('method, path, query, JSON body and the raw token go out', async () => {
  const server = await startServer((_, response) => response.end('{}'));
  const path = '/openapi/v1/teams/a%2Fb/regions/%E5%8C%BA/apps/1/install';
  const body = { port: '80', key: new Secret('store-key-1', 'env K'), none: null, left: undefined, list: [1, true] };
  await transportTo(`${server.url}/console`)({ ...write, path, query: { is_deploy: 'true' }, body });
  expect(server.seen).toMatchObject([
    {
      method: 'POST',
      url: `/console${path}?is_deploy=true`,
      body: '{"port":"80","key":"store-key-1","none":null,"list":[1,true]}',
      headers: { authorization: TOKEN, 'content-type': 'application/json', accept: 'application/json' },
    },
  ]);
});

test('a header of any name carries the credential, and without auth there is none', async () => {
  const server = await startServer((_, response) => response.end('{}'));
  await transportTo(server.url, { auth: { header: 'X-Token', value: () => new Secret('t', 'env T') } })(read);
  await createHttpTransport({ url: server.url, connections: 1, clock: systemClock }).send(write);
  expect(server.seen.map(({ headers }) => [headers['x-token'], headers.authorization])).toEqual([
    ['t', undefined],
    [undefined, undefined],
  ]);
});

test('a renewed token is used by the next request', async () => {
  const server = await startServer((_, response) => response.end('{}'));
  let token = 'first';
  const send = transportTo(server.url, { auth: { header: 'Authorization', value: () => new Secret(token, 'file t') } });
  await send(read);
  token = 'second';
  await send(read);
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['first', 'second']);
});

test('reads share the few connections of the pool; every write has a fresh one, closed behind it', async () => {
  const server = await startServer((_, response) => response.end('{}'));
  const send = transportTo(server.url);
  for (let count = 0; count < 20; count += 1) await send(read);
  const ofReads = server.connections();
  expect(ofReads).toBeLessThanOrEqual(4);
  for (let count = 0; count < 5; count += 1) await send(write);
  expect(server.connections()).toBe(ofReads + 5);
  expect(server.seen.slice(20).map(({ headers }) => headers.connection)).toEqual(Array(5).fill('close'));
});

test.for([301, 302, 303, 307, 308])('a %i is never followed, for a read or a write', async (status) => {
  const elsewhere = await startServer((_, response) => response.end('{}'));
  const server = await startServer((_, response) => {
    response.writeHead(status, { location: `${elsewhere.url}/stolen` }).end();
  });
  const send = transportTo(server.url);
  expect(await send(read)).toMatchObject({ status });
  expect(await send(write)).toMatchObject({ status });
  expect(server.seen).toHaveLength(2);
  expect(elsewhere.seen).toEqual([]);
});

test.for([
  ['a read', read],
  ['a write', write],
] as const)(
  '%s whose connection is reset after it was handled is ambiguous, and was sent once',
  async ([, request]) => {
    const server = await startServer((incoming) => incoming.socket.resetAndDestroy());
    const error = await failureOf(transportTo(server.url)(request));
    expect(error.failure).toBe('ambiguous');
    expect(server.seen).toHaveLength(1);
  },
);

test.for([
  ['a read', read],
  ['a write', write],
] as const)('%s on a refused port is unsent', async ([, request]) => {
  const gone = createServer();
  const port = await listen(gone);
  await new Promise((resolve) => gone.close(resolve));
  const error = await failureOf(transportTo(`http://127.0.0.1:${port}`)(request));
  expect([error.failure, error.code]).toEqual(['unsent', 'ECONNREFUSED']);
});

test('a host that does not resolve is unsent', async () => {
  const error = await failureOf(transportTo('http://no-such-host.invalid')(write));
  expect(error.failure).toBe('unsent');
  expect(['ENOTFOUND', 'EAI_AGAIN']).toContain(error.code);
});

test.for([
  ['a read', read],
  ['a write', write],
] as const)('%s whose TLS handshake fails is unsent', async ([, request]) => {
  const plain = createServer((socket) => socket.end('HTTP/1.1 400 no TLS here\r\n\r\n'));
  const port = await listen(plain);
  onTestFinished(() => void plain.close());
  expect((await failureOf(transportTo(`https://127.0.0.1:${port}`)(request))).failure).toBe('unsent');
});

test('a connection that is reset during the TLS handshake is unsent, though its code alone would not say so', async () => {
  const resetting = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const port = await listen(resetting);
  onTestFinished(() => void resetting.close());
  const error = await failureOf(transportTo(`https://127.0.0.1:${port}`)(write));
  expect([error.failure, error.code]).toEqual(['unsent', 'ECONNRESET']);
});

test.for([
  ['a read', read],
  ['a write', write],
] as const)('%s that is not answered in time is ambiguous', async ([, request]) => {
  const server = await startServer(() => {});
  const error = await failureOf(transportTo(server.url)({ ...request, timeoutMs: 100 }));
  expect([error.failure, error.code]).toEqual(['ambiguous', 'ETIMEDOUT']);
  expect(server.seen).toHaveLength(1);
});

test('a write whose socket does not open in time is unsent', async () => {
  const silent = createServer(() => {}); // accepts TCP, never speaks TLS
  const port = await listen(silent);
  onTestFinished(() => void silent.close());
  const error = await failureOf(transportTo(`https://127.0.0.1:${port}`)({ ...write, timeoutMs: 100 }));
  expect([error.failure, error.code]).toEqual(['unsent', 'ETIMEDOUT']);
});

test('a body that drips in is cut off at the deadline of the whole request', async () => {
  const server = await startServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  });
  const error = await failureOf(transportTo(server.url)({ ...read, timeoutMs: 200 }));
  expect([error.failure, error.code]).toEqual(['ambiguous', 'ETIMEDOUT']);
});

test.for([
  ['shorter than its Content-Length', { 'content-length': '100' }],
  ['without its last chunk', { 'transfer-encoding': 'chunked' }],
] as const)('a body %s is no answer', async ([, headers]) => {
  const server = await startServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.write('[{"service_id":"a"}', () => response.socket?.end());
  });
  const send = transportTo(server.url);
  for (const request of [read, write]) {
    const error = await failureOf(send(request));
    expect([error.failure, error.code]).toEqual(['ambiguous', 'TRUNCATED']);
  }
});

test('a record of more than 4 MiB is refused; a list of that size is read', async () => {
  const body = `[${' '.repeat(4 * 1024 * 1024)}]`;
  const server = await startServer((_, response) => response.end(body));
  const send = transportTo(server.url);
  const error = await failureOf(send(read));
  expect([error.failure, error.code]).toEqual(['ambiguous', 'TOO_LARGE']);
  expect((await send({ ...read, operation: 'listPorts', answerBytesMax: LIST_BYTES_MAX })).body).toHaveLength(
    body.length,
  );
});

test('an encoding that was not asked for is refused, not shown as garbage', async () => {
  const server = await startServer((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'));
  expect((await failureOf(transportTo(server.url)(read))).code).toBe('ENCODING');
});

test('an abort ends a read', async () => {
  const server = await startServer(() => {});
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('stopping')), 50);
  expect((await failureOf(transportTo(server.url)({ ...read, signal: stop.signal }))).code).toBe('ABORTED');
});

test.for(['//evil.example.com/openapi/v1', '/openapi/v1/../../admin', '/openapi/v1/%2e%2e/x', '/openapi?x=1'])(
  'the address %s is not asked: the token stays with its origin',
  async (path) => {
    const server = await startServer((_, response) => response.end('{}'));
    const error = await failureOf(transportTo(server.url)({ ...write, path }));
    expect([error.failure, error.code]).toEqual(['unsent', 'ADDRESS']);
    expect(server.seen).toEqual([]);
  },
);

test.for(['', 'two\nlines', 'ends with a break\n', ' padded', 'snow☃man'])(
  'the token %j is refused before anything is sent, and not quoted',
  async (token) => {
    const server = await startServer((_, response) => response.end('{}'));
    const auth = { header: 'Authorization', value: () => new Secret(token, 'file /run/token') };
    const error: unknown = await transportTo(server.url, { auth })(write).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'platform/invalid-credentials', disposition: 'invalid' });
    if (token !== '') expect(inspect(error, { depth: null })).not.toContain(token.trim());
    expect(server.seen).toEqual([]);
  },
);

test('a CA that is no certificate is refused with the setting to correct', () => {
  const options = { url: 'https://x.test', connections: 1, clock: systemClock };
  for (const caPem of ['', 'not pem', '-----BEGIN CERTIFICATE-----\nrubbish\n-----END CERTIFICATE-----\n']) {
    expect(() => createHttpTransport({ ...options, caPem })).toThrow(/is not a PEM certificate/);
  }
});

test('a certificate of an authority of our own is trusted once its CA is given, and unsent without', async () => {
  const { certPem, keyPem } = selfSigned();
  let handled = 0;
  const server = createTlsServer({ cert: certPem, key: keyPem }, (_, response) => {
    handled += 1;
    response.end('{}');
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${port}`;
  for (const request of [read, write]) {
    const error = await failureOf(transportTo(url)(request));
    expect([error.failure, error.code]).toEqual(['unsent', 'DEPTH_ZERO_SELF_SIGNED_CERT']);
    expect(await transportTo(url, { caPem: certPem })(request)).toMatchObject({ status: 200 });
  }
  expect(handled).toBe(2);
  const another = await failureOf(transportTo(url, { caPem: selfSigned().certPem })(write));
  expect(another.failure).toBe('unsent');
});

test('secrets are in no error and no answer, even where the server quotes them', async () => {
  const key = 'store-key-"quoted"-1';
  const server = await startServer((incoming, response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        msg: `bad token ${incoming.headers.authorization} for ${key}`,
        detail: `${encodeURIComponent(key)} ${Buffer.from(TOKEN).toString('base64')}`,
      }),
    );
  });
  const send = transportTo(server.url);
  const answer = await send({ ...write, body: { market_access_key: new Secret(key, 'env STORE_KEY') } });
  expect(JSON.parse(answer.body)).toEqual({
    msg: 'bad token [secret] for [secret]',
    detail: '[secret] [secret]',
  });
  const resetting = await startServer((incoming) => incoming.socket.resetAndDestroy());
  const error = await failureOf(
    transportTo(resetting.url)({ ...write, body: { key: new Secret(key, 'env STORE_KEY') } }),
  );
  const everything = inspect(error, { depth: null, showHidden: true });
  for (const secret of [TOKEN, key]) expect(everything).not.toContain(secret);
});

test('a write that may not leave any more when its socket is open is not sent', async () => {
  const server = await startServer((_, response) => response.end('{}'));
  const send = transportTo(server.url);
  expect(await failureOf(send({ ...write, mayLeave: () => false }))).toMatchObject({
    failure: 'unsent',
    code: 'WITHHELD',
  });
  expect(server.seen).toEqual([]);
  expect(await send({ ...write, mayLeave: () => true })).toMatchObject({ status: 200 });
  expect(server.seen).toHaveLength(1);
});
