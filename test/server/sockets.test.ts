import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { request } from 'node:https';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PortolanError } from '../../src/model/errors.ts';
import { selfSigned } from '../platform/self-signed.ts';
import { application, planOf } from './controller.ts';
import { serve, TOKENS } from './serving.ts';

/** Writes to a socket of its own, and tells what came back until it was closed. */
function talk(url: string, write: (send: (text: string) => void) => void): Promise<{ text: string }> {
  const { port } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), '127.0.0.1', () => write((part) => socket.write(part)));
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
    socket.on('error', () => {}); // Cut off is what is asked for.
    socket.on('close', () => resolve({ text }));
  });
}

const authorized = `Host: localhost\r\nAuthorization: Bearer ${TOKENS.viewer}\r\n`;

test('headers that come drop by drop are cut off', async () => {
  const { url } = await serve({ limits: { headersMs: 300, requestMs: 600, checkMs: 50 } });
  let drops: NodeJS.Timeout | undefined;
  const { text } = await talk(url, (send) => {
    send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n');
    drops = setInterval(() => send('X-A: b\r\n'), 50);
  });
  expect(text).toContain('HTTP/1.1 408');
  clearInterval(drops);
  expect(text).toContain('server/too-slow');
});

test('a body that comes drop by drop is cut off', async () => {
  const { url } = await serve({ limits: { headersMs: 300, requestMs: 600, checkMs: 50 } });
  let drops: NodeJS.Timeout | undefined;
  const { text } = await talk(url, (send) => {
    send(`POST /api/v1/plan HTTP/1.1\r\n${authorized}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`);
    drops = setInterval(() => send(' '), 50);
  });
  clearInterval(drops);
  expect(text).toContain('408');
});

test('a socket on which nothing happens is closed', async () => {
  const { url } = await serve({ limits: { idleSocketMs: 300, headersMs: 60_000, requestMs: 60_000 } });
  expect((await talk(url, () => {})).text).toBe('');
});

