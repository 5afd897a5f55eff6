import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { DaemonWorld } from './daemon.ts';
import { APPLICATION, domains, portOf, rule, SHOP, started, web } from './shop.ts';

const STORE = 'Application/store';
const SCOPE = `default/${demo.team}/${demo.region}/${demo.appId}`;
const SETTINGS = '{ controller: { resyncInterval: 1h }, prune: { maxShare: 1 } }';
const NEVER = new AbortController().signal;
const BLOG_ID = 43;

const application = (name: string, appId: number): string =>
  APPLICATION.replace('name: shop', `name: ${name}`).replace(`appId: ${demo.appId}`, `appId: ${appId}`);

const named = (name: string, app: string): string =>
  APPLICATION.replace('name: shop', `name: ${name}`).replace(`appId: ${demo.appId}`, `app: ${app}`);

const webOf = (name: string, alias: string): string => web(alias).replace('application: shop', `application: ${name}`);

/** A daemon whose Application shop is in sync in the scope of the platform's application 42. */
async function inSync(files: Readonly<Record<string, string>>): Promise<DaemonWorld> {
  const world = started(SETTINGS);
  await world.commit(files);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  await world.pass(60_000);
  expect(world.application(SHOP).scope).toBe(SCOPE);
  return world;
}

/** Begins a pass of shop for new files, and holds it while it observes. @returns what lets it continue. */
async function observing(world: DaemonWorld, files: Readonly<Record<string, string>>): Promise<() => void> {
  const arrived = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let isHeld = false;
  world.answer = async ({ method, path }) => {
    if (isHeld || method !== 'GET' || !path.includes('/ports')) return undefined;
    isHeld = true;
    arrived.resolve();
    await answered.promise;
    return undefined;
  };
  await world.commit(files);
  await arrived.promise;
  return answered.resolve;
}

/** Gives each application of the platform the name of the other one. */
function swapNames(world: DaemonWorld): void {
  const { applications } = world.state;
  const [shop, blog] = [demo.appId, BLOG_ID].map((id) => applications.get(String(id)));
  if (shop === undefined || blog === undefined) throw new Error('the sandbox has no such applications');
  applications.put({ ...shop, name: blog.name });
  applications.put({ ...blog, name: shop.name });
}

test('an application that a commit moves to another scope during its observation leaves the former one free', async () => {
  const world = await inSync({ 'shop.yaml': application('shop', demo.appId), 'web.yaml': webOf('shop', 'WEB') });
  const proceed = await observing(world, {
    'shop.yaml': application('shop', demo.appId),
    'web.yaml': webOf('shop', 'SITE'),
  });
  const before = world.writes().length;
  await world.commit({ 'shop.yaml': application('shop', BLOG_ID) });
  proceed();
  await world.pass(60_000);
  expect(world.writes().slice(before), 'the pass for the former manifest writes nothing').toEqual([]);
  expect(portOf(world).alias).toBe('WEB');
  expect([world.ready(SHOP), world.application(SHOP).scope]).toEqual([
    'True InSync',
    `default/${demo.team}/${demo.region}/${BLOG_ID}`,
  ]);
  await world.commit({
    'shop.yaml': application('shop', BLOG_ID),
    'store.yaml': application('store', demo.appId),
    'web.yaml': webOf('store', 'SITE'),
  });
  await world.pass(60_000);
  expect([world.ready(STORE), world.application(STORE).scope]).toEqual(['True InSync', SCOPE]);
});

test('one commit gives the scope of an application that is observed to another Application', async () => {
  const world = await inSync({ 'shop.yaml': application('shop', demo.appId), 'web.yaml': webOf('shop', 'WEB') });
  const proceed = await observing(world, {
    'shop.yaml': application('shop', demo.appId),
    'web.yaml': webOf('shop', 'SITE'),
  });
  await world.commit({
    'shop.yaml': application('shop', BLOG_ID),
    'store.yaml': application('store', demo.appId),
    'web.yaml': webOf('store', 'SITE'),
  });
  proceed();
  await world.pass(60_000);
  expect([world.ready(SHOP), world.ready(STORE), portOf(world).alias]).toEqual(['True InSync', 'True InSync', 'SITE']);
  expect(world.eventsOf('application.failed')).toEqual([]);
});

test('a commit that changes an observed application and adds one of the same scope: both are refused', async () => {
  const world = await inSync({ 'shop.yaml': application('shop', demo.appId), 'web.yaml': webOf('shop', 'WEB') });
  const proceed = await observing(world, {
    'shop.yaml': application('shop', demo.appId),
    'web.yaml': webOf('shop', 'SITE'),
  });
  const before = world.writes().length;
  await world.commit({
    'shop.yaml': application('shop', demo.appId),
    'store.yaml': named('store', demo.application),
    'web.yaml': webOf('shop', 'PAGE'),
  });
  proceed();
  await world.pass(3_600_000);
  for (const id of [SHOP, STORE] as const)
    expect(world.application(id).lastError?.code, id).toBe('application/same-scope');
  expect(world.writes().slice(before)).toEqual([]);
});

test('an Application whose name resolves to another id leaves the former scope, whose orphans can be pruned', async () => {
  const world = await inSync({
    'shop.yaml': named('shop', demo.application),
    'web.yaml': webOf('shop', 'WEB'),
    'www.yaml': rule('www', 'www.example.com'),
  });
  swapNames(world);
  await world.pass(2 * 3_600_000);
  expect(world.application(SHOP).scope).toBe(`default/${demo.team}/${demo.region}/${BLOG_ID}`);
  const { api } = world.controller;
  expect(new Set(api.orphans().map(({ scope }) => scope))).toEqual(new Set([SCOPE]));
  const { digest } = await api.planPrune(SCOPE, NEVER);
  const pruned = await api.prune(SCOPE, { by: 'a person', reason: 'a test', digest }, NEVER);
  expect([pruned.error, pruned.results.map(({ status }) => status)]).toEqual([null, ['done', 'done']]);
  expect(domains(world)).toEqual([]);
});

test('Applications whose names the platform swaps are both in sync afterwards', async () => {
  const world = await inSync({ 'shop.yaml': named('shop', demo.application), 'store.yaml': named('store', 'blog') });
  swapNames(world);
  await world.pass(6 * 3_600_000);
  expect([world.ready(SHOP), world.ready(STORE), world.application(STORE).scope]).toEqual([
    'True InSync',
    'True InSync',
    SCOPE,
  ]);
});
