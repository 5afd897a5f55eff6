import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { answeredView } from '../../src/views/answered.ts';
import { treeOf, type TreeNode } from '../../src/views/tree.ts';
import type { DaemonWorld } from './daemon.ts';
import { FILES, SHOP, portOf, started, web } from './shop.ts';

const REPORTED = { ...FILES, 'web.yaml': web('WEB', 'portolan/reconcile: report') };

function nodesOf(world: DaemonWorld): ReadonlyMap<string, TreeNode> {
  const details = world.controller.api.application(SHOP);
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
  expect(nodesOf(world).get('port 8080')).toMatchObject({ facts: 'http WEB, inner and outer', state: 'in-sync' });
  expect(
    nodesOf(world)
      .get('port 8080')
      ?.children.map(({ name }) => name),
  ).toContain('HttpGatewayRule/www');
  await world.commit(REPORTED);
  await world.until(() => world.application(SHOP).resources.some(({ mode }) => mode === 'report'), 'the mode is seen');
  world.state.ports.put({ ...portOf(world), alias: 'BY_HAND' });
  await world.until(() => world.ready(SHOP) === 'False Drifted', 'drift is seen');
  const seenMs = world.clock.now();
  world.requests.length = 0;
  const nodes = nodesOf(world);
  expect(nodes.get('port 8080')).toMatchObject({ facts: 'http BY_HAND, inner and outer', state: 'reported' });
  expect(Math.abs((nodes.get(SHOP)?.observedMs ?? 0) - seenMs)).toBeLessThan(60_000);
  expect(world.requests).toEqual([]);
  // What the platform does not answer any more stays as it was observed, and becomes old.
  const observedMs = nodes.get(SHOP)?.observedMs;
  world.answer = () => ({ status: 503, contentType: 'text/plain', retryAfter: null, body: 'down' });
  await world.until(() => world.ready(SHOP) === 'Unknown Unreachable', 'the platform is away');
  expect(nodesOf(world).get('port 8080')).toMatchObject({ facts: 'http BY_HAND, inner and outer', state: 'unknown' });
  await world.pass(1_000);
  expect(nodesOf(world).get(SHOP)?.observedMs).toBeLessThanOrEqual(world.clock.now() - 1_000);
  expect(nodesOf(world).get(SHOP)?.observedMs).toBeGreaterThanOrEqual(observedMs ?? 0);
});

test('what git changes and its annotation asks to report only is reported, and was compared', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.commit({ ...FILES, 'web.yaml': web('SITE', 'portolan/reconcile: report') });
  await world.until(() => world.application(SHOP).resources.some(({ mode }) => mode === 'report'), 'the mode is seen');
  expect(nodesOf(world).get('Component/shop-web')).toMatchObject({ state: 'reported' });
  expect(nodesOf(world).get('port 8080')).toMatchObject({ state: 'reported', facts: 'http WEB, inner and outer' });
});

test('an application that the platform does not have is NotFound, and not Unreachable', async () => {
  const world = started();
  await world.commit(
    Object.fromEntries(
      Object.entries(FILES).map(([path, text]) => [path, text.replace(`appId: ${demo.appId}`, 'appId: 4711')]),
    ),
  );
  await world.until(
    () => world.ready(SHOP).startsWith('Unknown ') && !world.ready(SHOP).endsWith('NotObserved'),
    'it was looked for',
  );
  expect(world.ready(SHOP)).toBe('Unknown NotFound');
  expect(world.application(SHOP).resources[0]?.conditions[0]).toMatchObject({ type: 'Ready', reason: 'NotFound' });
});
