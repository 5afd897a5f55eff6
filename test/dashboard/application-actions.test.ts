import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { HistoryRow } from '../../src/model/owned.ts';
import type { Page as ListPage } from '../../src/model/page.ts';
import { detailsOf, liveRules, scene, shopDocuments, until, untilReady } from './application-scene.ts';
import { settled, visit } from './browsing.ts';
import type { World } from './world.ts';

let world: World;
// For each test: one that fails halfway would leave an application suspended, for which the next one waits in vain.
beforeEach(async () => {
  world = await scene(3);
  onTestFinished(() => world.close());
});

const RULE = 'HttpGatewayRule/shop-01';
const address = `/applications/shop?resource=${RULE}`;

const rows = async (): Promise<readonly HistoryRow[]> =>
  (await world.api<ListPage<HistoryRow>>('/api/v1/history?limit=200')).items;

/** Presses a button, and confirms its question as a user does. @returns the text of the question. */
async function carryOut(page: Page, label: string, confirm: string, reason?: string): Promise<string> {
  await page.getByRole('button', { name: label, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: confirm, exact: true }).waitFor();
  await expect.poll(() => dialog.innerText()).not.toContain('Loading');
  const text = await dialog.innerText();
  if (reason !== undefined) await dialog.locator('textarea').fill(reason);
  await dialog.getByRole('button', { name: confirm, exact: true }).click();
  return text;
}

async function open(path: string): Promise<Page> {
  const page = await visit(world.url, path);
  await settled(page);
  return page;
}

const heldFor = async (code: string): Promise<boolean> =>
  (await detailsOf(world, 'shop')).resources.some(({ holds }) => holds.some((hold) => hold.code === code));

test('sync, suspend with a reason, and resume', async () => {
  const page = await open('/applications/shop');
  expect(await carryOut(page, 'Suspend', 'Suspend', 'see OPS-17')).toContain('writes nothing for shop');
  await page.getByText(/Suspended by admin: see OPS-17\. Since/).waitFor();
  expect((await detailsOf(world, 'shop')).pause).toMatchObject({ by: 'admin', reason: 'see OPS-17' });
  await carryOut(page, 'Resume', 'Resume');
  await page.getByText('shop is resumed.').first().waitFor();
  expect((await detailsOf(world, 'shop')).pause).toBeNull();
  const before = (await detailsOf(world, 'shop')).lastAttemptMs ?? 0;
  await carryOut(page, 'Sync', 'Sync');
  await until(async () => ((await detailsOf(world, 'shop')).lastAttemptMs ?? 0) > before);
  expect((await rows()).slice(0, 2).map(({ event, detail }) => [event, (detail as { by: string }).by])).toEqual([
    ['resumed', 'admin'],
    ['suspended', 'admin'],
  ]);
});

test('a pass that changes nothing: the page shows that it runs, and that it has ended', async () => {
  // Its first health is an event.
  await until(async () =>
    (await detailsOf(world, 'shop')).conditions.some(({ type, status }) => type === 'Healthy' && status === 'True'),
  );
  const page = await open('/applications/shop');
  world.sandbox.setFaults([{ fault: { type: 'delay', ms: 2_000 } }]);
  await carryOut(page, 'Suspend', 'Suspend', 'see OPS-17');
  const running = page.getByText('a pass is in progress');
  await running.waitFor();
  await running.waitFor({ state: 'hidden' });
});

test('forget a rule, and adopt it exactly as shown', async () => {
  const page = await open(address);
  const text = await carryOut(page, 'Forget', 'Forget', 'a test of adoption');
  expect(text).toContain('1 object is removed from the ledger. Nothing is sent to the platform');
  await until(() => heldFor('rule/not-ours'));
  expect(liveRules(world)).toHaveLength(3);
  world.commit(shopDocuments(3, ', weight: 77'), 'Another weight');
  await until(async () => liveRules(world).filter(({ weight }) => weight === 77).length === 2);
  await page.getByRole('button', { name: 'Adopt', exact: true }).waitFor();
  expect(await carryOut(page, 'Adopt', 'Adopt', 'it is ours')).toContain('weight: 50 → 77');
  await untilReady(world, 'shop');
  expect(liveRules(world).filter(({ weight }) => weight === 77)).toHaveLength(3);
  const decided = (await rows()).filter(({ event }) => event === 'adoption' || event === 'forgotten');
  expect(
    decided.map(({ event, actor, detail }) => [event, actor.split(',')[0], (detail as { reason: string }).reason]),
  ).toEqual([
    ['adoption', expect.anything(), 'it is ours'],
    ['forgotten', 'admin', 'a test of adoption'],
  ]);
});

test('retry a change that the platform refused three times', async () => {
  const fault = { type: 'status', when: 'before', status: 400, body: { code: 20400, msg: 'no' } } as const;
  world.sandbox.setFaults([{ method: 'PUT', path: '**/httpdomains/**', fault }]);
  world.commit(shopDocuments(3, ', weight: 33'), 'Refused');
  await until(() => heldFor('effect/not-taken'));
  world.sandbox.setFaults([]);
  const page = await open(address);
  expect(await carryOut(page, 'Retry', 'Retry')).toContain('3 failures');
  await page.getByText(`The failures of ${RULE} are cleared.`).first().waitFor();
  await until(async () => liveRules(world).some(({ weight }) => weight === 33));
  expect((await rows()).find(({ event }) => event === 'retry')?.actor).toMatch(/^admin, through /);
});

test('resolve a request whose answer was lost, with its evidence beside it', async () => {
  const fault = { type: 'drop', when: 'after' } as const;
  world.sandbox.setFaults([{ method: 'POST', path: '**/httpdomains', fault }]);
  // Another weight: only one of the three rules was retried at the former one.
  world.commit(shopDocuments(4, ', weight: 44'), 'One more rule');
  const doubts = async () =>
    (await world.api<ListPage<{ readonly id: string }>>('/api/v1/applications/shop/doubts')).items;
  await until(async () => (await doubts()).length === 1);
  world.sandbox.setFaults([]);
  const page = await open('/applications/shop?resource=HttpGatewayRule/shop-04');
  const [doubt] = await doubts();
  const panel = page.getByRole('region', { name: 'Requests in doubt' });
  expect(await panel.innerText()).toContain(doubt?.id);
  expect(await panel.innerText()).toContain('so an observation proves nothing');
  await page.getByRole('button', { name: 'It was applied' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.innerText()).toContain('The request may still arrive.');
  await dialog.getByRole('checkbox').check();
  await dialog.locator('textarea').fill('the console shows it');
  await dialog.getByRole('button', { name: 'Record', exact: true }).click();
  await page
    .getByText(/^Recorded: create rule/)
    .first()
    .waitFor();
  await untilReady(world, 'shop');
  expect(await doubts()).toEqual([]);
  expect(liveRules(world)).toHaveLength(4);
  expect((await rows()).find(({ event }) => event === 'resolved')).toMatchObject({
    detail: { decision: 'applied', reason: 'the console shows it' },
  });
});
