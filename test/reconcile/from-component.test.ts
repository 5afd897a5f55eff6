import { expect, test } from 'vitest';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import { manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

const ADDRESS = { team: 'team-a', region: 'region-1', appId: 42 };

/** A store with one model of three components, whose keys, names and names in the cluster all differ. */
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
      models: [
        {
          id: 'trio',
          name: 'Trio',
          versions: [
            {
              version: '1',
              components: [
                component('key-db', 'Main database', 'db'),
                component('key-cache', 'cache', 'redis'),
                component('key-twin', 'Main database (copy)', 'key-cache'),
              ],
            },
          ],
        },
      ],
    },
  ],
};

function component(key: string, name: string, k8sName: string) {
  return { key, name, k8sName, image: 'x:1', ports: [{ port: 3306, protocol: 'mysql', inner: true }] };
}

const INSTALL = manifest('StoreInstall', 'trio', {
  application: 'shop',
  store: 'main',
  model: { id: 'trio', version: '1' },
  build: false,
  allowSecondCopy: false,
});

function from(name: string, wanted: string) {
  return manifest('Component', name, {
    application: 'shop',
    from: { install: 'trio', component: wanted },
    ports: [{ port: 3306 }],
    unlistedPorts: 'keep',
  });
}

async function holdsFor(...wanted: readonly string[]) {
  const world = new ScopeWorld(seed, 'extended');
  await world.pass(workOf(ADDRESS, [INSTALL]));
  const outcome = await world.pass(workOf(ADDRESS, [INSTALL, ...wanted.map((one, at) => from(`c${at}`, one))]));
  return { world, holds: ended(outcome).plan.holds, inSync: ended(outcome).plan.inSync };
}

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const fixedId = (world: ScopeWorld) =>
  [...world.store.objects.values()].find(({ naturalKey }) => naturalKey.startsWith('component/'))?.remoteId;

const row = (world: ScopeWorld, name: string) => [...world.state.components.all()].find((one) => one.name === name);

test.each([
  ['service_key', 'key-db'],
  ['k8s_component_name', 'db'],
  ['display name', 'Main database'],
])('from.component finds a component by its %s', async (_what, wanted) => {
  const { world, holds } = await holdsFor(wanted);
  expect(holds).toEqual([]);
  expect(fixedId(world)).toBe(row(world, 'Main database')?.id);
});

test('from.component finds a component by its alias, which the platform makes', async () => {
  const world = new ScopeWorld(seed, 'extended');
  await world.pass(workOf(ADDRESS, [INSTALL]));
  const cache = row(world, 'cache');
  const outcome = await world.pass(workOf(ADDRESS, [INSTALL, from('cache', cache?.alias ?? '')]));
  expect(ended(outcome).plan.holds).toEqual([]);
  expect(fixedId(world)).toBe(cache?.id);
});

test('a name that two components answer to is held, and both are listed', async () => {
  const { holds } = await holdsFor('key-cache');
  expect(holds).toMatchObject([{ code: 'component/ambiguous-install-component' }]);
  expect(holds[0]?.message).toContain('2 components of StoreInstall/trio match "key-cache"');
  expect(holds[0]?.message).toMatch(/key-cache \(.*"cache".*key-twin \(/);
  expect(holds[0]?.message).not.toContain('key-db');
});

test('a name that no component answers to is held with every name that would be found', async () => {
  const { holds } = await holdsFor('postgres');
  expect(holds).toMatchObject([{ code: 'component/ambiguous-install-component' }]);
  expect(holds[0]?.message).toContain('no component of StoreInstall/trio matches "postgres"');
  for (const name of ['key-db', 'key-cache', 'key-twin', '"Main database"', 'redis'])
    expect(holds[0]?.message).toContain(name);
});

test('an install recorded by an earlier version is asked for the names that its record lacks', async () => {
  const world = new ScopeWorld(seed, 'extended');
  await world.pass(workOf(ADDRESS, [INSTALL]));
  for (const [uid, object] of world.store.objects) {
    if (object.kind !== 'StoreInstall') continue;
    const components = (object.remoteAux['components'] as { serviceId: string; serviceKey: string }[]).map(
      ({ serviceId, serviceKey }) => ({ serviceId, serviceKey, k8sComponentName: '' }),
    );
    world.store.objects.set(uid, { ...object, remoteAux: { ...object.remoteAux, components } });
  }
  const outcome = await world.pass(workOf(ADDRESS, [INSTALL, from('db', 'Main database')]));
  expect(ended(outcome).plan.holds).toEqual([]);
  expect(fixedId(world)).toBe(row(world, 'Main database')?.id);
});

test('one component under two names is held for the second document', async () => {
  const { holds, inSync } = await holdsFor('key-db', 'Main database');
  expect(holds).toMatchObject([{ code: 'component/named-twice', resource: 'Component/c1' }]);
  expect(holds[0]?.message).toContain('Component/c0');
  expect(inSync).toContain('Component/c0');
});
