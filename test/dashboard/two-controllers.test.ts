import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { API_TOKEN, ask, ENV, placed, until, web } from '../processes/place.ts';
import { commit } from '../source/repositories.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { settled, visit } from './browsing.ts';

/** One browser, a load balancer, and two real controllers behind it. */

/** Sends each connection to one of the controllers, whose port a test chooses. */
async function startBalancer(first: number) {
  let target = first;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Sends every connection to this controller, those that are open too. */
    turnTo(url: string): void {
      target = Number(new URL(url).port);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Messages of the browser about connections that the balancer ended. */
const LOST = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE/;

async function scene() {
  const server = await PostgresServer.create();
  onTestFinished(() => server.remove());
  const place = await placed();
  place.ledger = postgresUrl(server.port, 'browser');
  const start = (name: string) =>
    place.daemon(undefined, { ...ENV, PORTOLAN_SET_CONTROLLER_LEASE: '2s', PORTOLAN_RUN_REPLICA_NAME: name });
  const leader = await start('first');
  await until(
    () => place.domains().length === 2 && /leads source:default/.test(leader.outputSoFar().err),
    () => leader.outputSoFar().err,
  );
  const follower = await start('second');
  const balancer = await startBalancer(Number(new URL(follower.url).port));
  const page = await visit(balancer.url, '/platform', { token: API_TOKEN, expects: LOST });
  return { place, leader, follower, balancer, page };
}

async function carryOut(page: Page, label: string, reason?: string): Promise<void> {
  await page.getByRole('button', { name: label, exact: true }).click();
  const dialog = page.getByRole('dialog');
  if (reason !== undefined) await dialog.locator('textarea').fill(reason);
  await dialog.getByRole('button', { name: label, exact: true }).click();
}

const leaders = (page: Page) => page.getByRole('group', { name: 'Leaders' }).getByRole('row');

test('a follower shows the leader, its leader carries out what a user does there, and the session outlives the leader', async () => {
  const { place, leader, follower, balancer, page } = await scene();
  await settled(page);
  await expect
    .poll(() => leaders(page).allInnerTexts())
    .toEqual([
      expect.anything(),
      expect.stringMatching(/^default\s+Led\s+first\s/),
      expect.stringMatching(/^default source\s+Led\s+first\s/),
    ]);
  await page.getByRole('row', { name: /second\s.*shows this page/ }).waitFor();

  await page.goto('/applications/shop');
  await settled(page);
  await carryOut(page, 'Suspend', 'see OPS-17');
  await page.getByText(/Suspended by test: see OPS-17\. Since/).waitFor();
  const pauseAt = async (url: string) => (await ask<{ pause: unknown }>(url, '/applications/shop')).pause;
  const suspended = { by: 'test', reason: 'see OPS-17' };
  expect(await pauseAt(leader.url)).toMatchObject(suspended);
  commit(place.checkout, { 'web.yaml': web('SITE') });
  const revisionAt = async (url: string) =>
    (await ask<{ source: { acceptedRevision: string } }>(url, '/status')).source.acceptedRevision;
  const before = await revisionAt(follower.url);
  await until(async () => (await revisionAt(follower.url)) !== before);
  expect(place.port().alias).toBe('WEB');
  await carryOut(page, 'Resume');
  await page.getByText('shop is resumed.').first().waitFor();
  await until(() => place.port().alias === 'SITE');

  // The other controller knows the session, and the page needs no reload.
  await page.evaluate('window.isTheSame = true');
  balancer.turnTo(leader.url);
  await page.locator('.live').getByText('Live', { exact: true }).waitFor();
  await carryOut(page, 'Suspend', 'see OPS-18');
  await page.getByText(/Suspended by test: see OPS-18\. Since/).waitFor();
  leader.child.kill('SIGKILL');
  balancer.turnTo(follower.url);
  await until(() => /leads platform:default \(expired\)/.test(follower.outputSoFar().err));
  await page.locator('.live').getByText('Live', { exact: true }).waitFor();
  await page.getByText(/Suspended by test: see OPS-18\. Since/).waitFor();
  await carryOut(page, 'Resume');
  await page.getByText('shop is resumed.').first().waitFor();
  commit(place.checkout, { 'web.yaml': web('SHOP') });
  await until(
    () => place.port().alias === 'SHOP',
    () => follower.outputSoFar().err,
  );
  expect(await page.evaluate('window.isTheSame')).toBe(true);
  await page.goto('/platform');
  await expect
    .poll(() => leaders(page).allInnerTexts())
    .toEqual([
      expect.anything(),
      expect.stringMatching(/^default\s+Led\s+second\s/),
      expect.stringMatching(/^default source\s+Led\s+second\s/),
    ]);
  expect(place.sandbox.requests().filter(({ operation }) => operation === 'createRule')).toHaveLength(2);
});
