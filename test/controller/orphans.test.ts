import { expect, test } from 'vitest';
import type { ScopeKey } from '../../src/model/ids.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { APPLICATION, BLOG, domains, FILES, rule, SHOP, started, web } from './shop.ts';
import type { DaemonWorld } from './daemon.ts';

const SCOPE = `default/${demo.team}/${demo.region}/${demo.appId}`;
const REST = { 'blog.yaml': BLOG };

const orphans = ({ controller }: DaemonWorld): readonly string[] =>
  controller.api.orphans().map(({ scope, id }) => `${scope} ${id}`);

const reported = (world: DaemonWorld) =>
  world.events
    .filter(({ type }) => type.startsWith('orphan.'))
    .map(({ type, severity, scope, detail }) => [type, severity, scope, (detail as { resources: unknown }).resources]);

async function inSync(): Promise<DaemonWorld> {
  const world = started('{ controller: { pruneAfter: 1m }, prune: { maxShare: 1 } }');
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  return world;
}

const LEFT = ['Component/shop-web', 'HttpGatewayRule/www'] as const;

test('resources become orphaned with one event and end it with one, over a restart too, and are never removed', async () => {
  const world = await inSync();
  expect(reported(world)).toEqual([]);
  await world.commit(REST);
  expect(orphans(world)).toEqual(LEFT.map((id) => `${SCOPE} ${id}`));
  const [{ sinceMs } = { sinceMs: 0 }] = world.controller.api.orphans();
  expect(world.controller.api.status().orphans).toBe(2);
  const detected = ['orphan.detected', 'warning', SCOPE, LEFT];
  expect(reported(world)).toEqual([detected]);
  expect(world.eventsOf('orphan.detected')[0]?.detail).toMatchObject({
    code: 'scope/orphaned',
    remedy: expect.stringContaining(`portolan orphans prune ${SCOPE}`),
  });
  await world.pass(7_200_000);
  await world.controller.drain();
  world.restart();
  world.start();
  await world.commit(REST);
  await world.pass(600_000);
  expect(orphans(world)).toHaveLength(2);
  expect(world.controller.api.orphans()[0]?.sinceMs).toBe(sinceMs);
  expect(domains(world)).toEqual(['www.example.com']);
  expect(reported(world), 'once').toEqual([detected]);
  // The Application comes back under another name and in another file.
  const { 'app.yaml': _, ...others } = FILES;
  const renamed = Object.entries({ ...others, 'x/store.yaml': APPLICATION.replace('name: shop', 'name: store') });
  await world.commit(
    Object.fromEntries(renamed.map(([name, text]) => [name, text.replace('application: shop', 'application: store')])),
  );
  await world.until(() => world.ready('Application/store') === 'True InSync', 'in sync');
  await world.pass(120_000);
  expect(orphans(world)).toEqual([]);
  expect(reported(world)).toEqual([detected, ['orphan.gone', 'info', SCOPE, LEFT]]);
  const history = await world.controller.api.history({ limit: 1000 });
  expect(history.filter(({ event }) => /orphaned/.test(event)).map(({ event }) => event)).toEqual([
    'not-orphaned',
    'orphaned',
  ]);
});

test('nothing is pruned after a standstill before the source is read again', async () => {
  const world = await inSync();
  await world.commit(REST);
  const scope = SCOPE as ScopeKey;
  const { signal } = new AbortController();
  const { digest } = await world.controller.api.planPrune(scope, signal);
  world.feed.confirm = () => {};
  world.beforeCommit = async ({ operations }) => {
    if (operations.some((one) => one.op === 'record' && one.event === 'prune-orphan')) world.clock.advance(7_200_000);
  };
  await world.controller.api.prune(scope, { by: 'ops', reason: 'a test', digest }, signal);
  expect(domains(world)).toEqual(['www.example.com']);
});

test('an Application that comes back without its resources has them pruned by the rules of the daemon', async () => {
  const world = await inSync();
  await world.commit(REST);
  await world.commit({ ...REST, 'app.yaml': APPLICATION });
  await world.pass(7_200_000);
  expect(domains(world)).toEqual([]);
  await world.commit(REST);
  expect(orphans(world)).toEqual([]);
  expect(reported(world).map(([type]) => type)).toEqual(['orphan.detected', 'orphan.gone']);
});

test('an empty, faulty or unreadable source, a suspension and a resource removed from git orphan nothing', async () => {
  const world = await inSync();
  await world.commit({});
  expect(world.controller.api.status().source.error?.code).toBe('guard/empty-source');
  await world.commit({ 'app.yaml': 'kind: [' });
  await world.sourceFails();
  await world.pass(120_000);
  await world.commit(FILES);
  await world.controller.api.suspend(SHOP, 'a person', 'a move');
  await world.pass(120_000);
  await world.controller.api.resume(SHOP, 'a person');
  await world.commit({ 'app.yaml': APPLICATION, 'blog.yaml': BLOG, 'web.yaml': web('WEB') });
  await world.pass(7_200_000);
  expect(domains(world)).toEqual([]);
  expect([orphans(world), reported(world)]).toEqual([[], []]);
});

