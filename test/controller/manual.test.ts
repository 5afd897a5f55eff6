import { expect, test } from 'vitest';
import type { PlatformRequest, PlatformResponse } from '../../src/platform/transport.ts';
import type { DaemonWorld } from './daemon.ts';
import { domains, FILES, rule, SHOP, started, web } from './shop.ts';

const { signal } = new AbortController();
const why = { by: 'alice', reason: 'looked in the console' };
const RULE = 'HttpGatewayRule/www';

const lost: PlatformResponse = { status: 502, contentType: 'text/html', retryAfter: null, body: 'gone' };

const isCreation = ({ method, path }: PlatformRequest): boolean => method === 'POST' && path.includes('httpdomains');

/** A rule whose creation got no usable answer. @returns the id of its intent. */
async function inDoubt(reaches: boolean): Promise<{ readonly world: DaemonWorld; readonly intent: string }> {
  const world = started();
  const { 'www.yaml': www, ...others } = FILES;
  await world.commit(others);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  world.answer = async (request) => {
    if (!isCreation(request)) return undefined;
    world.answer = () => undefined;
    if (reaches) await world.sandbox(request);
    return lost;
  };
  await world.commit({ ...others, 'www.yaml': www });
  await world.until(() => world.eventsOf('action.in-doubt').length > 0, 'in doubt');
  const [doubt] = await world.controller.api.doubts(SHOP);
  if (doubt === undefined) throw new Error('nothing is in doubt');
  expect(doubt).toMatchObject({ resource: RULE, evidence: null, settleWindow: { state: 'until' }, answer: /502/ });
  return { world, intent: doubt.id };
}

const history = async (world: DaemonWorld, event: string) =>
  (await world.controller.api.history({ limit: 1000 })).filter((row) => row.event === event);

test('a request in doubt is resolved once its window is over or by force, with the author, and the next pass relies on it', async () => {
  const { world, intent } = await inDoubt(false);
  const { api } = world.controller;
  const request = { ...why, decision: { type: 'not-applied' }, force: false } as const;
  await expect(api.resolve(SHOP, intent, request, signal)).rejects.toMatchObject({ code: 'ledger/intent-settling' });
  await expect(api.resolve('Application/blog', intent, request, signal)).rejects.toMatchObject({
    code: 'ledger/no-intent',
  });
  expect(domains(world)).toEqual([]);
  const forced = { ...request, force: true };
  // A double click: the second one finds that it is decided.
  const both = await Promise.allSettled([1, 2].map(() => api.resolve(SHOP, intent, forced, signal)));
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(both[1]).toMatchObject({ reason: { code: 'ledger/intent-decided' } });
  expect(await history(world, 'resolved')).toMatchObject([
    { actor: 'alice, through daemon', detail: { intent, decision: 'not-applied', reason: why.reason, forced: true } },
  ]);
  await world.until(() => domains(world).length > 0, 'it is sent again');
  expect(domains(world)).toEqual(['www.example.com']);
  expect(await api.doubts(SHOP)).toEqual([]);
  expect(world.eventsOf('intent.resolved')).toMatchObject([{ resource: RULE, detail: { by: 'alice' } }]);
});

test('a request that was applied is recorded as if its answer had arrived, and is not sent again', async () => {
  const { world, intent } = await inDoubt(true);
  const { api } = world.controller;
  const request = { ...why, decision: { type: 'applied', id: undefined }, force: true } as const;
  const resolved = await api.resolve(SHOP, intent, request, signal);
  expect(resolved).toMatchObject({ intent, decision: 'applied', object: { resource: RULE, origin: 'created' } });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  await world.pass(3_600_000);
  expect(domains(world)).toEqual(['www.example.com']);
  expect(world.writes().filter(isCreation)).toHaveLength(1);
});

test('a decision that the ledger cannot record changes nothing, also over a restart', async () => {
  const { world, intent } = await inDoubt(false);
  const request = { ...why, decision: { type: 'not-applied' }, force: true } as const;
  world.isDiskFull = true;
  await expect(world.controller.api.resolve(SHOP, intent, request, signal)).rejects.toMatchObject({
    code: 'ledger/full',
  });
  await world.controller.drain();
  world.isDiskFull = false;
  world.restart();
  world.start();
  await world.commit(FILES);
  await world.until(() => world.application(SHOP).scope !== null, 'it is known');
  expect((await world.controller.api.doubts(SHOP)).map(({ id }) => id)).toEqual([intent]);
  expect(await history(world, 'resolved')).toEqual([]);
});

