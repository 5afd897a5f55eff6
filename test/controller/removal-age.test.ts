import { expect, onTestFinished, test } from 'vitest';
import type { AppRecord } from '../../src/controller/ledger-records.ts';
import { addAge } from '../../src/controller/removal-age.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { DaemonWorld } from './daemon.ts';
import { BLOG } from './shop.ts';

const SHOP = 'Application/shop';
const MINUTE_MS = 60_000;

function filesOf(rules: number): Record<string, string> {
  const documents = [
    `kind: Application\nmetadata: { name: shop }\nspec: { team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }\n`,
    `kind: Component\nmetadata: { name: shop-web }\nspec: { application: shop, serviceId: ${demo.webServiceId}, ports: [ { port: 8080, protocol: http, inner: true, outer: true } ] }\n`,
    ...Array.from(
      { length: rules },
      (_, at) =>
        `kind: HttpGatewayRule\nmetadata: { name: rule-${at} }\nspec: { application: shop, component: shop-web, port: 8080, domain: r${at}.example.com }\n`,
    ),
  ];
  return { 'a.yaml': documents.map((document) => `apiVersion: portolan/v1\n${document}`).join('---\n') };
}

/** Three rules on the platform, of which the source names one since just now; two are to go after ten minutes. */
async function twoGone(): Promise<DaemonWorld> {
  const world = new DaemonWorld('{ controller: { pruneAfter: 10m } }');
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  await world.commit(filesOf(3));
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.commit(filesOf(1));
  await world.pass(1000);
  return world;
}

const rules = (world: DaemonWorld): number => [...world.state.rules.all()].filter(({ type }) => type === 1).length;

const DAY_MS = 86_400_000;

test.for([
  ['11 minutes ahead', 11 * MINUTE_MS],
  ['400 days back', -400 * DAY_MS],
  ['40 years ahead', 40 * 365 * DAY_MS],
] as const)('a clock that is set %s removes nothing early, and nothing much later', async ([, stepMs]) => {
  const world = await twoGone();
  world.clock.jump(stepMs);
  await world.controller.api.sync([SHOP], 'a test');
  await world.pass(9 * MINUTE_MS);
  expect(rules(world)).toBe(3);
  await world.controller.api.sync([SHOP], 'a test');
  await world.pass(2 * MINUTE_MS);
  expect(rules(world)).toBe(1);
});

test('after a restart only what nobody watched is waited for again', async () => {
  const world = await twoGone();
  await world.pass(6 * MINUTE_MS);
  await world.controller.drain();
  world.clock.advance(60 * MINUTE_MS);
  world.restart();
  world.start();
  await world.commit(filesOf(1));
  await world.pass(2 * MINUTE_MS);
  expect(rules(world)).toBe(3);
  await world.pass(4 * MINUTE_MS);
  expect(rules(world)).toBe(1);
});

test('time in which the process stood still does not count', async () => {
  const world = await twoGone();
  await world.pass(3 * MINUTE_MS);
  world.clock.advance(120 * MINUTE_MS);
  await world.pass(6 * MINUTE_MS);
  expect(rules(world)).toBe(3);
  await world.pass(2 * MINUTE_MS);
  expect(rules(world)).toBe(1);
});

test('after a standstill, nothing is removed before the source is read again', async () => {
  const world = await twoGone();
  await world.pass(9.5 * MINUTE_MS);
  world.feed.confirm = () => void (world.feed.confirmations += 1);
  world.clock.advance(120 * MINUTE_MS);
  await world.pass(10 * MINUTE_MS);
  expect([rules(world), world.feed.confirmations]).toEqual([3, 1]);
  await world.commit(filesOf(3));
  await world.pass(20 * MINUTE_MS);
  expect(rules(world)).toBe(3);
});