test.for([
  ['/api/v1/applications/shop/suspend', { bodyBytes: 1_000 }],
  ['/api/v1/plan', { planBodyBytes: 1_000 }],
  ['/webhooks/my-github', { webhookBodyBytes: 1_000 }],
] as const)(
  'a body that is too large for %s is refused, declared or not, and the rest of it not read',
  async ([path, limits]) => {
    const { url } = await serve({ limits });
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKENS.operator}\r\nContent-Type: application/json\r\n`;
    const declared = await talk(url, (send) => send(`${head}Content-Length: 100000000\r\n\r\n{`));
    expect(declared.text).toContain('HTTP/1.1 413');
    expect(declared.text).toContain('server/too-large');
    const chunk = `800\r\n${' '.repeat(0x800)}\r\n`;
    const chunked = await talk(url, (send) => {
      send(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      for (let times = 0; times < 50; times += 1) send(chunk);
    });
    expect(chunked.text).toContain('HTTP/1.1 413');
  },
);

test('whoever has no token is refused before the body is read', async () => {
  const { url } = await serve();
  const { text } = await talk(url, (send) => {
    send(
      'POST /api/v1/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\nConnection: close\r\n\r\n',
    );
  });
  expect(text).toContain('HTTP/1.1 401');
});

test('too many headers, and what is no HTTP at all, are refused', async () => {
  const { url } = await serve({ limits: { headerBytes: 2_000 } });
  const large = await talk(url, (send) =>
    send(`GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ${'a'.repeat(5_000)}\r\n\r\n`),
  );
  expect(large.text).toContain('HTTP/1.1 431');
  expect((await talk(url, (send) => send('\u0016\u0003\u0001 hello\r\n\r\n'))).text).toContain('HTTP/1.1 400');
});

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const FLOOD_LIMITS = { idleSocketMs: 600_000, headersMs: 600_000, requestMs: 600_000 };

/** Opens a connection, sends the beginning of a request and waits until the server has seen it. */
function halfSend(url: string, text: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {}); // It may be closed to make room.
  return new Promise((resolve) => socket.on('connect', () => socket.write(text, () => resolve(socket))));
}

test.for([
  ['headers', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n'],
  ['nothing', ''],
  [
    'the body of a webhook',
    'POST /webhooks/my-generic HTTP/1.1\r\nHost: localhost\r\nX-Portolan-Signature: sha256=00\r\nContent-Length: 9\r\n\r\n{',
  ],
] as const)('1,024 half-sent requests (%s) delay no probe', async ([, text]) => {
  const { url } = await serve({ settings: { connectionsPerAddress: 1_024 }, limits: FLOOD_LIMITS });
  const flood = await Promise.all(Array.from({ length: 1_024 }, () => halfSend(url, text)));
  for (let probe = 0; probe < 5; probe += 1)
    expect((await talk(url, (send) => send(HEALTH))).text).toContain('HTTP/1.1 200');
  for (const socket of flood) socket.destroy();
});

test('one address takes no more than its share, and its newest request is answered', async () => {
  const { url } = await serve({ settings: { connectionsPerAddress: 2 }, limits: FLOOD_LIMITS });
  const first = await halfSend(url, 'GET');
  const closed = once(first, 'close');
  const second = await halfSend(url, 'GET');
  expect((await talk(url, (send) => send(HEALTH))).text).toContain('HTTP/1.1 200');
  await closed;
  expect(second.destroyed).toBe(false);
  second.destroy();
});

test('a request that is being answered is never closed to make room; the new connection is', async () => {
  const serving = await serve({ settings: { connectionsPerAddress: 1 } });
  const { url, api } = serving;
  let answer = (): void => {};
  let isAsked = false;
  api.planned = () =>
    new Promise((resolve) => {
      isAsked = true;
      answer = () => resolve(planOf());
    });
  const plan = talk(url, (send) => send(`GET /api/v1/plan HTTP/1.1\r\n${authorized}Connection: close\r\n\r\n`));
  await expect.poll(() => isAsked).toBe(true);
  expect((await talk(url, (send) => send(HEALTH))).text).toBe('');
  answer();
  expect((await plan).text).toContain('HTTP/1.1 200');
});

test('a trusted proxy has no share of its own, and a reload can take the trust back', async () => {
  const serving = await serve({
    settings: { connectionsPerAddress: 1, trustedProxies: ['127.0.0.0/8'] },
    limits: FLOOD_LIMITS,
  });
  const { url, reload, settings } = serving;
  const first = await halfSend(url, 'GET');
  expect((await talk(url, (send) => send(HEALTH))).text).toContain('HTTP/1.1 200');
  expect(first.destroyed).toBe(false);
  reload({ ...settings, trustedProxies: [] });
  const closed = once(first, 'close');
  expect((await talk(url, (send) => send(HEALTH))).text).toContain('HTTP/1.1 200');
  await closed;
});

test('the socket of a request that came too late is destroyed, even if the client keeps its side open', async () => {
  const { url } = await serve({ limits: { ...FLOOD_LIMITS, headersMs: 100, requestMs: 100, checkMs: 20 } });
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  socket.write('GET /healthz HTTP/1.1\r\n');
  await once(socket, 'end');
  expect(text).toContain('HTTP/1.1 408');
  // A destroyed socket answers what comes after it with a reset; one that is only half-closed would take it.
  const drops = setInterval(() => socket.write('X-A: b\r\n'), 20);
  const [error] = (await once(socket, 'error').catch((reason: unknown) => [reason])) as [NodeJS.ErrnoException];
  clearInterval(drops);
  expect(error.code).toMatch(/EPIPE|ECONNRESET/);
});

test('a request with two Host headers is refused', async () => {
  const { url } = await serve();
  const { text } = await talk(url, (send) =>
    send('GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example.com\r\nConnection: close\r\n\r\n'),
  );
  expect(text).toContain('HTTP/1.1 400');
  expect(text).toContain('server/two-hosts');
});

test.for([
  ['evil.example.com', 421],
  ['evil.example.com:80', 421],
  ['localhost.evil.example.com', 421],
  ['', 421],
  ['localhost', 200],
  ['LOCALHOST:7780', 200],
  ['127.0.0.1', 200],
  ['10.1.2.3:8080', 200],
  ['[::1]:80', 200],
  ['portolan.example.com', 200],
  ['Portolan.example.com:443', 200],
] as const)('Host: %s is %i', async ([host, status]) => {
  const { url } = await serve({ settings: { hosts: ['Portolan.Example.com'] } });
  const { text } = await talk(url, (send) =>
    send(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
  );
  expect(text).toContain(`HTTP/1.1 ${status}`);
});

test('every answer says how a browser has to treat it, and lets no other origin in', async () => {
  const { ask } = await serve();
  for (const path of ['/healthz', '/api/v1/status', '/nothing', '/metrics']) {
    const { headers } = await ask(path, { headers: { origin: 'https://evil.example.com' } });
    expect(Object.fromEntries(headers), path).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(headers.get('access-control-allow-origin')).toBe(null);
    expect(headers.get('set-cookie')).toBe(null);
  }
});

test.for([
  ['__proto__ in JSON', 'application/json', '{"reason":"x","__proto__":{"a":1}}', 400],
  ['constructor in JSON', 'application/json', '{"reason":"x","constructor":{"prototype":{"a":1}}}', 400],
  ['half of JSON', 'application/json', '{"reason":', 400],
  ['nothing', 'application/json', '', 400],
  ['a form', 'application/x-www-form-urlencoded', 'reason=x', 415],
  ['text', 'text/plain', '{"reason":"x"}', 415],
] as const)('a body of %s is refused', async ([, type, body, status]) => {
  const { ask, api } = await serve();
  const headers = { 'content-type': type };
  const answer = await ask('/api/v1/applications/shop/suspend', { method: 'POST', role: 'operator', headers, body });
  expect(answer.status).toBe(status);
  expect(api.asked).toEqual([]);
});

test('a server closes, whatever its clients do', async () => {
  const serving = await serve({ limits: { closeMs: 300 } });
  serving.api.planned = (_files, _options, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  const plan = serving.ask('/api/v1/plan');
  const stream = talk(serving.url, (send) => send(`GET /api/v1/events/stream HTTP/1.1\r\n${authorized}\r\n`));
  const half = talk(serving.url, (send) =>
    send(`POST /api/v1/plan HTTP/1.1\r\n${authorized}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`),
  );
  await expect.poll(() => serving.api.listeners).toBe(1);
  await serving.close();
  expect((await plan).body).toMatchObject({ status: 503, code: 'server/closing' });
  expect((await stream).text).toContain('retry: 2000');
  await half;
  await expect(fetch(`${serving.url}/healthz`)).rejects.toThrow();
});

test('a server that closes does not say that nothing was changed where a commit was not answered', async () => {
  const serving = await serve();
  const unanswered = new PortolanError({ code: 'ledger/unanswered', disposition: 'retry', message: 'm', remedy: 'r' });
  const begun = Promise.withResolvers<void>();
  serving.api.planned = (_files, _options, signal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(unanswered));
      begun.resolve();
    });
  const answer = serving.ask('/api/v1/plan');
  await begun.promise;
  await serving.close();
  expect((await answer).body).toMatchObject({ status: 503, code: 'ledger/unanswered', detail: 'm' });
});

test('a client that goes away stops the plan that it asked for', async () => {
  const { url, api } = await serve();
  let isStopped = false;
  api.planned = (_files, _options, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        isStopped = true;
        resolve(planOf());
      });
    });
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${TOKENS.viewer}` };
  const asked = fetch(`${url}/api/v1/plan`, { headers, signal: stop.signal });
  await new Promise((resolve) => setTimeout(resolve, 200));
  stop.abort();
  await expect(asked).rejects.toThrow();
  await expect.poll(() => isStopped).toBe(true);
});

