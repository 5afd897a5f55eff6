import { expect, onTestFinished, test } from 'vitest';
import { nothingAllowed } from '../../src/controller/acceptance.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { DaemonWorld } from './daemon.ts';

const SHOP = 'Application/shop';

/** The shop with so many rules, in a file each. */
function filesOf(rules: number): Record<string, string> {
  const files: Record<string, string> = {
    'app.yaml': `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }
---
apiVersion: portolan/v1
kind: Component
metadata: { name: shop-web }
spec: { application: shop, serviceId: ${demo.webServiceId}, ports: [ { port: 8080, protocol: http, inner: true, outer: true } ] }
`,
  };
  for (let index = 0; index < rules; index += 1)
    files[`rule-${index}.yaml`] = `apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: rule-${index} }
spec: { application: shop, component: shop-web, port: 8080, domain: r${index}.example.com }
`;
  return files;
}

async function settled(settings: string, rules: number): Promise<DaemonWorld> {
  const world = new DaemonWorld(settings);
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  await world.commit(filesOf(rules));
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  return world;
}

const domains = (world: DaemonWorld): number => [...world.state.rules.all()].filter(({ type }) => type === 1).length;

test('a source that names nothing any more is refused until it is started with a word for it', async () => {
  const world = await settled('{ controller: { pruneAfter: 1m } }', 3);
  await world.commit({});
  await world.pass(7_200_000);
  expect(world.controller.api.status().source.error).toMatchObject({ code: 'guard/empty-source' });
  expect(domains(world)).toBe(3);
  // Still looked after: what was accepted before stands.
  world.state.rules.delete([...world.state.rules.all()].find(({ type }) => type === 1)?.id ?? '');
  expect(domains(world)).toBe(2);
  await world.until(() => domains(world) === 3, 'a rule that vanished is there again');

  await world.controller.drain();
  world.restart({ ...nothingAllowed, empty: true });
  world.start();
  await world.commit({});
  expect(world.controller.api.status().source.error).toBeNull();
  // No Application means its scope any more: what it had there is orphaned, and never removed.
  await world.pass(7_200_000);
  expect(domains(world)).toBe(3);
});

test.for(['a standstill', 'a failure of git'])(
  'an empty source that a start allowed stays accepted when it is read again after %s',
  async (what) => {
    const world = await settled('{}', 4);
    await world.controller.drain();
    world.restart({ ...nothingAllowed, empty: true });
    world.start();
    await world.commit({ 'a.yaml': '' });
    await world.pass(60_000);
    const { acceptedRevision, error } = world.controller.api.status().source;
    expect(error).toBeNull();
    if (what === 'a standstill') world.clock.advance(2 * 3_600_000);
    else {
      await world.sourceFails();
      await world.pass(1000);
      await world.commitAgain({ 'a.yaml': '' });
    }
    await world.pass(60_000);
    expect(world.controller.api.status().source).toMatchObject({ error: null, acceptedRevision });
    // Another revision that names nothing may be another mistake.
    await world.commit(filesOf(1));
    await world.commit({ 'a.yaml': '' });
    expect(world.controller.api.status().source.error).toMatchObject({ code: 'guard/empty-source' });
  },
);

test('a source that lost most of what it named changes and adds, and removes nothing until its plan is approved', async () => {
  const world = await settled('{ controller: { pruneAfter: 1m }, prune: { maxShare: 1, maxObjects: 100 } }', 20);
  await world.commit(filesOf(5));
  await world.pass(7_200_000);
  expect(domains(world)).toBe(20);
  const { approval } = world.application(SHOP);
  expect(approval?.refusals.map(({ code }) => code)).toEqual(['guard/shrunk-source']);
  expect(approval?.refusals[0]?.message).toContain('15 removals');
  await world.controller.api.approve(SHOP, approval?.digest ?? '', 'alice');
  await world.until(() => domains(world) === 5 && world.ready(SHOP) === 'True InSync', 'they are removed');
});

