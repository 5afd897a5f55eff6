import { expect, test } from 'vitest';
import type { Work } from '../../src/reconcile/reconcile.ts';
import { requestFloor } from '../support/request-floor.ts';
import { createSharedReadings } from '../../src/reconcile/shared-readings.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

const APPLICATIONS = 20;
const COMPONENTS_EACH = 3;
const TEAMS = ['team-a', 'team-b'] as const;

const serviceId = (application: number, component: number): string =>
  `${application.toString(16).padStart(4, '0')}${component.toString(16).padStart(28, '0')}`;
const teamOf = (application: number): string => TEAMS[application % TEAMS.length] ?? TEAMS[0];

/** Applications 1 to 20 in two teams, three components each, the first with a rule. */
function seed(): Seed {
  return {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '1'.repeat(32), name: 'region-1' }],
    teams: TEAMS.map((name, index) => ({ id: String(index).repeat(32), name })),
    applications: Array.from({ length: APPLICATIONS }, (_, index) => ({
      id: index + 1,
      team: teamOf(index + 1),
      region: 'region-1',
      name: `app-${index + 1}`,
      components: Array.from({ length: COMPONENTS_EACH }, (__, component) => ({
        id: serviceId(index + 1, component),
        name: `c${index + 1}-${component}`,
        ports: [{ port: 8080, alias: `A${component}`, inner: true, outer: false }],
      })),
    })),
  };
}

const EXTENSIONS = [{ key: 'retries', value: '3' }];

function works(weight = 100, extensions?: typeof EXTENSIONS): readonly Work[] {
  return Array.from({ length: APPLICATIONS }, (_, index) => {
    const appId = index + 1;
    const components = Array.from({ length: COMPONENTS_EACH }, (__, component) =>
      manifest('Component', `c${appId}-${component}`, {
        application: 'shop',
        serviceId: serviceId(appId, component),
        ports: [{ port: 8080, inner: true, outer: component === 0 }],
        unlistedPorts: 'keep',
      }),
    );
    const rule = manifest('HttpGatewayRule', `r${appId}`, {
      application: 'shop',
      component: `c${appId}-0`,
      port: 8080,
      domain: `www.app-${appId}.example.com`,
      path: '/',
      weight,
      ...(extensions === undefined ? {} : { extensions }),
    });
    return workOf({ team: teamOf(appId), region: 'region-1', appId }, [...components, rule]);
  });
}

function sharedBy(all: readonly Work[], world: ScopeWorld) {
  const applications = all.map(({ application }) => application.spec);
  return createSharedReadings(applications, world.clock, { ageMs: 30_000 });
}

/** One round of a process over all of them. */
async function round(world: ScopeWorld, all: readonly Work[]) {
  world.exchanges.length = 0;
  const shared = sharedBy(all, world);
  for (const work of all) await world.pass(work, { ...allowEverything, shared });
  return { shared, reads: readsOf(world), writes: world.writes().length };
}

function readsOf(world: ScopeWorld): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { request } of world.exchanges) {
    if (!request.isRead) continue;
    const operation = request.operation;
    counts[operation] = (counts[operation] ?? 0) + 1;
  }
  return counts;
}

async function inSync(dialect: Dialect, all: readonly Work[]): Promise<ScopeWorld> {
  const world = new ScopeWorld(seed(), dialect);
  for (const work of all) await world.settle(work);
  return world;
}

for (const dialect of ['documented', 'extended'] as const) {
  test.for([
    ['rules', undefined],
    ['rules with extensions', EXTENSIONS],
  ] as const)(`${dialect}: a round over %s in sync asks no more than the floor`, async ([, extensions]) => {
    const all = works(100, extensions?.slice());
    const world = await inSync(dialect, all);
    const { reads, writes } = await round(world, all);
    const size = {
      platform: 1,
      'team and region': 2,
      application: APPLICATIONS,
      component: APPLICATIONS * COMPONENTS_EACH,
    };
    expect(reads).toEqual(requestFloor(dialect, size));
    expect(writes).toBe(0);
  });
}

test('what differs is read by itself before anything is written', async () => {
  const all = works();
  const world = await inSync('extended', all);
  const changed = [...all];
  changed[4] = works(50)[4] ?? (changed[4] as Work);
  const { reads, writes } = await round(world, changed);
  expect(writes).toBe(1);
  // Its rules before the write, and after it.
  expect(reads).toMatchObject({
    listAllRules: 1,
    listApplications: 2,
    listRules: 2,
    getApplication: 1,
    // The guards ask for the regions' states, once: what is only looked at needs none.
    listRegions: 1,
  });
});

test('extensions that differ in the listing of all are read again before anything is written, and after it', async () => {
  const all = works(100, EXTENSIONS);
  const world = await inSync('extended', all);
  const [victim] = [...world.state.rules.all()].filter((rule) => rule.domain === 'www.app-7.example.com');
  if (victim === undefined) throw new Error('the rule is there');
  world.state.rules.put({ ...victim, extensions: [] });
  const { reads, writes } = await round(world, all);
  expect(writes).toBe(1);
  expect(reads).toMatchObject({ listAllRules: 3, listRules: 2 });
  expect(world.state.rules.get(victim.id)?.extensions).toEqual(EXTENSIONS);
});

test('a rule that somebody deleted is seen in the listing of all, and put back', async () => {
  const all = works();
  const world = await inSync('extended', all);
  const [victim] = [...world.state.rules.all()].filter((rule) => rule.domain === 'www.app-7.example.com');
  world.state.rules.delete(victim?.id ?? '');
  const { writes } = await round(world, all);
  expect(writes).toBe(1);
  expect([...world.state.rules.all()].map((rule) => rule.domain)).toContain('www.app-7.example.com');
});

