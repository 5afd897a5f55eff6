import { expect, onTestFinished, test } from 'vitest';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { DaemonWorld } from './daemon.ts';

const SHOP = 'Application/shop';
const HOUR_MS = 3_600_000;

interface Wishes {
  /** Of forty ports, so many stay open to the outside. */
  readonly open?: number;
  readonly rules?: number;
}

function filesOf({ open = 40, rules = 0 }: Wishes): Record<string, string> {
  const ports = Array.from(
    { length: 40 },
    (_, at) => `    - { port: ${7000 + at}, protocol: http, inner: true, outer: ${at < open} }\n`,
  ).join('');
  const documents = [
    `kind: Application\nmetadata: { name: shop }\nspec: { team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }\n`,
    `kind: Component\nmetadata: { name: shop-web }\nspec:\n  application: shop\n  serviceId: ${demo.webServiceId}\n  ports:\n${ports}`,
    ...Array.from(
      { length: rules },
      (_, at) =>
        `kind: HttpGatewayRule\nmetadata: { name: rule-${at} }\nspec: { application: shop, component: shop-web, port: 7000, domain: r${at}.example.com }\n`,
    ),
  ];
  return { 'a.yaml': documents.map((document) => `apiVersion: portolan/v1\n${document}`).join('---\n') };
}

async function settled(settings: string, wishes: Wishes): Promise<DaemonWorld> {
  const world = new DaemonWorld(settings, demoSeed);
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  await world.commit(filesOf(wishes));
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  return world;
}

const outerPorts = (world: DaemonWorld): number =>
  [...world.state.ports.all()].filter(({ port, outer }) => port >= 7000 && port < 7040 && outer).length;
const rulesOf = (world: DaemonWorld): number =>
  [...world.state.rules.all()].filter(({ domain }) => /^r\d+\.example\.com$/.test(domain)).length;

test('eight commits that close five outer ports each leave at least twenty of forty open, over a restart too', async () => {
  const world = await settled('{}', {});
  expect(outerPorts(world)).toBe(40);
  for (let commit = 1; commit <= 8; commit += 1) {
    await world.commit(filesOf({ open: 40 - 5 * commit }));
    await world.pass(60_000);
    if (commit !== 3) continue;
    const refusals = world.application(SHOP).approval?.refusals ?? [];
    expect(refusals.map(({ code }) => code)).toEqual(['guard/budget']);
    expect(refusals[0]?.message).toMatch(
      /^5 rules and outer ports of platform default would be removed or closed, and the budget of the source "default" has 0 left of 10 in 24 h of observed time: spent were 5 by main@sha1:\w+, 5 by main@sha1:\w+; there is room again after 24 h of observed time; nothing of the plan was sent$/,
    );
  }
  expect(outerPorts(world)).toBe(30);

  await world.controller.drain();
  world.restart();
  world.start();
  await world.commit(filesOf({ open: 25 }));
  await world.pass(600_000);
  expect(outerPorts(world)).toBe(30);
  // A day later there is room again; a clock that is set is no day.
  world.clock.jump(40 * 365 * 24 * HOUR_MS);
  await world.pass(HOUR_MS);
  expect(outerPorts(world)).toBe(30);
  await world.pass(24 * HOUR_MS);
  expect(outerPorts(world)).toBe(25);
});

test('fifty commits remove no more rules than the budget has, and an approved plan is exempt', async () => {
  const world = await settled('{ controller: { pruneAfter: 1s } }', { rules: 120 });
  expect(rulesOf(world)).toBe(120);
  for (let commit = 1; commit <= 50; commit += 1) {
    await world.commit(filesOf({ rules: 120 - 2 * commit }));
    await world.pass(5_000);
  }
  expect(rulesOf(world)).toBe(110);
  // What one plan may remove, the person who approves it lets through all the same.
  await world.commit(filesOf({ rules: 104 }));
  await world.pass(60_000);
  expect(rulesOf(world)).toBe(110);
  const { approval } = world.application(SHOP);
  expect(approval?.refusals.map(({ code }) => code)).toEqual(['guard/budget']);
  await world.controller.api.approve(SHOP, approval?.digest ?? '', 'alice');
  await world.pass(60_000);
  expect(rulesOf(world)).toBe(104);
});

