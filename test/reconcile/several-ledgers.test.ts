import { expect, test } from 'vitest';
import { openMemoryLedger } from '../support/memory-ledger.ts';
import { confirmInstalls } from '../../src/reconcile/resolution/manual-changes.ts';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

const ADDRESS = { team: 'team-a', region: 'region-1', appId: 42 };
const SCOPE = { platform: 'default', ...ADDRESS };

/** An empty application, and a store with two models of one component each. */
const seed: Seed = {
  enterprise: { id: 'e'.repeat(32) },
  regions: [{ id: '1'.repeat(32), name: ADDRESS.region }],
  teams: [{ id: 'd'.repeat(32), name: ADDRESS.team }],
  applications: [{ ...ADDRESS, id: ADDRESS.appId, name: 'shop' }],
  stores: [
    {
      url: 'https://store.example.com',
      domain: 'market-1',
      marketName: 'main',
      models: ['db', 'cache'].map((id) => ({
        id,
        name: id,
        versions: [{ version: '1', components: [{ key: id, name: id, k8sName: id, image: `${id}:1` }] }],
      })),
    },
  ],
};

function install(id: string) {
  return manifest('StoreInstall', id, {
    application: 'shop',
    store: 'main',
    model: { id, version: '1' },
    build: false,
    allowSecondCopy: false,
  });
}

const work = (...models: readonly string[]) => workOf(ADDRESS, models.map(install));
/** As a job that passes --yes and nothing else. */
const job = { ...allowEverything, permissions: { ...allowEverything.permissions, firstInstall: () => false } };

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(`the pass was ${JSON.stringify(outcome)}`);
  return outcome;
}

const codes = (outcome: Outcome | 'died') => ended(outcome).plan.holds.map(({ code }) => code);

/** Another ledger installs a model: rows that this ledger knows nothing of. */
function installElsewhere(world: ScopeWorld, modelId: string): void {
  const id = world.state.nextNumber('install');
  const store = { storeUrl: 'https://store.example.com', storeDomain: 'market-1' };
  world.state.markets.put({ url: store.storeUrl, domain: store.storeDomain, name: 'main', keyHash: null });
  world.state.installs.put({ id, appId: ADDRESS.appId, ...store, modelId, version: '1' });
  const template = [...world.state.components.all()][0];
  const fresh = { id: String(id).repeat(32).slice(0, 32), groupId: id, key: modelId, k8sName: `${modelId}-${id}` };
  world.state.components.put({ ...(template ?? COMPONENT), ...fresh });
}

const COMPONENT = {
  id: '',
  appId: ADDRESS.appId,
  teamId: 'd'.repeat(32),
  region: ADDRESS.region,
  alias: 'grother',
  name: 'other',
  key: '',
  k8sName: '',
  image: 'other:1',
  version: '1',
  updateVersion: 1,
  groupId: 0,
  memoryMib: 64,
  cpuMillis: 0,
  nodes: 1,
  source: 'market',
  monitored: true,
  life: { type: 'steady', status: 'undeploy' },
} as const;

test.for(['documented', 'extended'] as const)(
  'of two fresh ledgers that install at once, the second finds the list changed and sends nothing (%s)',
  async (dialect) => {
    const world = new ScopeWorld(seed, dialect);
    let reads = 0;
    world.answer = (request) => {
      // The plan has been made upon an empty application, and the install is about to leave.
      if (request.operation === 'getApplication') reads += 1;
      if (request.operation === 'getApplication' && reads === 2) installElsewhere(world, 'db');
      return undefined;
    };
    const outcome = ended(await world.pass(work('db'), job));
    expect(outcome.results).toMatchObject([
      {
        status: 'failed',
        reason: { type: 'not-sent' },
        answer: { message: expect.stringContaining('not sent: the application had 0 components') },
      },
    ]);
    expect(world.writes()).toEqual([]);
    expect(world.store.intents.size).toBe(0);
    world.answer = () => undefined;
    expect(codes(await world.pass(work('db'), job))).toEqual([
      dialect === 'extended' ? 'install/not-ours' : 'install/first-into-unknown',
    ]);
    expect(world.state.installs.size).toBe(1);
  },
);

