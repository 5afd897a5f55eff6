import { request as forward } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { settled, visit } from './browsing.ts';
import { openTlsProxy, type TlsProxy } from './tls-proxy.ts';
import { openWorld, TOKENS, type World } from './world.ts';

/** A proxy with a certificate, which serves the controller under a path and removes that path, as an ingress does. */
let world: World;
let proxy: TlsProxy;
let publicUrl: string;
beforeAll(async () => {
  const port = await freePort();
  publicUrl = `https://127.0.0.1:${port}/portolan`;
  world = await openWorld({ server: `    publicUrl: ${publicUrl}` });
  proxy = await openTlsProxy(port, '/portolan', () => world.url);
});
afterAll(async () => {
  proxy.close();
  await world.close();
});

test('behind a proxy with TLS, the cookie is Secure and bound to the host, and the paths have the prefix', async () => {
  const page = await visit(publicUrl, `${publicUrl}/activity`, {
    as: null,
    context: { ignoreHTTPSErrors: true },
    expects: /status of 401/,
  });
  await page.getByLabel('Token').fill(TOKENS.viewer);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${publicUrl}/activity`);
  await settled(page);
  await page.getByText('Live', { exact: true }).waitFor();
  expect(await page.context().cookies()).toMatchObject([
    {
      name: '__Host-portolan-session',
      path: '/',
      domain: '127.0.0.1',
      httpOnly: true,
      secure: true,
      sameSite: 'Strict',
    },
  ]);
  expect(await page.evaluate<string>('document.cookie')).toBe('');
  await page.getByRole('button', { name: 'Account viewer' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${publicUrl}/sign-in?signed-out=1`);
  expect(await page.context().cookies()).toEqual([]);
});

test('the same controller lets nobody in at an address of plain HTTP that is not loopback', async () => {
  // The header names the address that the browser sees; the connection is the same.
  const body = JSON.stringify({ token: TOKENS.viewer });
  const ask = (host: string, origin: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { host, origin, 'content-type': 'application/json', 'x-forwarded-proto': 'https' };
      const request = forward(`${world.url}/api/v1/session`, { method: 'POST', headers }, (answer) => {
        let text = `${answer.headers['set-cookie']?.join() ?? ''} `;
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => resolve(text));
      });
      request.on('error', reject).end(body);
    });
  expect(await ask('192.0.2.1:7780', 'http://192.0.2.1:7780')).toContain('server/insecure-address');
  expect(await ask('192.0.2.1:7780', 'https://192.0.2.1:7780')).toContain('server/insecure-address');
  const { host, origin } = new URL(publicUrl);
  expect(await ask(host, origin)).toMatch(
    /^__Host-portolan-session=[0-9a-f]{64}; Path=\/; HttpOnly; Secure; SameSite=Strict /,
  );
  expect(await ask(host, origin.replace('https:', 'http:'))).toContain('server/cross-site');
});
