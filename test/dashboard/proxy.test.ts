import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { addressOf, settled, visit } from './browsing.ts';
import { openTlsProxy, type TlsProxy } from './tls-proxy.ts';
import { openWorld, TOKENS, type World } from './world.ts';

let world: World;
let proxy: TlsProxy;
let publicUrl: string;
beforeAll(async () => {
  const port = await freePort();
  publicUrl = `https://127.0.0.1:${port}/tools/portolan`;
  world = await openWorld({ server: `    publicUrl: ${publicUrl}` });
  proxy = await openTlsProxy(port, '/tools/portolan', () => world.url);
  await world.settled();
});
afterAll(async () => {
  proxy.close();
  await world.close();
});

test.for(['strip', 'keep'] as const)(
  'behind a proxy with TLS that buffers answers, under a path (%s): pages, files, commands and events work',
  async (mode) => {
    proxy.setMode(mode);
    // A page of depth, whose charts load later; then the sign-in leads back to it.
    const address = `${publicUrl}/applications/shop/monitoring?range=6h`;
    const page = await visit(publicUrl, address, {
      as: null,
      context: { ignoreHTTPSErrors: true },
      expects: /status of 401/,
    });
    await page.getByLabel('Token').fill(TOKENS.operator);
    await page.keyboard.press('Enter');
    await page.waitForURL(address);
    await settled(page);
    await page.locator('canvas').first().waitFor();
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.waitForURL(`${publicUrl}/activity`);
    await settled(page);
    await page.getByText('Live', { exact: true }).waitFor();
    // The event is much smaller than the buffer of the proxy, and the stream does not end.
    const commit = world.commit({ [`${mode}.txt`]: 'not a manifest' });
    await page.getByText(commit.slice(0, 12)).first().waitFor();
    const answer = await page.request.post(`${publicUrl}/api/v1/sync`, {
      headers: { origin: new URL(publicUrl).origin },
    });
    expect(answer.status(), await answer.text()).toBe(202);
    await page.reload();
    await settled(page);
    expect((await addressOf(page)).href).toBe(`${publicUrl}/activity`);
  },
);