test('before a source is accepted, nothing is orphaned', async () => {
  const world = await inSync();
  await world.controller.drain();
  world.restart();
  world.unreadableFact = 'files';
  world.start();
  await world.sourceFails();
  await world.pass(180_000);
  expect(world.controller.api.applications()).toEqual([]);
  expect([orphans(world), reported(world)]).toEqual([[], []]);
});

test('an Application that means another application orphans the former one once it is resolved', async () => {
  const world = await inSync();
  const other = APPLICATION.replace(`appId: ${demo.appId}`, 'appId: 43');
  await world.commit({ 'app.yaml': other });
  expect(orphans(world), 'it may still be read as the former one').toEqual([]);
  await world.pass(120_000);
  expect(orphans(world)).toEqual(LEFT.map((id) => `${SCOPE} ${id}`));
  // A plan of one application calls no other application orphaned.
  await world.commit({
    'app.yaml': APPLICATION,
    'blog.yaml': BLOG,
    'web.yaml': web('WEB'),
    'r.yaml': rule('www', 'www.example.com'),
  });
  await world.pass(120_000);
  const plan = await world.controller.api.plan(['Application/blog'], new AbortController().signal);
  expect(plan.notes).toEqual([]);
});

test('an Application that is resolved and removed between two looks leaves orphans at once', async () => {
  const world = started('{ prune: { maxShare: 1 } }');
  await world.commit(REST);
  await world.until(() => world.ready('Application/blog') !== 'Unknown NotObserved', 'a first look');
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  await world.commit(REST);
  expect(orphans(world)).toEqual(LEFT.map((id) => `${SCOPE} ${id}`));
});

test('what the last pass of a removed Application leaves is orphaned too, and a decision waits for its end', async () => {
  const world = started('{ prune: { maxShare: 1 } }');
  await world.commit(REST);
  const arrived = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  world.answer = async ({ method, path }) => {
    if (method !== 'POST' || !path.includes('httpdomains')) return undefined;
    arrived.resolve();
    await answered.promise;
    return undefined;
  };
  await world.commit(FILES);
  await arrived.promise;
  await world.commit(REST);
  expect(orphans(world)).toEqual([`${SCOPE} Component/shop-web`]);
  const author = { by: 'a person', reason: 'a move' };
  const forgotten = world.controller.api.forgetOrphan(SCOPE, LEFT[1], author, new AbortController().signal);
  answered.resolve();
  expect((await forgotten).forgotten.map(({ resource }) => resource)).toEqual([LEFT[1]]);
  expect(domains(world), 'it stays on the platform').toEqual(['www.example.com']);
  expect(orphans(world)).toEqual([`${SCOPE} Component/shop-web`]);
});

test.for<readonly [string, 'GET' | 'DELETE', readonly string[]]>([
  ['it observes the platform', 'GET', ['a.example.com', 'b.example.com', 'www.example.com']],
  // The first request is answered before the commit is known.
  ['it removes the first of three rules', 'DELETE', ['b.example.com', 'www.example.com']],
])('a prune stops when a commit brings the Application back while %s', async ([_, held, left]) => {
  const world = await inSync();
  const files = { ...FILES, 'a.yaml': rule('a', 'a.example.com'), 'b.yaml': rule('b', 'b.example.com') };
  await world.commit(files);
  await world.until(() => domains(world).length === 3, 'three rules');
  await world.pass(60_000);
  await world.commit(REST);
  await world.pass(20_000);
  const scope = SCOPE as ScopeKey;
  const { signal } = new AbortController();
  const { digest } = await world.controller.api.planPrune(scope, signal);
  const [arrived, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isHeld = false;
  world.answer = async ({ method }) => {
    if (method !== held || isHeld) return undefined;
    isHeld = true;
    arrived.resolve();
    await answered.promise;
    return undefined;
  };
  const pruned = world.controller.api
    .prune(scope, { by: 'ops', reason: 'a test', digest }, signal)
    .catch((error: unknown) => error);
  await arrived.promise;
  await world.commit(files);
  expect(orphans(world)).toEqual([]);
  answered.resolve();
  const answer = await pruned;
  if (held === 'GET') expect(answer).toMatchObject({ code: 'controller/not-orphaned' });
  expect(domains(world)).toEqual(left);
  const isWhole = (): boolean => world.ready(SHOP) === 'True InSync' && domains(world).length === 3;
  await world.until(isWhole, 'the application has its rules again');
});
