import { describe, expect, test } from 'vitest';
import { retryObjects } from '../../src/reconcile/resolution/manual-changes.ts';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import { openMemoryLedger } from '../support/memory-ledger.ts';
import type { PlatformRequest, PlatformResponse } from '../../src/platform/transport.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { recordedResponse } from '../platform/recorded.ts';
import { manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

const ADDRESS = { team: 'team-a', region: 'region-1', appId: 42 };
const WEB = 'c'.repeat(32);

/** An application with one component, and a store with one model in two versions. */
const seed: Seed = {
  enterprise: { id: 'e'.repeat(32) },
  regions: [{ id: '1'.repeat(32), name: ADDRESS.region }],
  teams: [{ id: 'd'.repeat(32), name: ADDRESS.team }],
  applications: [
    {
      ...ADDRESS,
      id: ADDRESS.appId,
      name: 'shop',
      components: [{ id: WEB, alias: 'web', name: 'web', ports: [{ port: 8080, protocol: 'http', inner: false }] }],
    },
  ],
  stores: [
    {
      url: 'https://store.example.com',
      domain: 'market-1',
      marketName: 'main',
      models: [
        {
          id: 'pair',
          name: 'Pair',
          versions: ['1', '2'].map((version) => ({
            version,
            components: ['db', 'cache'].map((name) => ({
              key: name,
              name,
              k8sName: name,
              image: `${name}:${version}`,
            })),
          })),
        },
      ],
    },
  ],
};

function install(version = '1') {
  return manifest('StoreInstall', 'pair', {
    application: 'shop',
    store: 'main',
    model: { id: 'pair', version },
    build: false,
    allowSecondCopy: false,
  });
}

const web = manifest('Component', 'web', {
  application: 'shop',
  serviceId: WEB,
  ports: [{ port: 8080, inner: true }],
  unlistedPorts: 'keep',
});

function isInstall(request: PlatformRequest): boolean {
  return request.operation === 'install' || request.operation === 'upgrade';
}

function sentBy(world: ScopeWorld): readonly string[] {
  return world.writes().map(({ request }) => request.operation);
}

function results(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(`the pass was ${JSON.stringify(outcome)}`);
  return outcome.results;
}

function holds(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(`the pass was ${JSON.stringify(outcome)}`);
  return outcome.plan.holds;
}

/** What proxies return in place of an answer, after the platform has done what was asked. */
const FILTERED = [401, 403, 404, 405, 413, 415].flatMap((status): readonly [string, PlatformResponse][] => [
  [`${status} as a page`, { status, contentType: 'text/html', retryAfter: null, body: '<h1>no</h1>' }],
  [
    `${status} as JSON of the proxy`,
    {
      status,
      contentType: 'application/json',
      retryAfter: null,
      body: JSON.stringify({ code: status, message: 'no' }),
    },
  ],
  [
    `${status} in the platform's own shape`,
    {
      status,
      contentType: 'application/json',
      retryAfter: null,
      body: JSON.stringify({ detail: 'no', code: status, msg: 'no', msg_show: 'no', error_type: 'X' }),
    },
  ],
]);

describe.for(['documented', 'extended'] as const)('on the %s dialect', (dialect) => {
  test.for(FILTERED)('an install whose answer a proxy replaced (%s) is never sent twice', async ([, answer]) => {
    const world = new ScopeWorld(seed, dialect);
    const work = workOf(ADDRESS, [install()]);
    world.alter = (request, response) => (isInstall(request) ? answer : response);
    expect(results(await world.pass(work))).toMatchObject([{ status: 'in-doubt' }]);
    for (let pass = 0; pass < 5; pass += 1) {
      world.clock.advance(21 * 60_000);
      await world.pass(work);
    }
    expect(sentBy(world)).toEqual(['install']);
    expect(world.state.installs.size).toBe(1);
    const codes = holds(await world.pass(work)).map(({ code }) => code);
    expect(codes).toEqual(dialect === 'extended' ? [] : ['intent/in-doubt']);
  });

  test.for([
    'install an unknown model',
    'install an unknown version',
    'install with a wrong key',
    'install while the store is unreachable',
    'unknown team',
  ])('an install that the platform refuses (%s) has failed at once, and nothing is in doubt', async (name) => {
    const world = new ScopeWorld(seed, dialect);
    const work = workOf(ADDRESS, [install(), web]);
    world.answer = (request) => (isInstall(request) ? recordedResponse(name) : undefined);
    const outcome = await world.pass(work);
    expect(results(outcome)).toMatchObject([
      { status: 'failed', reason: { type: 'refused' } },
      { status: 'done', action: { resource: 'Component/web' } },
    ]);
    expect([...world.store.intents.values()].map(({ intent }) => intent.state)).toEqual(['rejected', 'applied']);
    const again = holds(await world.pass(work)).map(({ code }) => code);
    expect(again).toEqual(name === 'install with a wrong key' ? ['install/store-key-refused'] : []);
  });

  test('a refusal counts only when the platform can be read: until then the install is in doubt, for 90 s', async () => {
    const world = new ScopeWorld(seed, dialect);
    const work = workOf(ADDRESS, [install()]);
    let refused = false;
    world.answer = (request) => {
      if (request.operation === 'getApplication' && refused) return recordedResponse('regions without a token');
      if (!isInstall(request)) return undefined;
      refused = true;
      return recordedResponse('install an unknown model');
    };
    const [first] = results(await world.pass(work));
    expect(first).toMatchObject({ status: 'in-doubt' });
    expect(first?.status === 'in-doubt' && first.untilMs - world.clock.now()).toBeLessThanOrEqual(90_000);
    world.answer = () => undefined;
    world.clock.advance(90_000);
    expect(results(await world.pass(work))).toMatchObject([{ status: 'done' }]);
    expect(world.state.installs.size).toBe(1);
  });

  test('a store that refuses the key holds the install, says what helps, and is asked again only on a person’s word', async () => {
    const world = new ScopeWorld(seed, dialect);
    const work = workOf(ADDRESS, [install()]);
    world.answer = (request) => (isInstall(request) ? recordedResponse('install with a wrong key') : undefined);
    await world.pass(work);
    const [hold] = holds(await world.pass(work));
    expect(hold).toMatchObject({
      code: 'install/store-key-refused',
      message: expect.stringMatching(/HTTP 403, code 10407: no store permissions.*keeps the first access key/),
      remedy: expect.stringMatching(/in the console.*spec\.url of the Store in another way.*portolan ledger retry/),
    });
    expect(sentBy(world)).toEqual(['install']);
    world.answer = () => undefined;
    const ledger = openMemoryLedger(world.store);
    await retryObjects({ ledger, clock: world.clock, actor: 'a person' }, await ledger.objects({ source: 'default' }));
    expect(results(await world.pass(work))).toMatchObject([{ status: 'done' }]);
    expect(holds(await world.pass(work))).toEqual([]);
  });
});

const STORE_FAILURES: readonly (readonly [string, PlatformResponse])[] = [
  ['unreachable', recordedResponse('install while the store is unreachable')],
  ['refuses the key', recordedResponse('install with a wrong key')],
  ['no longer has a model', recordedResponse('install an unknown model')],
];

test.for(STORE_FAILURES)('a store that is %s hides only what was installed from it', async ([, answer]) => {
  const world = new ScopeWorld(seed, 'extended');
  world.answer = (request) => (request.operation === 'listInstalled' ? answer : undefined);
  const outcome = await world.pass(workOf(ADDRESS, [install(), web]));
  expect(results(outcome)).toMatchObject([{ status: 'done', action: { resource: 'Component/web' } }]);
  expect(holds(outcome)).toMatchObject([
    {
      resource: 'StoreInstall/pair',
      code: 'install/store-failed',
      message: expect.stringContaining('application store'),
    },
  ]);
  expect(JSON.stringify(holds(outcome))).not.toContain('spec.url of the Platform');
  expect(sentBy(world)).not.toContain('install');
});

test('while the store fails, an install in doubt waits: which model a new group is of is not known', async () => {
  const world = new ScopeWorld(seed, 'extended');
  const work = workOf(ADDRESS, [install()]);
  world.crash = { atWrite: 1, when: 'after' };
  expect(await world.pass(work)).toBe('died');
  world.crash = undefined;
  world.answer = (request) =>
    request.operation === 'listInstalled' ? recordedResponse('install while the store is unreachable') : undefined;
  for (let pass = 0; pass < 3; pass += 1) {
    world.clock.advance(21 * 60_000);
    await world.pass(work);
  }
  expect(sentBy(world)).toEqual(['install']);
  world.answer = () => undefined;
  expect(holds(await world.pass(work))).toEqual([]);
  expect(world.state.installs.size).toBe(1);
});

async function installed(dialect: Dialect): Promise<ScopeWorld> {
  const world = new ScopeWorld(seed, dialect);
  await world.settle(workOf(ADDRESS, [install()]));
  return world;
}

test('an upgrade whose answer was lost is settled by the images of the components', async () => {
  const world = await installed('extended');
  world.crash = { atWrite: 1, when: 'after' };
  expect(await world.pass(workOf(ADDRESS, [install('2')]))).toBe('died');
  const outcome = await world.settle(workOf(ADDRESS, [install('2')]));
  expect(holds(outcome)).toEqual([]);
  expect(sentBy(world)).toEqual(['install', 'upgrade']);
  expect(
    world.store.objects.get('default:default/team-a/region-1/42:StoreInstall:install/pair')?.lastApplied,
  ).toMatchObject({ modelVersion: '2' });
});

test('an upgrade that never arrived is seen by unchanged images, and is sent again', async () => {
  const world = await installed('extended');
  world.crash = { atWrite: 1, when: 'before' };
  expect(await world.pass(workOf(ADDRESS, [install('2')]))).toBe('died');
  const outcome = await world.settle(workOf(ADDRESS, [install('2')]));
  expect(holds(outcome)).toEqual([]);
  expect(sentBy(world)).toEqual(['install', 'upgrade']);
  const images = [...world.state.components.all()].map(({ image }) => image);
  expect(images).toEqual(expect.arrayContaining(['db:2', 'cache:2']));
});

test('an upgrade is settled by a component that is new in its install group', async () => {
  const world = await installed('extended');
  world.crash = { atWrite: 1, when: 'after' };
  await world.pass(workOf(ADDRESS, [install('2')]));
  // The images are those of before, and one component came along.
  const ours = [...world.state.components.all()].filter(({ groupId }) => groupId !== 0);
  const [first] = ours;
  if (first === undefined) throw new Error('nothing was installed');
  for (const row of ours) world.state.components.put({ ...row, image: row.image.replace(':2', ':1') });
  world.state.components.put({ ...first, id: 'f'.repeat(32), k8sName: 'new' });
  await world.settle(workOf(ADDRESS, [install('2')]));
  expect(sentBy(world)).toEqual(['install', 'upgrade']);
});

test('a person is asked about an upgrade only where nothing of the install can be seen', async () => {
  const world = await installed('extended');
  world.crash = { atWrite: 1, when: 'after' };
  await world.pass(workOf(ADDRESS, [install('2')]));
  for (const row of world.state.components.all()) if (row.id !== WEB) world.state.components.delete(row.id);
  world.crash = undefined;
  for (let pass = 0; pass < 3; pass += 1) {
    world.clock.advance(21 * 60_000);
    await world.pass(workOf(ADDRESS, [install('2')]));
  }
  expect(holds(await world.pass(workOf(ADDRESS, [install('2')])))).toMatchObject([{ code: 'intent/in-doubt' }]);
  expect(sentBy(world)).toEqual(['install', 'upgrade']);
});

test('an upgrade that the platform refuses after it was done is not called refused', async () => {
  const world = await installed('extended');
  world.alter = (request, response) =>
    request.operation === 'upgrade' ? recordedResponse('install while the store is unreachable') : response;
  const [result] = results(await world.pass(workOf(ADDRESS, [install('2')])));
  expect(result).toMatchObject({ status: 'in-doubt', answer: { message: expect.stringContaining('the image of') } });
  await world.settle(workOf(ADDRESS, [install('2')]));
  expect(sentBy(world)).toEqual(['install', 'upgrade']);
});