test('nothing is installed while the list cannot be read once more', async () => {
  const world = new ScopeWorld(seed, 'extended');
  let reads = 0;
  world.alter = (request, response) => {
    if (request.operation === 'getApplication') reads += 1;
    return request.operation === 'getApplication' && reads === 2 ? { ...response, status: 403, body: '{}' } : response;
  };
  const outcome = ended(await world.pass(work('db')));
  expect(outcome.results).toMatchObject([
    {
      status: 'failed',
      reason: { type: 'not-sent' },
      answer: { message: expect.stringContaining('could not be read') },
    },
  ]);
  expect(world.writes()).toEqual([]);
});

test.for(['documented', 'extended'] as const)(
  'what appeared beside an install while it ran holds the application until a person has looked (%s)',
  async (dialect) => {
    const world = new ScopeWorld(seed, dialect);
    world.alter = (request, response) => {
      if (request.operation !== 'install') return response;
      const body = JSON.parse(response.body) as { service_list: Record<string, unknown>[] };
      const [own] = body.service_list;
      const other = { ...own, service_id: 'f'.repeat(32), tenant_service_group_id: 0 };
      return { ...response, body: JSON.stringify({ ...body, service_list: [...body.service_list, other] }) };
    };
    const first = ended(await world.pass(work('db')));
    expect(first.results).toMatchObject([{ status: 'done' }]);
    expect(first.plan.holds).toMatchObject([
      {
        code: 'install/not-alone',
        message: expect.stringContaining('1 component appeared that is not of it'),
        remedy: expect.stringContaining('portolan ledger confirm default/team-a/region-1/42'),
      },
    ]);
    // No further install goes into it.
    expect(codes(await world.pass(work('db', 'cache')))).toEqual(['install/not-alone', 'install/not-alone']);
    expect(world.writes()).toHaveLength(1);
    const ledger = openMemoryLedger(world.store);
    await confirmInstalls({ ledger, clock: world.clock, actor: 'a person' }, SCOPE);
    expect(codes(await world.pass(work('db')))).toEqual([]);
  },
);

test('an older ledger that lacks an install finds more components than it knows, and holds (documented)', async () => {
  const world = new ScopeWorld(seed, 'documented');
  await world.pass(work('db'), job);
  expect(world.state.installs.size).toBe(1);
  // What this ledger forgot, or another one did.
  installElsewhere(world, 'cache');
  const outcome = ended(await world.pass(work('db', 'cache'), job));
  expect(outcome.plan.holds).toMatchObject([
    {
      code: 'install/unknown-components',
      resource: 'StoreInstall/cache',
      message: expect.stringContaining('had 1 components after the last install of this ledger and has 2 now'),
    },
  ]);
  expect(world.writes()).toHaveLength(1);
  const ledger = openMemoryLedger(world.store);
  const hand = { ledger, clock: world.clock, actor: 'a person' };
  expect(await confirmInstalls(hand, SCOPE)).toMatchObject({ type: 'now' });
  expect(await confirmInstalls(hand, SCOPE)).toMatchObject({ type: 'already' });
  expect(codes(await world.pass(work('db', 'cache'), job))).toEqual([]);
  expect(world.writes()).toHaveLength(2);
});

test('components that went are no reason to hold (documented)', async () => {
  const world = new ScopeWorld(seed, 'documented');
  await world.pass(work('db'), job);
  for (const { id } of world.state.components.all()) world.state.components.delete(id);
  expect(codes(await world.pass(work('db', 'cache'), job))).toEqual([]);
  expect(world.writes()).toHaveLength(2);
});

test.for(['documented', 'extended'] as const)(
  'each install of a plan rests on a list that was read after the one before it (%s)',
  async (dialect) => {
    const world = new ScopeWorld(seed, dialect);
    const outcome = ended(await world.pass(work('db', 'cache'), job));
    expect(outcome.results.map(({ status }) => status)).toEqual(['done', 'done']);
    expect(codes(await world.pass(work('db', 'cache'), job))).toEqual([]);
    const operations = world.exchanges.map(({ request }) => request.operation);
    const between = operations.slice(operations.indexOf('install') + 1, operations.lastIndexOf('install'));
    expect(between).toContain('getApplication');
  },
);
