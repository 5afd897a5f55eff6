import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { ControllerApi } from '../../../src/controller/api.ts';
import { METHODS } from '../../../src/controller/replicas/forwarded-methods.ts';
import type { PlanDocument } from '../../../src/model/plan-document.ts';
import type { ControllerStatus } from '../../../src/model/status.ts';
import type { Route } from '../../../src/server/route.ts';
import { routes } from '../../../src/server/routes/table.ts';
import { type Serving, startServing, TOKENS } from '../../server/serving.ts';
import { addressOf, comparable, EXAMPLES, OLDER } from './api-of-replicas.ts';
import { application, Group, type Replica } from './hand-led.ts';

const EAST = 'Application/east' as const;
const WEST = 'Application/west' as const;
const FILES = { ...application('east', 'www.example.com'), ...application('west', 'www.example.com') };
const SENT = { files: Object.entries(FILES).map(([path, content]) => ({ path, content })) };

interface Scene {
  readonly group: Group;
  readonly one: Replica;
  readonly two: Replica;
  at(replica: Replica): Serving<ControllerApi>;
}

/** Two replicas with their servers, in sync: one leads the source and the east, the other one the west. */
async function scene(): Promise<Scene> {
  const group = new Group();
  onTestFinished(() => group.close());
  const [one, two] = [group.open('one'), group.open('two')];
  await one.leadership.take('source:default');
  await one.leadership.take('platform:east');
  await two.leadership.take('platform:west');
  const servers = new Map<Replica, Serving<ControllerApi>>();
  for (const replica of [one, two]) {
    const started = await startServing({
      api: replica.controller.api,
      replicas: { shared: replica.shared, leaseMs: 15_000 },
    });
    onTestFinished(() => started.close());
    servers.set(replica, started);
  }
  await group.commit(FILES);
  await inSync(group, one, two);
  // The health of what was applied is read later; until then, an answer may differ from the one after it.
  await group.pass(20_000);
  return { group, one, two, at: (replica) => servers.get(replica) as Serving<ControllerApi> };
}

const inSync = (group: Group, ...replicas: readonly Replica[]) =>
  group.until(
    () => replicas.every((one) => ([EAST, WEST] as const).every((id) => one.ready(id) === 'True InSync')),
    'both applications are in sync, as each replica shows',
  );

