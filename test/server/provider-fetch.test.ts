import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createProviderFetch } from '../../src/server/sign-in/provider-fetch.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { begin, scene } from './oidc-scene.ts';

async function answering(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function send(url: string, clock: Clock = systemClock, signal = new AbortController().signal): Promise<Response> {
  const { send: ask, close } = createProviderFetch(clock, undefined, signal);
  onTestFinished(() => close());
  return ask(url, { method: 'GET', headers: {}, body: undefined, redirect: 'manual' });
}

test('an answer arrives with status, headers and body', async () => {
  const url = await answering((request, response) =>
    response.writeHead(418, { 'x-a': ['1', '2'] }).end(request.headers['user-agent']),
  );
  const answer = await send(url);
  expect([answer.status, answer.headers.get('x-a'), await answer.text()]).toEqual([418, '1, 2', 'portolan']);
  const empty = await send(await answering((_, response) => response.writeHead(204).end()));
  expect([empty.status, await empty.text()]).toEqual([204, '']);
});

test('a redirect is not followed', async () => {
  let visits = 0;
  const elsewhere = await answering((_, response) => {
    visits += 1;
    response.end();
  });
  const url = await answering((_, response) => response.writeHead(302, { location: elsewhere }).end());
  expect((await send(url)).status).toBe(302);
  expect(visits).toBe(0);
});

test('an answer that never comes, never ends, or is too large, is given up', async () => {
  const silent = await answering(() => {});
  await expect(send(silent, new VirtualClock())).rejects.toMatchObject({ code: 'TIMEOUT' });
  const slow = await answering((_, response) => void response.writeHead(200).write('{'));
  await expect(send(slow, new VirtualClock())).rejects.toMatchObject({ code: 'TIMEOUT' });
  const large = await answering((_, response) => response.end(Buffer.alloc(600 * 1024)));
  await expect(send(large)).rejects.toMatchObject({ code: 'ETOOLARGE' });
  const cut = await answering((_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('x');
    setImmediate(() => response.destroy());
  });
  await expect(send(cut)).rejects.toMatchObject({ name: 'OutboundError' });
  await expect(send(silent, systemClock, AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' });
});

test.for<readonly [string, object]>([
  ['a script as the page of the provider', { authorization_endpoint: 'javascript:alert(1)' }],
  ['plain HTTP to another machine', { authorization_endpoint: 'http://login.example.com/auth' }],
  ['a metadata address', { authorization_endpoint: 'https://169.254.169.254/auth' }],
  ['an issuer that is another one', { issuer: 'https://evil.example.com' }],
  ['no page to sign in', { authorization_endpoint: undefined }],
])('metadata with %s are refused', async ([, changes]) => {
  const issuer: string = await answering((_, response) => {
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      ...changes,
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
  });
  const { body } = await begin(await scene({ oidc: { issuer } }));
  expect(body).toMatchObject({ status: 502, code: 'server/oidc-refused' });
});