test('a decision waits for the pass in progress, and gives up in time without an effect', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  const { api } = world.controller;
  const open = Promise.withResolvers<undefined>();
  let isAsked = false;
  world.answer = async ({ path }) => {
    if (!path.includes('/apps/')) return undefined;
    isAsked = true;
    return open.promise;
  };
  await api.sync([SHOP], 'bob');
  await world.until(() => isAsked, 'a pass is in progress');
  const gone = new AbortController();
  const left = api.forget(SHOP, RULE, why, gone.signal);
  gone.abort(new Error('the client is gone'));
  await expect(left).rejects.toThrow('the client is gone');
  const late = api.forget(SHOP, RULE, why, signal);
  await expect(late).rejects.toMatchObject({ code: 'controller/busy', disposition: 'retry' });
  let isDone = false;
  const patient = api.forget(SHOP, RULE, why, signal).then((answer) => {
    isDone = true;
    return answer;
  });
  await world.pass(1_000);
  expect([isDone, (await api.objects(SHOP)).length]).toEqual([false, 3]);
  world.answer = () => undefined;
  open.resolve(undefined);
  expect((await patient).forgotten.map(({ resource }) => resource)).toEqual([RULE]);
});

test('a forgotten rule stays on the platform, is held as not managed, and is recorded with the author', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  const { api } = world.controller;
  await expect(api.forget(SHOP, 'HttpGatewayRule/other', why, signal)).rejects.toMatchObject({
    code: 'ledger/no-object',
  });
  await expect(api.forget('Application/blog', RULE, why, signal)).rejects.toMatchObject({ code: /ledger\/no-object/ });
  const writes = world.writes().length;
  expect(await api.forget(SHOP, RULE, why, signal)).toMatchObject({ forgotten: [{ resource: RULE }], warnings: [] });
  await expect(api.forget(SHOP, RULE, why, signal)).rejects.toMatchObject({ code: 'ledger/no-object' });
  await world.until(() => world.ready(SHOP).endsWith('Held'), 'held');
  const held = world.application(SHOP).resources.find(({ id }) => id === RULE);
  expect(held?.holds.map(({ code }) => code)).toEqual(['rule/not-ours']);
  expect([domains(world), world.writes().length]).toEqual([['www.example.com'], writes]);
  expect(await history(world, 'forgotten')).toMatchObject([
    { actor: 'alice, through daemon', detail: { resource: RULE, reason: why.reason } },
  ]);
});

test('a change that the platform takes without effect is held, and sent again after a retry', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  const { api } = world.controller;
  let sent = 0;
  world.answer = (request) => {
    if (request.isRead) return undefined;
    sent += 1;
    return { status: 200, contentType: 'application/json', retryAfter: null, body: '{}' };
  };
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.until(
    () => world.application(SHOP).resources.some(({ holds }) => holds.some(({ code }) => code === 'effect/not-taken')),
    'held',
  );
  await world.pass(3_600_000);
  const before = sent;
  expect(await api.retry(SHOP, RULE, 'alice', signal), 'it has not failed').toEqual({ retried: [] });
  const both = await Promise.all([1, 2].map(() => api.retry(SHOP, 'Component/shop-web', 'alice', signal)));
  expect(both.map(({ retried }) => retried.length)).toEqual([1, 0]);
  await world.until(() => sent > before, 'it is sent again');
  expect(await history(world, 'retry')).toMatchObject([{ actor: 'alice, through daemon' }]);
  expect(world.eventsOf('hold.retried')).toHaveLength(1);
});

test('a rule of another id is identified by a person, and an impossible id is refused', async () => {
  const world = started();
  await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  const { api } = world.controller;
  const [object] = (await api.objects(SHOP)).filter(({ resource }) => resource === RULE);
  const bad = { ...why, objectId: '../x' };
  await expect(api.adoptById(SHOP, RULE, bad, signal)).rejects.toMatchObject({ code: 'ledger/cannot-adopt' });
  const same = { ...why, objectId: object?.remoteId ?? undefined };
  await expect(api.adoptById(SHOP, RULE, same, signal)).rejects.toMatchObject({ code: 'ledger/cannot-adopt' });
  const other = await api.adoptById(SHOP, RULE, { ...why, objectId: 'abc' }, signal);
  expect(other.adopted).toMatchObject({ remoteId: 'abc', state: 'present' });
  expect(await history(world, 'adopted')).toMatchObject([{ actor: 'alice, through daemon' }]);
});
