import { historyEntries } from '../../src/views/history.ts';
import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { SHOP, APPLICATION, web, rule, FILES, started, portOf, domains } from './shop.ts';

test('a commit is applied, and the next one touches only the application that changed', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  expect(portOf(world)).toMatchObject({ alias: 'WEB', outer: true });
  expect(domains(world)).toEqual(['www.example.com']);
  await world.until(() => world.ready('Application/blog') === 'True InSync', 'blog is in sync');

  world.requests.length = 0;
  const id = await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.until(
    () => portOf(world).alias === 'SITE' && world.ready(SHOP) === 'True InSync',
    'the alias is changed',
  );
  const accepted = world.eventsOf('source.accepted').at(-1);
  expect(accepted?.detail).toMatchObject({ changed: [SHOP], removed: [] });
  expect(world.application(SHOP).lastAppliedRevision).toBe(`main@sha1:${id}`);
  // In sync before, and nothing of it changed: what it is equal to is equal to the new commit too.
  expect(world.application('Application/blog').lastAppliedRevision).toBe(`main@sha1:${id}`);
});

test('a commit with a fault is refused as a whole, and what was accepted before stands', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.commit({ ...FILES, 'web.yaml': web('SITE'), 'broken.yaml': 'apiVersion: portolan/v1\nkind: Nonsense\n' });
  const { source } = world.controller.api.status();
  expect(source.error).toMatchObject({ code: 'source/faulty' });
  expect(source.error?.message).toContain('broken.yaml:2');
  expect(source.acceptedRevision).not.toBe(source.observedRevision);
  expect(world.eventsOf('source.refused')).toHaveLength(1);
  // Drift is put right towards what was accepted, although the source is broken.
  world.state.ports.put({ ...portOf(world), alias: 'BY_HAND' });
  await world.until(() => portOf(world).alias === 'WEB', 'drift is healed');
});

test('drift is told with its facts, and healed', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  world.state.ports.put({ ...portOf(world), alias: 'BY_HAND' });
  await world.until(() => world.eventsOf('drift.healed').length === 1, 'drift is healed');
  expect(portOf(world).alias).toBe('WEB');
  const [detected] = world.eventsOf('drift.detected');
  expect(detected).toMatchObject({
    resource: 'Component/shop-web',
    application: SHOP,
    labels: { env: 'prod' },
    detail: { changes: [{ field: 'ports[8080].alias', before: 'BY_HAND', after: 'WEB', cause: 'drift' }], ageMs: 0 },
  });
  const entries = await Array.fromAsync(
    historyEntries(await world.controller.api.history({ application: SHOP, limit: 20 })),
  );
  const alias = { path: 'ports[8080].alias', before: 'BY_HAND', after: 'WEB', cause: 'drift' };
  const run = { type: 'run', actor: 'daemon', revision: expect.stringMatching(/^main@sha1:0+1$/) };
  const commit = { author: 'Ann <ann@example.com>', committedMs: expect.any(Number) };
  const drift = { type: 'drift', resource: 'Component/shop-web', changes: [expect.objectContaining(alias)] };
  expect(entries.slice(0, 3)).toMatchObject([
    { ...drift, isCorrected: true },
    { ...drift, isCorrected: false },
    { ...run, ...commit, changes: [{ outcome: 'applied', cause: 'drift', changes: [alias] }] },
  ]);
  const runs = entries.flatMap((entry) => (entry.type === 'run' ? [entry.run] : []));
  expect(runs).toEqual([...new Set(runs)]);
  expect(runs[0]).toMatch(/^[0-9]+\.[0-9]+$/);
});