test('after a standstill, what is still gone is removed once the source is read again', async () => {
  const world = await twoGone();
  await world.pass(9.5 * MINUTE_MS);
  world.clock.advance(120 * MINUTE_MS);
  await world.pass(MINUTE_MS);
  expect([rules(world), world.feed.confirmations]).toEqual([1, 1]);
});

test('a standstill in the middle of a pass holds its removals back', async () => {
  const world = await twoGone();
  await world.pass(9 * MINUTE_MS);
  world.feed.confirm = () => {};
  let isOver = false;
  world.beforeCommit = async ({ operations }) => {
    if (isOver || !operations.some((one) => one.op === 'set-fact' && one.key.startsWith('budget '))) return;
    isOver = true;
    world.clock.advance(120 * MINUTE_MS);
  };
  await world.pass(10 * MINUTE_MS);
  expect([isOver, rules(world)]).toEqual([true, 3]);
});

test.for([0, 1, 1000])(
  'an acceptance that a standstill interrupts, %d ms before it ends, does not end the wait for a reading',
  async (leftMs) => {
    const world = await twoGone();
    await world.pass(9.9 * MINUTE_MS);
    // Git is out of reach afterwards.
    world.feed.confirm = () => {};
    let hasStoodStill = false;
    world.beforeCommit = async ({ operations }) => {
      if (hasStoodStill || !operations.some(({ op }) => op === 'accept-snapshot')) return;
      hasStoodStill = true;
      world.clock.advance(120 * MINUTE_MS);
      await world.clock.sleep(leftMs);
    };
    await world.commit({ ...filesOf(1), 'b.yaml': BLOG });
    await world.pass(5 * MINUTE_MS);
    expect([hasStoodStill, rules(world)]).toEqual([true, 3]);
  },
);

test('a step that is longer than any of a process that runs counts as a short one', () => {
  const record = { kept: { goneForMs: { rule: 5000 } }, watchedMs: 0 } as unknown as AppRecord;
  addAge(record, 120 * MINUTE_MS, true, 600 * MINUTE_MS);
  expect(record.kept.goneForMs).toEqual({ rule: 5000 + MINUTE_MS });
});

test('time counts while the ledger is slow to save it', async () => {
  const world = await twoGone();
  world.beforeCommit = async ({ operations }) => {
    const isAge = operations.every((one) => one.op === 'set-fact' && one.key.startsWith('status '));
    if (isAge) await world.clock.sleep(4 * MINUTE_MS);
  };
  await world.pass(30 * MINUTE_MS);
  expect(rules(world)).toBe(1);
});

test('what is named again begins anew', async () => {
  const world = await twoGone();
  await world.pass(8 * MINUTE_MS);
  await world.commit(filesOf(3));
  await world.pass(1000);
  await world.commit(filesOf(1));
  await world.pass(9 * MINUTE_MS);
  expect(rules(world)).toBe(3);
  await world.pass(2 * MINUTE_MS);
  expect(rules(world)).toBe(1);
});

test('a rule that a revision named again waits from the start, although no pass saw that revision', async () => {
  const world = await twoGone();
  await world.pass(9 * MINUTE_MS);
  world.answer = () => ({ status: 503, contentType: 'text/plain', retryAfter: null, body: '' });
  await world.commit(filesOf(3));
  await world.pass(5 * MINUTE_MS);
  await world.commit(filesOf(1));
  await world.pass(5 * MINUTE_MS);
  world.answer = () => undefined;
  await world.pass(9 * MINUTE_MS);
  expect(rules(world)).toBe(3);
  await world.pass(15 * MINUTE_MS);
  expect(rules(world)).toBe(1);
});

test('commits that do not concern the application, and one that does, do not begin the wait anew', async () => {
  const world = await twoGone();
  await world.pass(8 * MINUTE_MS);
  await world.commit({ ...filesOf(1), 'b.yaml': BLOG });
  await world.commit({ ...filesOf(2), 'b.yaml': BLOG });
  await world.pass(3 * MINUTE_MS);
  expect(rules(world)).toBe(2);
});
