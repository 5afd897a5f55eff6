import { expect, test } from 'vitest';
import type { ControllerApi } from '../../src/controller/api.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import type { Caller } from '../../src/server/caller.ts';
import { permissionsOf } from '../../src/server/permissions.ts';
import { scopedApi } from '../../src/server/scoped-api.ts';
import { ofTeam, TeamsController } from './teams.ts';

const { signal } = new AbortController();
const by = { by: 'x', reason: 'x' };
const scope = 'default/team-b/region-1/77';
const digest = 'abcdef0123';
const resource: ResourceId = 'Component/store-web';

const WINDOW = { startSeconds: 0, endSeconds: 60, stepSeconds: 1 };

type Call = (api: ControllerApi, id: ResourceId) => unknown;

/**
 * A call of each method for one application or scope; null: the method is about all of them, or about none, and the other tests
 * of views cover it.
 */
const CALLS: Readonly<Record<keyof ControllerApi, Call | null>> = {
  startedMs: null,
  leads: null,
  status: null,
  applications: null,
  standings: null,
  commits: null,
  findCommit: null,
  orphans: null,
  events: null,
  pokeSource: null,
  dependencies: (api) => api.dependencies(),
  replicas: (api) => api.replicas(),
  rebind: (api) => api.rebind('default', 'x', 'x'),
  planManifests: null,
  application: (api, id) => api.application(id),
  details: (api, id) => api.details(id),
  resource: (api, id) => api.resource(id, resource),
  monitoring: (api, id) => api.monitoring(id, WINDOW),
  sync: (api, id) => api.sync([id], 'x'),
  suspend: (api, id) => api.suspend(id, 'x', 'x'),
  resume: (api, id) => api.resume(id, 'x'),
  approve: (api, id) => api.approve(id, digest, 'x'),
  doubts: (api, id) => api.doubts(id),
  resolve: (api, id) => api.resolve(id, '1', { ...by, decision: { type: 'not-applied' }, force: false }, signal),
  retry: (api, id) => api.retry(id, resource, 'x', signal),
  forget: (api, id) => api.forget(id, resource, by, signal),
  adoptById: (api, id) => api.adoptById(id, resource, { ...by, objectId: undefined }, signal),
  planAdoption: (api, id) => api.planAdoption(id, resource, signal),
  adopt: (api, id) => api.adopt(id, resource, { ...by, digest }, signal),
  planPrune: (api) => api.planPrune(scope, signal),
  prune: (api) => api.prune(scope, { ...by, digest }, signal),
  forgetOrphan: (api) => api.forgetOrphan(scope, undefined, by, signal),
  plan: (api, id) => api.plan([id], signal),
  history: (api, id) => api.history({ application: id, limit: 10 }),
  objects: (api, id) => api.objects(id),
  intents: (api, id) => api.intents(id),
};

const caller: Caller = { name: 'limited', via: 'token', groups: [], sessionEndsMs: null };

function limited() {
  const api = new TeamsController([
    ofTeam('shop', 'default/team-a/region-1/1'),
    ofTeam('store', 'default/team-b/region-1/3'),
  ]);
  const permissions = permissionsOf([{ role: 'admin', applications: ['default/team-a/*/*'] }]);
  return { api, scoped: scopedApi(api, caller, () => permissions) };
}

/** What a call answers, or the code of its error. */
async function outcome(call: Call, api: ControllerApi, id: ResourceId): Promise<unknown> {
  try {
    return (await call(api, id)) ?? 'nothing';
  } catch (error) {
    const { code, details } = error as { readonly code?: string; readonly details?: { readonly code: string } };
    return code ?? details?.code ?? error;
  }
}

test('every method of the controller is limited', () => {
  expect(Object.keys(limited().scoped).sort()).toEqual(Object.keys(CALLS).sort());
});

const OF_PLATFORMS: readonly string[] = ['replicas', 'dependencies', 'rebind'];