const post = (at: Serving<ControllerApi>, path: string, body?: object) =>
  at.ask(path, { method: 'POST', role: 'admin', ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

test('every route has an example', () => {
  expect(routes.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(EXAMPLES).sort());
});

test('every route answers at a follower as it does at the leader', async () => {
  const { group, one, two, at } = await scene();
  one.feed.older.set(OLDER.id, { found: 'one', commit: OLDER, descent: async () => 'descends' });
  const ask = async (replica: Replica, route: Route) => {
    const example = EXAMPLES[route.operationId] ?? {};
    const body = route.operationId === 'planManifests' ? SENT : example.body;
    const { method } = route;
    const init = { method, role: 'admin', ...(body === undefined ? {} : { body: JSON.stringify(body) }) } as const;
    const answer = await at(replica).ask(addressOf(route, example), init);
    return { status: answer.status, body: comparable(answer.body, method) };
  };
  for (const route of routes) {
    if (EXAMPLES[route.operationId]?.differs !== undefined) continue;
    // A command runs at the leader either way, so its second answer is that of the first.
    let [follower, leader] = [await ask(two, route), await ask(one, route)];
    // What a replica knows of another one may be as old as its last poll.
    for (let times = 0; route.method === 'GET' && times < 5 && !isDeepStrictEqual(follower, leader); times += 1) {
      await group.pass(10_000);
      [follower, leader] = [await ask(two, route), await ask(one, route)];
    }
    expect(follower, route.operationId).toEqual(leader);
    expect(follower.status, route.operationId).not.toBe(500);
    await group.pass(10_000);
  }
  // Each method that only the leader can carry out was ordered from it.
  const asked = new Set(group.database.commands.map(({ method }) => method));
  expect([...asked].sort()).toEqual(Object.keys(METHODS).sort());
});

test('a plan over the platforms of two leaders is made by both, and is the same at each replica', async () => {
  const { group, one, two, at } = await scene();
  group.requests.splice(0);
  const [first, second] = [await at(one).ask('/api/v1/plan'), await at(two).ask('/api/v1/plan')];
  expect(first.body).toEqual(second.body);
  const plan = first.body as PlanDocument;
  expect(plan.scopes.map((scope) => scope.application)).toEqual([EAST, WEST]);
  expect(plan).toMatchObject({ revision: one.accepted(), unobserved: [], refusals: [], notes: [] });
  const changed = {
    ...SENT,
    files: SENT.files.map(({ path, content }) => ({ path, content: content.replaceAll('www.', 'new.') })),
  };
  const [sent, again] = [await post(at(one), '/api/v1/plan', changed), await post(at(two), '/api/v1/plan', changed)];
  expect(sent.status).toBe(200);
  expect(sent.body).toEqual(again.body);
  expect((sent.body as PlanDocument).scopes.map((scope) => scope.actions.length > 0)).toEqual([true, true]);
  // Each platform gets requests from its leader only.
  expect(new Set(group.requests.map(({ by, platform }) => `${by} ${platform}`))).toEqual(
    new Set(['one east', 'two west']),
  );
});

test('a part of a plan whose leader is gone is shown as not observed', async () => {
  const { one, two, at } = await scene();
  one.isDatabaseAway = true;
  const plan = (await at(two).ask('/api/v1/plan')).body as PlanDocument;
  expect(plan.scopes.map((scope) => scope.application)).toEqual([WEST]);
  expect(plan.unobserved).toMatchObject([{ application: EAST, code: 'controller/leader-silent' }]);
});

test('a command that a follower has confirmed is carried out by the next leader when its leader is gone', async () => {
  const { group, one, two, at } = await scene();
  one.isDatabaseAway = true;
  const answer = await post(at(two), '/api/v1/applications/east/suspend', { reason: 'a test' });
  expect(answer).toMatchObject({ status: 504, body: { code: 'controller/command-pending' } });
  const synced = await post(at(two), '/api/v1/applications/east/sync');
  expect(synced).toMatchObject({ status: 202, body: { syncing: [EAST] } });
  const isSuspended = () => two.controller.api.application(EAST)?.pause?.type === 'suspended';
  expect(isSuspended()).toBe(false);
  while (!(await two.leadership.take('platform:east'))) await group.pass(1_000);
  await group.until(isSuspended, 'the next leader has carried it out');
  const own = group.database.commands.filter(({ unit }) => unit === 'platform:east');
  await group.until(() => own.every(({ result }) => result !== undefined), 'all are finished');
  expect(own.map(({ method }) => method)).toEqual(['suspend', 'sync']);
  await group.until(() => two.eventsOf('application.suspended').length === 1, 'it is reported once');
});

test('a leader confirms a sync once it is recorded, so that the next one carries it out if the leader is killed', async () => {
  const { group, one, two, at } = await scene();
  // It is killed before it finds what it has recorded.
  one.isLost = (operation) => operation === 'commands';
  const synced = await post(at(one), '/api/v1/sync');
  expect(synced).toMatchObject({ status: 202, body: { syncing: [EAST, WEST] } });
  one.isDatabaseAway = true;
  const own = group.database.commands.filter(({ unit }) => unit !== 'platform:west');
  expect(own.map(({ method }) => method).sort()).toEqual(['pokeSource', 'retrySource', 'sync']);
  expect(own.every(({ result }) => result === undefined)).toBe(true);
  while (!(await two.leadership.take('platform:east'))) await group.pass(1_000);
  while (!(await two.leadership.take('source:default'))) await group.pass(1_000);
  await group.until(() => own.every(({ result }) => result !== undefined), 'the next leader has carried them out');
  expect(own.map(({ result }) => result?.value)).toEqual([{}, {}, {}]);
});

test('a sync of which a part was recorded names this part, which is carried out', async () => {
  const { group, one, two, at } = await scene();
  group.database.commands.splice(0);
  // The read of the source is recorded, and then the first part of the sync.
  let orders = 0;
  two.isLost = (operation) => operation === 'command' && (orders += 1) > 2;
  expect(await post(at(two), '/api/v1/sync')).toMatchObject({
    status: 503,
    body: {
      code: 'controller/sync-incomplete',
      detail: expect.stringMatching(
        /^Only a part of the sync is recorded and will be carried out: Platform\/east\. The rest failed: .* Nothing more was recorded\.$/,
      ),
      remedy: expect.stringMatching(/^Repeat the sync, which does no harm where it is recorded already\. /),
    },
  });
  const { commands } = group.database;
  expect(commands.map(({ method, unit }) => `${method} ${unit}`)).toEqual([
    'pokeSource source:default',
    'sync platform:east',
  ]);
  await group.until(() => commands.every(({ result }) => result !== undefined), 'it is carried out');
  expect(one.eventsOf('command.refused')).toEqual([]);
  two.isLost = (operation) => operation === 'command';
  const ofNone = { code: 'ledger/io', message: expect.stringMatching(/ Nothing was recorded\.$/) };
  await expect(two.controller.api.sync('all', 'ops')).rejects.toMatchObject(ofNone);
});

test('a leader that is cut off from the database confirms no sync and no hint, which it would forget', async () => {
  const { one, at } = await scene();
  one.isDatabaseAway = true;
  for (const path of ['applications/east/sync', 'sync'])
    expect((await post(at(one), `/api/v1/${path}`)).status, path).toBe(503);
  await expect(one.controller.api.pokeSource('a webhook')).rejects.toMatchObject({ code: /^ledger|^controller/ });
});

test('a command at a replica whose lease has ended is carried out by the next leader', async () => {
  const { group, one, two, at } = await scene();
  one.isDatabaseAway = true;
  while (!(await two.leadership.take('platform:east'))) await group.pass(1_000);
  // It does not know yet that another one has taken over.
  one.isLost = (operation) => operation === 'renew';
  one.isDatabaseAway = false;
  await group.until(() => one.controller.api.status().database?.isReachable === true, 'it reaches the database again');
  expect(one.leadership.of('platform:east')).toBeDefined();
  const answer = await post(at(one), '/api/v1/applications/east/suspend', { reason: 'a test' });
  expect(answer.status).toBe(200);
  await group.until(() => two.controller.api.application(EAST)?.pause?.type === 'suspended', 'it is suspended');
});

test('the source was read again when its leader reports that', async () => {
  const { group, one, two } = await scene();
  const reading = Promise.withResolvers<boolean>();
  one.workbench.forgetFailures = () => reading.promise;
  await two.controller.api.sync([EAST], 'ops');
  const [retry] = group.database.commands.filter(({ method }) => method === 'retrySource');
  await group.pass(10_000);
  expect(retry?.result).toBeUndefined();
  reading.resolve(false);
  await group.until(() => retry?.result !== undefined, 'it is reported');
});

test('while the database is away, a replica shows the last state with its age, refuses commands, and recovers', async () => {
  const { group, two, at } = await scene();
  two.isDatabaseAway = true;
  const statusNow = async () => (await at(two).ask('/api/v1/status')).body as ControllerStatus;
  await group.until(() => two.controller.api.status().database?.isReachable === false, 'it notices');
  expect(await statusNow()).toMatchObject({ counts: { applications: 2 }, database: { isReachable: false } });
  expect((await at(two).ask('/api/v1/applications/east')).body).toMatchObject({ id: EAST });
  expect((await at(two).ask('/api/v1/replicas', { role: 'admin' })).body).toMatchObject({ isCurrent: false });
  for (const path of ['applications/east/suspend', 'applications/west/suspend', 'platforms/east/rebind']) {
    const refused = await post(at(two), `/api/v1/${path}`, { reason: 'a test' });
    expect(refused.status, path).toBe(503);
    expect(refused.body, path).toMatchObject({ remedy: expect.any(String) });
  }
  expect((await post(at(two), '/api/v1/sync')).status).toBe(503);
  two.isDatabaseAway = false;
  await group.until(() => two.controller.api.status().database?.isReachable === true, 'it recovers');
  expect((await post(at(two), '/api/v1/applications/east/suspend', { reason: 'a test' })).status).toBe(200);
});

test('a stream of events resumes at another replica without a gap or a duplicate', async () => {
  const { group, one, two, at } = await scene();
  const read = async (from: Serving<ControllerApi>, after: string, count: number) => {
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${TOKENS.viewer}`, 'last-event-id': after };
    const response = await fetch(`${from.url}/api/v1/events/stream`, { headers, signal: stop.signal });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk as Uint8Array);
      if ([...text.matchAll(/^id: /gm)].length >= count) break;
    }
    stop.abort();
    expect(text).not.toContain('event: gap');
    const parts = text.split('\n\n').filter((part) => part.startsWith('id: '));
    return parts.slice(0, count).map((part) => /^id: (\S+)/.exec(part)?.[1] ?? '');
  };
  const { position } = (await at(one).ask('/api/v1/events')).body as { position: string };
  const start = `${position.split('-')[0]}-0`;
  const first = await read(at(one), start, 3);
  const rest = await read(at(two), first.at(-1) ?? '', 3);
  const all = await read(at(two), start, 6);
  expect([...first, ...rest]).toEqual(all);
  // An event of one replica arrives at a stream of the other.
  const next = read(at(two), position, 1);
  await post(at(one), '/api/v1/applications/east/suspend', { reason: 'a test' });
  expect(await next).toHaveLength(1);
  await group.until(() => two.eventsOf('application.suspended').length === 1, 'it has arrived once');
});

test('a command in a form that this version does not know is refused, and those after it are carried out', async () => {
  const { group, two, at } = await scene();
  const { commands, nowMs } = group.database;
  for (const [method, args] of [
    ['suspend', null],
    ['later', {}],
  ] as const)
    commands.push({ id: method, unit: 'platform:west', method, args, by: 'ops', addedMs: nowMs(), result: undefined });
  const answer = await post(at(two), '/api/v1/applications/west/suspend', { reason: 'a test' });
  expect(answer.status).toBe(200);
  await group.until(() => commands.every(({ result }) => result !== undefined), 'all are finished');
  const codes = commands.map(({ result }) => (result?.value as { error?: { code: string } } | undefined)?.error?.code);
  expect(codes).toEqual(['controller/command-failed', 'controller/unknown-command']);
});

test('a command to a platform that a reload removed is refused and reported, and not carried out when it returns', async () => {
  const { group, one, two, at } = await scene();
  await two.leadership.release('platform:west');
  expect(await post(at(one), '/api/v1/applications/west/suspend', { reason: 'a test' })).toMatchObject({
    body: { code: 'controller/command-pending' },
  });
  for (const replica of [one, two]) {
    const { operator, ...rest } = group.configuration(replica.name);
    await replica.controller.reload({ ...rest, operator: { ...operator, platforms: new Set(['east']) } });
  }
  await group.pass(2 * 3_600_000);
  const refused = two.eventsOf('command.refused');
  const message = expect.stringContaining('No controller finished it within 1h');
  expect(refused).toMatchObject([{ application: WEST, message, detail: { by: 'admin' } }]);
  for (const replica of [one, two]) await replica.controller.reload(group.configuration(replica.name));
  await two.leadership.take('platform:west');
  await group.pass(60_000);
  expect(two.controller.api.application(WEST)?.pause?.type).not.toBe('suspended');
  expect(two.eventsOf('command.refused')).toHaveLength(1);
});

test('a replica that stops while it waits for the leader says that the command is recorded, and the leader carries it out', async () => {
  const { group, one, two, at } = await scene();
  // The leader is slow to find its commands.
  const slow = Promise.withResolvers<void>();
  one.beforeStatement = async (operation) => {
    if (operation === 'commands') await slow.promise;
  };
  const path = '/api/v1/applications/east/resources/HttpGatewayRule/east-www/forget';
  const asked = post(at(two), path, { reason: 'a test' });
  const recorded = () => group.database.commands.find(({ method }) => method === 'forget');
  await group.until(() => recorded() !== undefined, 'it is recorded');
  await at(two).close();
  const answer = await asked;
  expect(answer).toMatchObject({ status: 504, body: { code: 'controller/command-pending' } });
  expect(answer.text).toContain(`The command ${recorded()?.id} is recorded`);
  expect(answer.text).not.toContain('Nothing was changed');
  slow.resolve();
  await group.until(() => recorded()?.result !== undefined, 'the leader carries it out');
  expect(one.eventsOf('object.forgotten')).toHaveLength(1);
});