test('drift that is only to be reported stays, keeps its age over a restart, and goes away by itself', async () => {
  const world = started();
  const files = { ...FILES, 'web.yaml': web('WEB') };
  await world.commit(files);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  const reported = { ...files, 'web.yaml': web('WEB', 'portolan/reconcile: report') };
  await world.commit(reported);
  await world.until(() => world.application(SHOP).resources.some(({ mode }) => mode === 'report'), 'the mode is seen');
  world.state.ports.put({ ...portOf(world), alias: 'BY_HAND' });
  await world.until(() => world.ready(SHOP) === 'False Drifted', 'drift is seen');
  const since = world.application(SHOP).resources.find(({ id }) => id === 'Component/shop-web')?.drift?.sinceMs;
  expect(portOf(world).alias).toBe('BY_HAND');
  await world.pass(3_600_000);
  await world.controller.drain();

  world.restart();
  world.start();
  await world.commit(reported);
  await world.until(() => world.application(SHOP).lastAttemptMs !== null, 'it is looked at');
  await world.pass(1_000_000);
  const drift = world.application(SHOP).resources.find(({ id }) => id === 'Component/shop-web')?.drift;
  expect(drift?.sinceMs).toBe(since);
  expect(world.eventsOf('drift.detected')).toHaveLength(1);
  world.state.ports.put({ ...portOf(world), alias: 'WEB' });
  await world.until(() => world.eventsOf('drift.gone').length === 1, 'drift is gone');
  expect(world.ready(SHOP)).toBe('True InSync');
});

test('what is suspended by annotation is not looked at', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.commit({ ...FILES, 'web.yaml': web('WEB', 'portolan/reconcile: suspend') });
  world.state.ports.put({ ...portOf(world), alias: 'BY_HAND' });
  await world.pass(7_200_000);
  expect(portOf(world).alias).toBe('BY_HAND');
  expect(world.eventsOf('drift.detected')).toHaveLength(0);
  expect(world.controller.api.status().counts.suspended).toBe(1);
});

test('once all is as it should be, nothing is written: not to the platform, not to the ledger', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  // Compressed by another thread, for which a virtual hour is no time.
  await world.until(() => world.store.facts.has('files default'), 'the source is kept');
  await world.pass(3_600_000);
  const { serial } = world.store;
  const writes = world.writes().length;
  await world.pass(24 * 3_600_000);
  expect(world.application(SHOP).lastAttemptMs).toBeGreaterThan(world.clock.now() - 3_600_000);
  expect(world.store.serial).toBe(serial);
  expect(world.writes()).toHaveLength(writes);
});

test('what was removed from the source goes after its time, and not before', async () => {
  const world = started('{ controller: { pruneAfter: 30m } }');
  await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.commit(FILES);
  const sinceMs = world.clock.now();
  await world.pass(20 * 60_000);
  expect(domains(world)).toEqual(['api.example.com', 'www.example.com']);
  await world.until(() => domains(world).length === 1, 'it is removed');
  expect(world.clock.now() - sinceMs).toBeGreaterThanOrEqual(30 * 60_000);
});

test('while nobody can tell what the source says, nothing is removed', async () => {
  const world = started('{ controller: { pruneAfter: 1m } }');
  await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.commit(FILES);
  await world.sourceFails();
  await world.pass(24 * 3_600_000);
  expect(domains(world)).toEqual(['api.example.com', 'www.example.com']);
  await world.commit(FILES);
  await world.until(() => domains(world).length === 1, 'it is removed');
});

test('a commit that does not descend from the one before removes nothing until its plan is approved', async () => {
  const world = started('{ controller: { pruneAfter: 1m } }');
  const first = await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  world.feed.descents.set('0000000000000000000000000000000000000002', 'does-not-descend');
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  expect(first).not.toBe('');
  await world.until(() => portOf(world).alias === 'SITE', 'what it changes is applied');
  await world.pass(7_200_000);
  expect(domains(world)).toEqual(['api.example.com', 'www.example.com']);
  const { approval } = world.application(SHOP);
  expect(approval?.refusals.map(({ code }) => code)).toEqual(['guard/not-descendant']);
  expect(world.eventsOf('approval.needed')).toHaveLength(1);
  await expect(world.controller.api.approve(SHOP, 'other', 'alice')).rejects.toMatchObject({
    code: 'controller/other-plan',
  });
  await world.controller.api.approve(SHOP, approval?.digest ?? '', 'alice');
  await world.until(() => domains(world).length === 1 && world.ready(SHOP) === 'True InSync', 'it is removed');
  expect(world.application(SHOP).approval).toBeNull();
});