test.for(Object.entries(CALLS).flatMap(([name, call]) => (call === null ? [] : [{ name, call }])))(
  '$name refuses by itself what the caller may not see, as if it did not exist, before it is asked for',
  async ({ name, call }) => {
    const { api, scoped } = limited();
    const hidden = await outcome(call, scoped, 'Application/store');
    if (OF_PLATFORMS.includes(name)) expect(hidden).toBe('server/wrong-role');
    else expect(hidden).toBeOneOf(['controller/unknown-application', 'controller/not-orphaned', 'nothing']);
    expect(api.asked).toEqual([]);
    api.list = [];
    api.orphaned = [];
    expect(await outcome(call, scoped, 'Application/store')).toEqual(hidden);
  },
);

test('an application that changes its team during a reading is not shown', async () => {
  const { api, scoped } = limited();
  const readings = [
    scoped.monitoring('Application/shop', WINDOW),
    scoped.resource('Application/shop', 'Component/shop-web'),
    scoped.doubts('Application/shop'),
  ];
  api.list = [ofTeam('shop', 'default/team-b/region-1/1')];
  const [plan, ...moved] = await Promise.allSettled([scoped.plan('all', signal), ...readings]);
  expect(plan).toMatchObject({ value: { scopes: [], notes: [] } });
  for (const reading of moved) expect(reading).toMatchObject({ reason: { code: 'controller/unknown-application' } });
});

test('a rejected digest is not explained by plans that the caller may not see', async () => {
  const { api, scoped } = limited();
  api.list = api.list.map((one) => ({
    ...one,
    approval: { digest: `${one.id.length}`.padStart(8, '0'), refusals: [], sinceMs: 1 },
  }));
  const message = `${digest} is the digest of Application/store`;
  api.approve = async () => Promise.reject(new Error(message));
  await expect(scoped.approve('Application/shop', digest, 'x')).rejects.toThrow(
    'The digest was rejected. The plan of Application/shop',
  );
});

test('events are found behind any number of hidden ones, and a reader continues after them', () => {
  const { api, scoped } = limited();
  api.eventsKept = 5_000;
  const happen = (team: string): void => api.happen({ scope: `default/${team}/region-1/1` });
  for (let count = 0; count < 1_200; count += 1) happen('team-b');
  happen('team-a');
  for (let count = 0; count < 700; count += 1) happen('team-b');
  expect(scoped.events.newest).toBe(1_201);
  const { events, through } = scoped.events.since(0, 10);
  expect(events.map(({ sequence }) => sequence)).toEqual([1_201]);
  expect(through).toBe(1_901);
  expect(scoped.events.since(through, 10)).toEqual({ events: [], isComplete: true, through });
  // A page that is full continues right behind its last event.
  happen('team-a');
  expect(scoped.events.since(0, 1)).toMatchObject({ through: 1_201 });
  const heard: number[] = [];
  scoped.events.subscribe(({ sequence }) => heard.push(sequence));
  happen('team-b');
  happen('team-a');
  expect(heard).toEqual([1_904]);
});

test('records are checked once more when they are there: an application may have moved meanwhile', async () => {
  const { api, scoped } = limited();
  const foreign = { scope: 'default/team-b/region-1/3' };
  const [row] = api.rows;
  if (row === undefined) throw new Error('there is history');
  api.history = async () => [{ ...row, ...foreign }];
  expect(await scoped.history({ limit: 10 })).toEqual([]);
  const objects = await api.objects('Application/shop');
  api.objects = async () => objects.map((object) => ({ ...object, ...foreign }));
  expect(await scoped.objects('Application/shop')).toEqual([]);
});

test('the status of a limited caller has no causes, and plans of adoptions and orphans no notes about others', async () => {
  const { api, scoped } = limited();
  expect(scoped.status().regions).toEqual([{ platform: 'default', region: 'region-1', state: 'open', message: '' }]);
  const all = await api.plan('all');
  api.planAdoption = async () => all;
  api.planPrune = async () => all;
  const plans = [
    await scoped.planAdoption('Application/shop', resource, signal),
    await scoped.planPrune('default/team-a/region-1/77', signal),
    await scoped.plan('all', signal),
  ];
  for (const { scopes, notes, digest: shown } of plans) {
    expect(scopes.map(({ application }) => application)).toEqual(['Application/shop']);
    expect(notes).toEqual([]);
    // The digest is that of what is shown.
    expect(shown).toBe((await api.plan(['Application/shop'])).digest);
  }
});
