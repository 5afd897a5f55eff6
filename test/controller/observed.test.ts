import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { answeredView } from '../../src/views/answered.ts';
import { treeOf, type TreeNode } from '../../src/views/tree.ts';
import type { DaemonWorld } from './daemon.ts';
import { FILES, SHOP, portOf, started, web } from './shop.ts';

const REPORTED = { ...FILES, 'web.yaml': web('WEB', 'portolan/reconcile: report') };

async function nodesOf(world: DaemonWorld): Promise<ReadonlyMap<string, TreeNode>> {
  const details = await world.controller.api.details(SHOP);
  if (details === undefined) throw new Error('there is no such application');
  const nodes = new Map<string, TreeNode>();
  const add = (node: TreeNode): void => {
    nodes.set(node.name, node);
    node.children.forEach(add);
  };
  add(treeOf(answeredView(details)));
  return nodes;
}

test('a controller shows what it observed and when, not what it applied, and asks nothing for it', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  // After a pass that wrote, it is what the writes made.
  expect((await nodesOf(world)).get('port 8080')).toMatchObject({
    facts: 'http WEB, inner and outer',
    state: 'in-sync',
  });
  expect((await nodesOf(world)).get('port 8080')?.children.map(({ name }) => name)).toContain('HttpGatewayRule/www');
  await world.commit(REPORTED);
  await world.until(() => world.application(SHOP).resources.some(({ mode }) => mode === 'report'), 'the mode is seen');
  world.state.ports.put({ ...portOf(world), alias: 'BY_HAND' });
  await world.until(() => world.ready(SHOP) === 'False Drifted', 'drift is seen');
  const seenMs = world.clock.now();
  world.requests.length = 0;
  const nodes = await nodesOf(world);
  expect(nodes.get('port 8080')).toMatchObject({ facts: 'http BY_HAND, inner and outer', state: 'reported' });
  expect(Math.abs((nodes.get(SHOP)?.observedMs ?? 0) - seenMs)).toBeLessThan(60_000);
  expect(world.requests).toEqual([]);
  // What the platform does not answer any more stays as it was observed, and becomes old.
  const observedMs = nodes.get(SHOP)?.observedMs;
  world.answer = () => ({ status: 503, contentType: 'text/plain', retryAfter: null, body: 'down' });
  await world.until(() => world.ready(SHOP) === 'Unknown Unreachable', 'the platform is away');
  expect((await nodesOf(world)).get('port 8080')).toMatchObject({
    facts: 'http BY_HAND, inner and outer',
    state: 'unknown',
  });
  await world.pass(1_000);
  expect((await nodesOf(world)).get(SHOP)?.observedMs).toBeLessThanOrEqual(world.clock.now() - 1_000);
  expect((await nodesOf(world)).get(SHOP)?.observedMs).toBeGreaterThanOrEqual(observedMs ?? 0);
});

test('what git changes and its annotation asks to report only is reported, and was compared', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.commit({ ...FILES, 'web.yaml': web('SITE', 'portolan/reconcile: report') });
  await world.until(() => world.application(SHOP).resources.some(({ mode }) => mode === 'report'), 'the mode is seen');
  expect((await nodesOf(world)).get('Component/shop-web')).toMatchObject({ state: 'reported' });
  expect((await nodesOf(world)).get('port 8080')).toMatchObject({
    state: 'reported',
    facts: 'http WEB, inner and outer',
  });
});

test.for([
  ['application', `appId: ${demo.appId}`, 'appId: 4711', 'NotFound'],
  ['team', `team: ${demo.team}`, 'team: no-such-team', 'NotFound'],
  ['region', `region: ${demo.region}`, 'region: no-such-region', 'NotFound'],
] as const)('the %s of a manifest is not on the platform: NotFound', async ([, named, other, reason]) => {
  const world = started();
  await world.commit(
    Object.fromEntries(Object.entries(FILES).map(([path, text]) => [path, text.replace(named, other)])),
  );
  await world.until(() => /^Unknown (?!NotObserved)/.test(world.ready(SHOP)), 'it was looked for');
  expect(world.ready(SHOP)).toBe(`Unknown ${reason}`);
  expect(world.application(SHOP).resources[0]?.conditions[0]).toMatchObject({ type: 'Ready', reason });
});

test('a 404 that is not the platform\u2019s own does not say that an application is not found', async () => {
  const world = started();
  world.answer = ({ path }) =>
    path.includes('/apps/')
      ? { status: 404, contentType: 'application/json', retryAfter: null, body: '{"detail":"no route"}' }
      : undefined;
  await world.commit(FILES);
  await world.until(() => /^Unknown (?!NotObserved)/.test(world.ready(SHOP)), 'it was looked for');
  expect(world.ready(SHOP)).toBe('Unknown Unreachable');
});

test('of what no manifest names, a controller keeps a hundred lines and the number of the others', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  for (let port = 20_000; port < 20_250; port += 1)
    world.state.ports.put({ ...portOf(world), port, alias: `P${port}`, outer: false });
  await world.until(
    async () => (await world.controller.api.details(SHOP))?.observed?.unnamedLeftOut !== undefined,
    'they are seen',
  );
  const { lines, unnamedLeftOut } = (await world.controller.api.details(SHOP))?.observed ?? expect.fail();
  expect(lines.filter(({ resource, state }) => resource === undefined || state === 'not-in-manifests')).toHaveLength(
    100,
  );
  expect(unnamedLeftOut).toBeGreaterThanOrEqual(150);
  expect([...(await nodesOf(world)).keys()]).toContain(`${unnamedLeftOut} more`);
});

test('an application that fails keeps its backoff when it is suspended', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  world.answer = () => ({ status: 503, contentType: 'text/plain', retryAfter: null, body: 'down' });
  await world.until(() => world.application(SHOP).failures > 12, 'it failed often');
  const { failures } = world.application(SHOP);
  await world.controller.api.suspend(SHOP, 'alice', 'the platform suffers');
  await world.pass(30_000);
  expect(world.application(SHOP).failures - failures).toBeLessThanOrEqual(2);
});