test('a large answer arrives whole', async () => {
  const { ask, api } = await serve();
  api.list = Array.from({ length: 1_000 }, (_, at) => application(`app-${at}`));
  const { body } = await ask('/api/v1/applications?limit=1000');
  expect((body as { items: unknown[] }).items.length).toBe(1_000);
});

test('with a certificate it speaks TLS, and takes another one on reload', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-tls-'));
  const certFile = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  const write = () => {
    const { certPem, keyPem } = selfSigned();
    writeFileSync(certFile, certPem);
    writeFileSync(keyFile, keyPem);
    return certPem;
  };
  const first = write();
  const { url, reload, settings } = await serve({ settings: { tls: { certFile, keyFile } } });
  expect(url).toMatch(/^https:/);
  const get = (ca: string) =>
    new Promise<unknown>((resolve) => {
      request(`${url}/healthz`, { ca, agent: false }, (response) => {
        response.resume();
        resolve([response.statusCode, response.headers['strict-transport-security']]);
      })
        .on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
        .end();
    });
  expect(await get(first)).toEqual([200, 'max-age=31536000']);
  const second = write();
  reload(settings);
  expect(await get(second)).toEqual([200, 'max-age=31536000']);
  expect(await get(first)).not.toEqual([200, 'max-age=31536000']);
});

test.for([
  ['0.0.0.0:0', [], 'server/open-to-the-network'],
  ['[::]:0', [], 'server/open-to-the-network'],
  ['256.0.0.1.invalid:0', ['viewer'], 'server/cannot-listen'],
] as const)('listening on %s with tokens %j ends with %s', async ([listen, roles, code]) => {
  const tokens = roles.map((role) => ({ name: role, role, value: { env: role } }));
  await expect(serve({ settings: { listen, tokens } })).rejects.toMatchObject({ code });
});

test('plain HTTP on the network, or nobody who may look, is said', async () => {
  const open = await serve({ settings: { listen: '0.0.0.0:0' } });
  expect(open.said.join('\n')).toContain('plain HTTP on the network');
  const lonely = await serve({ settings: { tokens: [] } });
  expect(lonely.said.join('\n')).toContain('only /healthz and /readyz answer');
  expect((await lonely.ask('/api/v1/status')).status).toBe(401);
  expect((await lonely.ask('/healthz', { role: null })).status).toBe(200);
});

test('an address that is taken is an error that says so', async () => {
  const { url } = await serve();
  const listen = `127.0.0.1:${new URL(url).port}`;
  await expect(serve({ settings: { listen } })).rejects.toMatchObject({ code: 'server/cannot-listen' });
});
