import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { DaemonWorld } from './daemon.ts';
import { APPLICATION, domains, FILES, rule, SHOP, started, web } from './shop.ts';

const { signal } = new AbortController();
const RULE = 'HttpGatewayRule/www';

const weighted = rule('www', 'www.example.com').replace('domain:', 'weight: 50, domain:');

/** A rule that exists and that the ledger does not know, with another weight than its manifest says. */
async function held(): Promise<DaemonWorld> {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  await world.controller.api.forget(SHOP, RULE, { by: 'bob', reason: 'a test' }, signal);
  await world.commit({ ...FILES, 'www.yaml': weighted });
  await world.until(() => world.ready(SHOP).endsWith('Held'), 'held');
  return world;
}

const weightOf = (world: DaemonWorld) => [...world.state.rules.all()].find(({ type }) => type === 1)?.weight;

test('a held rule is adopted exactly as it was shown, once, and recorded with its author', async () => {
  const world = await held();
  const { api } = world.controller;
  const plan = await api.planAdoption(SHOP, RULE, signal);
  expect(plan.scopes[0]?.actions.map(({ resource, cause }) => [resource, cause])).toEqual([[RULE, 'adopt']]);
  const agreed = { by: 'alice', reason: 'it is ours', digest: plan.digest };
  const before = weightOf(world);
  await expect(api.adopt(SHOP, RULE, { ...agreed, digest: '0'.repeat(64) }, signal)).rejects.toMatchObject({
    code: 'controller/other-plan',
  });
  expect(weightOf(world)).toBe(before);
  await Promise.all([1, 2].map(() => api.adopt(SHOP, RULE, agreed, signal)));
  await world.until(() => world.ready(SHOP) === 'True InSync', 'adopted');
  expect(weightOf(world)).toBe(50);
  const rows = (await api.history({ limit: 100 })).filter(({ event }) => event === 'adoption');
  expect(rows.map(({ detail }) => detail)).toMatchObject([{ by: 'alice', reason: 'it is ours', resource: RULE }]);
  const [object] = (await api.objects(SHOP)).filter(({ resource }) => resource === RULE);
  expect(object).toMatchObject({ origin: 'adopted', state: 'present' });
  await expect(api.adopt(SHOP, RULE, agreed, signal)).rejects.toMatchObject({ code: 'controller/nothing-to-adopt' });
});

test('an adoption of what changed meanwhile is refused, and the next pass holds the rule as before', async () => {
  const world = await held();
  const { api } = world.controller;
  const { digest } = await api.planAdoption(SHOP, RULE, signal);
  await api.suspend(SHOP, 'alice', 'nothing runs meanwhile');
  await api.adopt(SHOP, RULE, { by: 'alice', reason: 'ours', digest }, signal);
  // The daemon dies, and the rule changes before the next process makes the pass.
  await world.controller.drain();
  for (const row of world.state.rules.all()) if (row.type === 1) world.state.rules.put({ ...row, weight: 7 });
  world.restart();
  world.start();
  await world.commit({ ...FILES, 'www.yaml': weighted });
  await world.controller.api.resume(SHOP, 'alice');
  await world.until(() => world.eventsOf('application.failed').length > 0, 'refused');
  expect(world.eventsOf('application.failed')[0]?.message).toContain('nothing was adopted');
  await world.until(() => world.ready(SHOP).endsWith('Held'), 'held');
  await world.pass(3_600_000);
  expect(weightOf(world)).toBe(7);
});

test('an adoption survives a crash before its pass', async () => {
  const world = await held();
  const { digest } = await world.controller.api.planAdoption(SHOP, RULE, signal);
  await world.controller.api.suspend(SHOP, 'alice', 'nothing runs meanwhile');
  await world.controller.api.adopt(SHOP, RULE, { by: 'alice', reason: 'ours', digest }, signal);
  await world.controller.drain();
  world.restart();
  world.start();
  await world.commit({ ...FILES, 'www.yaml': weighted });
  await world.controller.api.resume(SHOP, 'alice');
  await world.until(() => weightOf(world) === 50, 'adopted');
});

const SCOPE = `default/${demo.team}/${demo.region}/${demo.appId}`;
const REST = { 'blog.yaml': FILES['blog.yaml'] };

async function orphaned(): Promise<DaemonWorld> {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  await world.commit(REST);
  await world.until(() => world.controller.api.orphans().length === 2, 'orphaned');
  await world.until(() => world.application('Application/blog').scope !== null, 'blog is known');
  return world;
}

test('orphans are pruned exactly as shown, once, and recorded with the author', async () => {
  const world = await orphaned();
  const { api } = world.controller;
  const plan = await api.planPrune(SCOPE, signal);
  expect(plan.scopes[0]?.actions.map(({ resource, prune }) => [resource, prune])).toEqual([
    [RULE, true],
    [RULE, true],
  ]);
  const agreed = { by: 'alice', reason: 'the shop is closed', digest: plan.digest };
  await expect(api.prune(SCOPE, { ...agreed, digest: '0'.repeat(64) }, signal)).rejects.toMatchObject({
    code: 'controller/other-plan',
  });
  await expect(api.planPrune(SCOPE.replace('42', '43'), signal)).rejects.toMatchObject({
    code: 'controller/not-orphaned',
  });
  expect(domains(world)).toEqual(['www.example.com']);
  const both = await Promise.allSettled([1, 2].map(() => api.prune(SCOPE, agreed, signal)));
  expect(both[0]).toMatchObject({ status: 'fulfilled', value: { left: 0, error: null } });
  expect(both[1]).toMatchObject({ status: 'rejected' });
  expect(domains(world)).toEqual([]);
  expect(world.writes().filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  const rows = (await api.history({ limit: 100 })).filter(({ event }) => event === 'prune-orphan');
  expect(rows).toMatchObject([{ actor: 'alice, through daemon', detail: { by: 'alice', reason: agreed.reason } }]);
  expect(world.eventsOf('orphan.pruned')).toHaveLength(1);
});

test('nothing is pruned while the source is unknown, or where an Application is back', async () => {
  const world = await orphaned();
  const { api } = world.controller;
  const { digest } = await api.planPrune(SCOPE, signal);
  const agreed = { by: 'alice', reason: 'closed', digest };
  await world.sourceFails();
  await expect(api.prune(SCOPE, agreed, signal)).rejects.toMatchObject({ code: 'controller/source-unknown' });
  await world.commit({ ...REST, 'app.yaml': APPLICATION, 'web.yaml': web('WEB'), 'www.yaml': FILES['www.yaml'] });
  await expect(api.prune(SCOPE, agreed, signal)).rejects.toMatchObject({ code: 'controller/not-orphaned' });
  expect(domains(world)).toEqual(['www.example.com']);
});

test('a forgotten orphan stays on the platform and is not reported any more', async () => {
  const world = await orphaned();
  const { api } = world.controller;
  const author = { by: 'alice', reason: 'another team has it' };
  await api.forgetOrphan(SCOPE, RULE, author, signal);
  expect(api.orphans().map(({ id }) => id)).toEqual(['Component/shop-web']);
  await expect(api.forgetOrphan(SCOPE, RULE, author, signal)).rejects.toMatchObject({
    code: 'controller/not-orphaned',
  });
  await api.forgetOrphan(SCOPE, undefined, author, signal);
  expect([api.orphans(), domains(world)]).toEqual([[], ['www.example.com']]);
});