test('neither moves, nor closing what somebody else opened, spend anything', async () => {
  const wishes = { open: 20, rules: 40 };
  const world = await settled('{ controller: { pruneAfter: 1s } }', wishes);
  let text = filesOf(wishes)['a.yaml'] ?? '';
  // Commits that give eight rules another domain each.
  for (const from of [0, 8, 16]) {
    text = text.replaceAll(/domain: r(\d+)\./g, (all, at: string) =>
      Number(at) >= from && Number(at) < from + 8 ? `domain: moved${at}.` : all,
    );
    await world.commit({ 'a.yaml': text });
    await world.pass(60_000);
  }
  expect(rulesOf(world)).toBe(40 - 24);
  for (const row of world.state.ports.all())
    if (row.port >= 7020 && row.port < 7035) world.state.ports.put({ ...row, outer: true });
  expect(outerPorts(world)).toBe(35);
  await world.pass(2 * HOUR_MS);
  expect(outerPorts(world)).toBe(20);
  expect(world.application(SHOP).approval).toBeNull();
  expect(world.store.facts.get('budget default default') ?? '"spent":[]').toContain('"spent":[]');
});

test('ports that take the place of others spend nothing, though those are closed much later, over a restart too', async () => {
  const files = (from: number): Record<string, string> => ({
    'a.yaml': [
      `kind: Application\nmetadata: { name: shop }\nspec: { team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }\n`,
      `kind: Component\nmetadata: { name: shop-web }\nspec:\n  application: shop\n  serviceId: ${demo.webServiceId}\n  unlistedPorts: close\n  ports:\n${Array.from({ length: 12 }, (_, at) => `    - { port: ${from + at}, protocol: http, inner: true, outer: true }\n`).join('')}`,
    ]
      .map((document) => `apiVersion: portolan/v1\n${document}`)
      .join('---\n'),
  });
  const open = (world: DaemonWorld, from: number): number =>
    [...world.state.ports.all()].filter(({ port, outer }) => port >= from && port < from + 12 && outer).length;
  const world = new DaemonWorld('{ prune: { maxShare: 1, maxObjects: 100 } }', demoSeed);
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  await world.commit(files(7000));
  await world.pass(HOUR_MS);
  expect(open(world, 7000)).toBe(12);
  await world.commit(files(7100));
  await world.pass(120_000);
  expect([open(world, 7000), open(world, 7100)]).toEqual([12, 12]);
  await world.controller.drain();
  world.restart();
  world.start();
  await world.commit(files(7100));
  await world.pass(HOUR_MS);
  expect(world.application(SHOP).approval).toBeNull();
  expect([open(world, 7000), open(world, 7100)]).toEqual([0, 12]);
  // Port 8080 of the demo was not listed from the first commit on.
  const { spent } = JSON.parse(world.store.facts.get('budget default default') ?? '') as {
    spent: { object: string }[];
  };
  expect(spent.map(({ object }) => object)).toEqual([expect.stringMatching(/\/8080$/)]);
});

test('rules that move from one document to another are not touched, and spend nothing', async () => {
  const wishes = { open: 1, rules: 20 };
  const world = await settled('{ controller: { pruneAfter: 1s } }', wishes);
  const writes = world.writes().length;
  const renamed = filesOf(wishes)['a.yaml']?.replaceAll('name: rule-', 'name: www-') ?? '';
  await world.commit({ 'a.yaml': renamed });
  await world.pass(HOUR_MS);
  expect(world.ready(SHOP)).toBe('True InSync');
  expect(world.writes().length).toBe(writes);
  expect(world.store.facts.get('budget default default') ?? '"spent":[]').toContain('"spent":[]');
});

test('a removal that becomes due during a pass waits for the next one, whose budget counts it', async () => {
  const settings = '{ controller: { pruneAfter: 2m }, prune: { maxShare: 1, dailyObjects: 1, dailyShare: 0 } }';
  const world = await settled(settings, { rules: 3 });
  const changed = (wishes: Wishes, alias: string) => ({
    'a.yaml': filesOf(wishes)['a.yaml']?.replace('port: 7000, protocol', `port: 7000, alias: ${alias}, protocol`) ?? '',
  });
  await world.pass(60_000);
  await world.commit(filesOf({ rules: 0 }));
  await world.pass(100_000);
  expect(rulesOf(world)).toBe(3);
  const [arrived, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isHeld = false;
  world.answer = async ({ method }) => {
    if (method !== 'PUT' || isHeld) return undefined;
    isHeld = true;
    arrived.resolve();
    await answered.promise;
    return undefined;
  };
  await world.commit(changed({ rules: 0 }, 'ANOTHER'));
  await arrived.promise;
  await world.pass(40_000);
  answered.resolve();
  await world.pass(300_000);
  expect(rulesOf(world)).toBe(3);
  expect(world.application(SHOP).approval?.refusals.map(({ code }) => code)).toEqual(['guard/budget']);
});