test('what the start allows does not count for a commit that follows the first one, although that was rejected', async () => {
  const world = await settled('{ controller: { pruneAfter: 1m }, prune: { maxShare: 1, maxObjects: 100 } }', 20);
  await world.controller.drain();
  world.restart({ ...nothingAllowed, shrunk: true });
  world.start();
  await world.commit({ 'a.yaml': 'kind: Nothing\n' });
  expect(world.controller.api.status().source.error).toMatchObject({ code: 'source/faulty' });
  await world.commit(filesOf(5));
  await world.pass(600_000);
  expect(domains(world)).toBe(20);
  expect(world.application(SHOP).approval?.refusals.map(({ code }) => code)).toEqual(['guard/shrunk-source']);
});

test('a rewound commit removes nothing, over a restart too, until it is started with a word for it', async () => {
  const world = await settled('{ controller: { pruneAfter: 1m } }', 3);
  world.feed.descents.set('2'.padStart(40, '0'), 'does-not-descend');
  await world.commit(filesOf(2));
  await world.pass(7_200_000);
  expect(domains(world)).toBe(3);
  await world.controller.drain();
  world.restart();
  world.start();
  await world.commit(filesOf(2));
  await world.pass(7_200_000);
  expect(domains(world)).toBe(3);
  await world.controller.drain();
  world.restart({ ...nothingAllowed, rewind: true });
  world.start();
  await world.commit(filesOf(2));
  await world.until(() => domains(world) === 2, 'it is removed');
});

test('a plan that changes too much of one application waits for its approval, and is let through once', async () => {
  const world = await settled('{ controller: { pruneAfter: 1m }, prune: { maxShare: 0.3, maxObjects: 100 } }', 20);
  await world.commit(filesOf(12));
  await world.until(() => world.application(SHOP).approval !== null, 'it is refused');
  const { approval } = world.application(SHOP);
  expect(approval?.refusals.map(({ code }) => code)).toEqual(['guard/share']);
  expect(world.ready(SHOP)).toBe('False ApprovalNeeded');
  await world.pass(7_200_000);
  expect(domains(world)).toBe(20);
  expect(world.eventsOf('approval.needed')).toHaveLength(1);
  await world.controller.api.approve(SHOP, approval?.digest ?? '', 'alice');
  await world.until(() => domains(world) === 12, 'they are removed');
  // The next one asks anew.
  await world.commit(filesOf(2));
  await world.until(() => world.application(SHOP).approval !== null, 'it is refused');
  expect(domains(world)).toBe(12);
});

const LARGE = '{ controller: { pruneAfter: 1h }, prune: { maxShare: 1, maxObjects: 1000, dailyObjects: 1000 } }';

test('commits that each remove forty percent count together while none of it was removed, over a restart too', async () => {
  const world = await settled(LARGE, 98);
  await world.commit(filesOf(58));
  await world.pass(600_000);
  await world.commit(filesOf(34));
  await world.pass(600_000);
  await world.controller.drain();
  world.restart();
  world.start();
  await world.commit(filesOf(20));
  await world.pass(5 * 3_600_000);
  expect(domains(world)).toBe(98);
  const { approval } = world.application(SHOP);
  expect(approval?.refusals.map(({ code }) => code)).toEqual(['guard/shrunk-source']);
  expect(approval?.refusals[0]?.message).toContain('named 100 resources');
  await world.controller.api.approve(SHOP, approval?.digest ?? '', 'alice');
  await world.until(() => domains(world) === 20 && world.ready(SHOP) === 'True InSync', 'they are removed');
  // Approved, so what comes next is measured by what is left.
  await world.commit(filesOf(12));
  await world.pass(2 * 3_600_000);
  expect(domains(world)).toBe(12);
});

test('what was removed when its time had come does not count against the next commit', async () => {
  const world = await settled(LARGE, 98);
  for (const [rules, left] of [
    [58, 58],
    [34, 34],
    [20, 20],
  ] as const) {
    await world.commit(filesOf(rules));
    await world.pass(2 * 3_600_000);
    expect(domains(world)).toBe(left);
  }
  expect(world.eventsOf('approval.needed')).toEqual([]);
});