test('an operator suspends an application: it is looked at and not written to, over a restart too, until it is resumed', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.controller.api.suspend(SHOP, 'alice', 'a migration');
  // At once, not only when a pass has ended.
  expect(world.application(SHOP).pause).toMatchObject({ type: 'suspended', by: 'alice', reason: 'a migration' });
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.until(() => world.ready(SHOP) === 'False Paused', 'it is seen');
  await world.controller.drain();
  world.restart();
  world.start();
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.pass(7_200_000);
  expect(portOf(world).alias).toBe('WEB');
  expect(world.application(SHOP).pause).toMatchObject({ type: 'suspended', by: 'alice', reason: 'a migration' });
  await world.controller.api.resume(SHOP, 'bob');
  expect(world.application(SHOP).pause).toBeNull();
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it is applied');
  expect(portOf(world).alias).toBe('SITE');
});

test('a daemon that finds its source broken goes on with what was accepted, and removes nothing', async () => {
  const world = started('{ controller: { pruneAfter: 1m } }');
  await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.commit(FILES);
  await world.until(() => world.store.facts.has('files default'), 'it is kept');
  await new Promise((resolve) => setTimeout(resolve, 100));
  await world.controller.drain();
  const rules = domains(world);
  world.restart();
  world.state.ports.put({ ...portOf(world), alias: 'BY_HAND' });
  world.start();
  await world.sourceFails();
  await world.until(() => portOf(world).alias === 'WEB', 'drift is healed');
  await world.pass(24 * 3_600_000);
  expect(domains(world)).toEqual(rules);
  expect(world.controller.api.status().source).toMatchObject({
    acceptedRevision: 'main@sha1:0000000000000000000000000000000000000002',
    error: { code: 'source/unreachable' },
  });
});

test('two documents that mean one application: neither is touched', async () => {
  const world = started();
  const twin = APPLICATION.replace('name: shop', 'name: twin').replace(`appId: ${demo.appId}`, 'app: shop');
  await world.commit({ ...FILES, 'twin.yaml': twin });
  await world.until(() => world.application('Application/twin').failures > 3, 'it is refused');
  await world.pass(3_600_000);
  expect(world.application(SHOP).lastError?.code).toBe('application/same-scope');
  expect(world.application('Application/twin').lastError?.code).toBe('application/same-scope');
});

test('a newer commit is taken up at once by an application that fails', async () => {
  const world = started();
  world.answer = (request) =>
    request.isRead
      ? undefined
      : { status: 400, contentType: 'application/json', retryAfter: null, body: '{"code":20400,"msg":"no"}' };
  await world.commit(FILES);
  await world.until(
    () => world.application(SHOP).failures >= 1 || world.eventsOf('action.failed').length > 2,
    'it fails',
  );
  await world.pass(3_600_000);
  world.answer = () => undefined;
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  const committedMs = world.clock.now();
  await world.until(() => portOf(world).alias === 'SITE', 'it is applied');
  expect(world.clock.now() - committedMs).toBeLessThan(60_000);
});

test('a region that is not enabled gets no writes, is told once, and goes on by itself when it is enabled', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  const region = [...world.state.regions.all()].find(({ name }) => name === demo.region);
  if (region === undefined) throw new Error('the sandbox has no such region');
  world.state.regions.put({ ...region, status: '3' });
  world.requests.length = 0;
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.until(() => world.application(SHOP).pause?.type === 'region', 'it is paused');
  await world.pass(3_600_000);
  expect(world.writes()).toHaveLength(0);
  expect(world.eventsOf('region.paused')).toHaveLength(1);
  expect(world.controller.api.status().regions).toMatchObject([{ region: demo.region, state: 'paused' }]);
  world.state.regions.put(region);
  await world.until(() => world.ready(SHOP) === 'True InSync' && portOf(world).alias === 'SITE', 'it goes on');
  expect(world.eventsOf('region.resumed')).toHaveLength(1);
  expect(world.application(SHOP).pause).toBeNull();
});