test('what is only reported is told by what the application itself says', async () => {
  const all = works();
  const world = await inSync('extended', all);
  const reported = all.map((work) => ({
    ...work,
    resources: new Map(
      [...work.resources].map(([id, resource]) => [
        id,
        { ...resource, annotations: { 'portolan/reconcile': 'report' as const } },
      ]),
    ),
  }));
  await round(world, reported);
  const [victim] = [...world.state.rules.all()].filter((rule) => rule.domain === 'www.app-7.example.com');
  world.state.rules.delete(victim?.id ?? '');
  const { reads, writes } = await round(world, reported);
  expect(writes).toBe(0);
  expect(reads).toMatchObject({ listRules: 1, getApplication: 1 });
  expect(reads.listRegions).toBeUndefined();
});

test('a listing of all that is refused, or lacks what is there, makes nothing be written', async () => {
  const all = works();
  for (const body of [{ msg: 'no permission' }, []]) {
    const world = await inSync('extended', all);
    world.answer = ({ operation }) =>
      operation === 'listAllRules'
        ? {
            status: Array.isArray(body) ? 200 : 403,
            contentType: 'application/json',
            retryAfter: null,
            body: JSON.stringify(body),
          }
        : undefined;
    const { writes, reads } = await round(world, all);
    expect(writes).toBe(0);
    expect(reads.listRules).toBe(APPLICATIONS);
  }
});

test('after a write, what was shared before it says nothing of that application any more', async () => {
  const all = works();
  const world = await inSync('extended', all);
  const shared = sharedBy(all, world);
  const options = { ...allowEverything, shared };
  const [first] = all as [Work];
  const [altered] = works(50) as [Work];
  await world.pass(first, options);
  await world.pass(altered, options);
  world.clock.advance(1000);
  world.exchanges.length = 0;
  // Back to what the first listing showed: only a new look tells that it is not so.
  await world.pass(first, options);
  expect(world.writes()).toHaveLength(1);
  const [row] = [...world.state.rules.all()].filter((rule) => rule.domain === 'www.app-1.example.com');
  expect(row?.weight).toBe(100);
});

test('one that is looked at alone is asked for by itself, and what others share is marked as old by its writes', async () => {
  const all = works();
  const world = await inSync('extended', all);
  const { shared } = await round(world, all);
  const [first] = all as [Work];
  const [altered] = works(50) as [Work];
  world.exchanges.length = 0;
  await world.pass(first, { ...allowEverything, shared, isAlone: true });
  expect(readsOf(world)).toEqual({ getApplication: 1, listRules: 1, listPorts: COMPONENTS_EACH });
  await world.pass(altered, { ...allowEverything, shared, isAlone: true });
  expect(world.writes()).toHaveLength(1);
  world.clock.advance(1000);
  world.exchanges.length = 0;
  // With the others again: what they shared showed it as it was before.
  await world.pass(first, { ...allowEverything, shared });
  expect(readsOf(world).listAllRules).toBe(1);
  expect(world.writes()).toHaveLength(1);
});

test('a single application shares nothing', async () => {
  const [only] = works() as [Work];
  const world = await inSync('extended', [only]);
  const { reads } = await round(world, [only]);
  expect(reads).toEqual({ getApplication: 1, listRules: 1, listPorts: COMPONENTS_EACH });
});

test('what is shared is asked for anew when it is old', async () => {
  const all = works();
  const world = await inSync('extended', all);
  const { shared } = await round(world, all);
  world.clock.advance(31_000);
  world.exchanges.length = 0;
  for (const work of all) await world.pass(work, { ...allowEverything, shared });
  expect(readsOf(world)).toMatchObject({ listAllRules: 1, listApplications: 2 });
});

test('a round that takes longer than a listing is young asks for it once, up to a limit', async () => {
  const all = works();
  const world = await inSync('extended', all);
  const applications = all.map(({ application }) => application.spec);
  const shared = createSharedReadings(applications, world.clock, { ageMs: 1_000, roundMs: 60_000 });
  const wanted = shared.wantedAt(world.clock.monotonic());
  world.exchanges.length = 0;
  for (const work of all) {
    await world.pass(work, { ...allowEverything, shared: wanted });
    world.clock.advance(1_500);
  }
  expect(readsOf(world)).toMatchObject({ listAllRules: 1, listApplications: 2 });
  // A pass that was wanted later, and one without such a time, need what was asked for since, or is young.
  world.exchanges.length = 0;
  const [first] = all as [Work];
  await world.pass(first, { ...allowEverything, shared: shared.wantedAt(world.clock.monotonic()) });
  world.clock.advance(1_500);
  await world.pass(first, { ...allowEverything, shared });
  expect(readsOf(world)).toMatchObject({ listAllRules: 2, listApplications: 2 });
  world.exchanges.length = 0;
  world.clock.advance(61_000);
  await world.pass(first, { ...allowEverything, shared: wanted });
  expect(readsOf(world)).toMatchObject({ listAllRules: 1, listApplications: 1 });
});

test('what is forgotten is asked for anew, however young it was', async () => {
  const all = works();
  const world = await inSync('extended', all);
  const { shared } = await round(world, all);
  world.exchanges.length = 0;
  for (const work of all) await world.pass(work, { ...allowEverything, shared });
  shared.forget(new Set(['another']));
  for (const work of all) await world.pass(work, { ...allowEverything, shared });
  expect(readsOf(world).listAllRules).toBeUndefined();
  shared.forget(new Set(['default']));
  for (const work of all) await world.pass(work, { ...allowEverything, shared });
  expect(readsOf(world)).toMatchObject({ listAllRules: 1, listApplications: 2 });
});
