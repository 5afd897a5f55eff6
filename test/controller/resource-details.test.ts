import { expect, test } from 'vitest';
import type { ResourceId } from '../../src/model/ids.ts';
import type { DaemonWorld } from './daemon.ts';
import { FILES, portOf, rule, SHOP, started, web } from './shop.ts';

const WEB = 'Component/shop-web';
const RULE = 'HttpGatewayRule/www';

async function detailsOf(world: DaemonWorld, id: ResourceId) {
  const found = await world.controller.api.resource(SHOP, id);
  if (found === undefined) throw new Error(`${id} is not known`);
  return found;
}

async function fieldOf(world: DaemonWorld, id: ResourceId, path: string) {
  return (await detailsOf(world, id)).fields.find((field) => field.path === path);
}

async function inSync(settings?: string): Promise<DaemonWorld> {
  const world = started(settings);
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  return world;
}

test('fields in sync have three equal values, the write that made them, and the place of their manifest', async () => {
  const world = await inSync();
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.until(() => portOf(world).alias === 'SITE' && world.ready(SHOP) === 'True InSync', 'in sync');
  const details = await detailsOf(world, WEB);
  const revision = `main@sha1:${'2'.padStart(40, '0')}`;
  expect(details.source).toEqual({ id: WEB, file: 'web.yaml', line: 1, column: 1, revision });
  expect(details.status?.conditions[0]).toMatchObject({ type: 'Ready', status: 'True' });
  expect(details.fields.map(({ path, state }) => `${path} ${state}`)).toEqual(
    ['protocol', 'alias', 'inner', 'outer'].map((field) => `ports[8080].${field} in-sync`),
  );
  expect(await fieldOf(world, WEB, 'ports[8080].alias')).toEqual({
    path: 'ports[8080].alias',
    desired: 'SITE',
    live: 'SITE',
    lastApplied: 'SITE',
    state: 'in-sync',
    cause: null,
    actors: [],
    lastWrite: expect.objectContaining({ revision, author: 'Ann <ann@example.com>', actor: 'daemon' }) as object,
  });
  const [application] = (await world.controller.api.details(SHOP))?.sources ?? [];
  expect(application).toMatchObject({ id: SHOP, file: 'app.yaml', line: 1 });
  const ofRule = await detailsOf(world, RULE);
  expect(ofRule.fields.find(({ path }) => path === 'domain')).toMatchObject({
    desired: 'www.example.com',
    live: 'www.example.com',
    lastApplied: 'www.example.com',
  });
  expect(ofRule.records).toMatchObject([{ origin: 'created', state: 'present', failures: 0 }]);
  expect(await world.controller.api.resource(SHOP, 'Component/none')).toBeUndefined();
});

test('each difference names its actor: a commit, a user of the platform, or both', async () => {
  const world = await inSync();
  await world.controller.api.suspend(SHOP, 'alice', 'a test');
  const before = portOf(world);
  world.state.ports.put({ ...before, alias: 'HAND' });
  await world.until(
    () => world.eventsOf('drift.detected').length > 0 || (void world.controller.api.sync([SHOP], 'x'), false),
    'drift',
  );
  const drift = world.application(SHOP).resources.find(({ id }) => id === WEB)?.drift;
  const platform = { type: 'platform', sinceMs: drift?.sinceMs };
  expect(await fieldOf(world, WEB, 'ports[8080].alias')).toMatchObject({
    desired: 'WEB',
    live: 'HAND',
    lastApplied: 'WEB',
    state: 'differs',
    cause: 'drift',
    actors: [platform],
  });
  expect(await fieldOf(world, WEB, 'ports[8080].outer')).toMatchObject({ state: 'in-sync', live: true });
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  const revision = `main@sha1:${'2'.padStart(40, '0')}`;
  const commit = { type: 'commit', revision, author: 'Ann <ann@example.com>' };
  await world.until(() => world.application(SHOP).lastAttemptedRevision === revision, 'the commit is planned');
  expect(await fieldOf(world, WEB, 'ports[8080].alias')).toMatchObject({
    desired: 'SITE',
    live: 'HAND',
    lastApplied: 'WEB',
    cause: 'git+drift',
    actors: [commit, platform],
  });
  const { pending } = await detailsOf(world, WEB);
  expect(pending).toMatchObject([{ cause: 'git+drift', summary: expect.stringContaining('SITE') as string }]);
});

test('a suspended resource is not compared, a new one has no live value, and a removed one has what was applied', async () => {
  const world = await inSync();
  await world.commit({ ...FILES, 'web.yaml': web('SITE', 'portolan/reconcile: suspend') });
  await world.until(() => world.application(SHOP).resources.some(({ mode }) => mode === 'suspend'), 'suspended');
  const suspended = await fieldOf(world, WEB, 'ports[8080].alias');
  expect(suspended).toMatchObject({ desired: 'SITE', lastApplied: 'WEB', state: 'unknown' });
  expect(suspended).not.toHaveProperty('live');

  await world.controller.api.suspend(SHOP, 'alice', 'a test');
  await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(() => world.application(SHOP).pending !== null, 'the rule waits');
  const created = await fieldOf(world, 'HttpGatewayRule/api', 'domain');
  expect(created).toMatchObject({ desired: 'api.example.com', state: 'differs', cause: 'first-apply' });
  expect(created).not.toHaveProperty('live');

  const { 'www.yaml': _, ...fewer } = FILES;
  await world.commit(fewer);
  await world.until(() => world.application(SHOP).resources.every(({ id }) => id !== RULE), 'removed');
  expect(await detailsOf(world, RULE)).toMatchObject({ status: null, source: null, records: [{ origin: 'created' }] });
});

test('the history of a resource goes back to its creation, and has nothing of others', async () => {
  const world = await inSync();
  const { api } = world.controller;
  await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(
    () => world.eventsOf('action.done').some(({ resource }) => resource === 'HttpGatewayRule/api'),
    'done',
  );
  for (const alias of ['A', 'B', 'C']) {
    world.state.ports.put({ ...portOf(world), alias });
    await api.sync([SHOP], 'x');
    await world.until(() => portOf(world).alias === 'WEB', 'healed');
    await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  }
  const ofRule = await api.history({ application: SHOP, resource: RULE, limit: 100 });
  expect(ofRule.map(({ event }) => event)).toEqual(['applied', 'intent']);
  const ofWeb = await api.history({ application: SHOP, resource: WEB, limit: 100 });
  expect(ofWeb.filter(({ event }) => event === 'drift')).toHaveLength(3);
  expect(ofWeb.filter(({ event }) => event === 'intent').length).toBeGreaterThanOrEqual(3);
  expect(ofWeb.at(-1)?.event).toBe('recorded');
  const resourcesOf = (rows: typeof ofWeb) =>
    new Set(rows.flatMap(({ detail }) => (detail as { write?: { resource: string } }).write?.resource ?? []));
  expect([...resourcesOf(ofWeb)]).toEqual([WEB]);
  expect(resourcesOf(await api.history({ application: SHOP, limit: 1000 })).size).toBe(3);
  // In pages, each row once.
  const serials = ofWeb.map(({ serial }) => serial);
  const second = await api.history({ application: SHOP, resource: WEB, limit: 2, beforeSerial: serials[2] ?? 0 });
  expect(second.every(({ serial }) => serial < (serials[2] ?? 0))).toBe(true);
  expect(second).toHaveLength(2);
});