test('outside of its window an application is looked at, drift is told, and nothing is written', async () => {
  // The world begins on a Friday at noon.
  const world = started(
    '{ windows: [ { name: nights, kind: allow, schedule: "0 22 * * *", duration: 2h, labels: { env: prod } } ] }',
  );
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'False Paused', 'it waits');
  expect(world.writes()).toHaveLength(0);
  expect(world.application(SHOP).pause).toEqual({
    type: 'window',
    window: 'nights',
    untilMs: Date.UTC(2026, 10, 20, 22),
  });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it is applied');
  expect(new Date(world.application(SHOP).lastSuccessMs ?? 0).getUTCHours()).toBeGreaterThanOrEqual(22);
  await world.until(() => new Date(world.clock.now()).getUTCHours() === 3, 'the window is over');
  world.state.ports.put({ ...portOf(world), alias: 'BY_HAND' });
  await world.until(() => world.eventsOf('drift.detected').length === 1, 'drift is told');
  expect(portOf(world).alias).toBe('BY_HAND');
  await world.until(() => portOf(world).alias === 'WEB', 'it is healed in the next window');
  expect(new Date(world.clock.now()).getUTCHours()).toBeGreaterThanOrEqual(22);
});

test('what is suspended for long is told, again and again, until it is resumed', async () => {
  const world = started('{ controller: { suspendedNotifyAfter: 24h } }');
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.controller.api.suspend(SHOP, 'alice', 'a migration');
  await world.pass(23 * 3_600_000);
  expect(world.eventsOf('application.suspended-long')).toHaveLength(0);
  await world.pass(26 * 3_600_000);
  const [told, ...more] = world.eventsOf('application.suspended-long');
  expect(told?.message).toContain(`${SHOP} for 24h`);
  expect(more).toHaveLength(1);
  await world.controller.api.resume(SHOP, 'alice');
  await world.pass(72 * 3_600_000);
  expect(world.eventsOf('application.suspended-long')).toHaveLength(2);
});

/** Reloads the configuration with a scope that is nobody's. @returns the former one. */
async function permitNothing(world: ReturnType<typeof started>) {
  const former = world.configuration();
  const scopes = { allow: ['nobody/*/*'] };
  await world.controller.reload({ ...former, settings: { ...former.settings, scopes } });
  return former;
}

test('another configuration is in force from the next pass on', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  const configuration = await permitNothing(world);
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.until(() => world.application(SHOP).lastError?.code === 'guard/scope', 'it is refused');
  expect(portOf(world).alias).toBe('WEB');
  await world.controller.reload(configuration);
  await world.until(() => portOf(world).alias === 'SITE', 'it is applied');
});

test('an application that is in sync fails while its scope is not permitted, and has recovered only after that', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  const configuration = await permitNothing(world);
  await world.controller.api.sync([SHOP], 'alice');
  await world.until(() => world.application(SHOP).failures > 2, 'it is refused again and again');
  expect(world.ready(SHOP)).toBe('False Failing');
  expect(world.application(SHOP).conditions.find(({ type }) => type === 'Stalled')).toMatchObject({
    status: 'True',
    message: expect.stringContaining('spec.scopes.allow'),
  });
  expect(world.eventsOf('application.failed').filter(({ application }) => application === SHOP)).toHaveLength(1);
  expect(world.eventsOf('application.recovered')).toEqual([]);
  await world.controller.reload(configuration);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it is permitted again');
  expect(world.eventsOf('application.recovered').filter(({ application }) => application === SHOP)).toHaveLength(1);
});
