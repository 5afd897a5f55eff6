import { expect, test } from 'vitest';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

const ADDRESS = { team: 'team-a', region: 'region-1', appId: 42 };

function worldWith(buildFailure: string | undefined, dialect: Dialect = 'extended'): ScopeWorld {
  const component = { key: 'mysql', name: 'Main database', image: 'mysql:8', ports: [] };
  const seed: Seed = {
    enterprise: { id: 'e'.repeat(32) },
    startAfterMs: 60_000,
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
            id: 'db',
            name: 'DB',
            versions: [
              { version: '1', components: [{ ...component, ...(buildFailure === undefined ? {} : { buildFailure }) }] },
              { version: '2', components: [{ ...component, image: 'mysql:9' }] },
            ],
          },
        ],
      },
    ],
  };
  return new ScopeWorld(seed, dialect);
}

function work({ version = '1', wait = true, build = true, name = 'db', annotations = {} } = {}) {
  const spec = {
    application: 'shop',
    store: 'main',
    model: { id: 'db', version },
    build,
    allowSecondCopy: false,
    ...(wait ? { wait: { for: 'running', timeout: '10m' } } : {}),
  };
  return workOf(ADDRESS, [manifest('StoreInstall', name, spec, annotations)]);
}

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const asked = (world: ScopeWorld) =>
  world.exchanges.filter(({ request: { operation } }) => operation === 'listEvents' || operation === 'eventLog');
const eventOf = ({ state }: ScopeWorld) => [...state.events.all()].at(-1);

test('what is waited for says which component is being built', async () => {
  const world = worldWith(undefined);
  const first = ended(await world.pass(work()));
  expect(first.waits.map(({ message }) => message).join()).toContain('Main database is being built');
  world.clock.advance(61_000);
  const later = ended(await world.pass(work()));
  expect(later).toMatchObject({ waits: [], plan: { holds: [], notes: [] } });
  const before = asked(world).length;
  await world.pass(work());
  expect(asked(world)).toHaveLength(before);
});

test('a build that failed ends the waiting: component, event, last lines, and what to do', async () => {
  const world = worldWith('no space left on device');
  await world.pass(work());
  world.clock.advance(61_000);
  const { plan, waits } = ended(await world.pass(work()));
  expect(waits).toEqual([]);
  expect(plan.holds).toMatchObject([{ code: 'install/build-failed', resource: 'StoreInstall/db' }]);
  const [hold] = plan.holds;
  expect(hold?.message).toContain(
    `the build of component Main database of StoreInstall/db failed (event ${eventOf(world)?.id})`,
  );
  expect(hold?.message).toContain('its last lines: pull image | build failed: no space left on device');
  expect(hold?.remedy).toContain('build Main database again in the console');
  expect(world.writes()).toHaveLength(1);
});

test('a build that was repeated with success is waited for and done', async () => {
  const world = worldWith('boom');
  await world.pass(work());
  world.clock.advance(61_000);
  await world.pass(work());
  const failed = eventOf(world);
  if (failed === undefined) throw new Error('a build makes an event');
  world.state.events.put({
    ...failed,
    id: 'f'.repeat(32),
    failure: null,
    startedMs: failed.endsMs + 1,
    endsMs: failed.endsMs + 2,
  });
  const [component] = [...world.state.components.all()];
  if (component === undefined) throw new Error('the install made it');
  world.state.components.put({ ...component, life: { type: 'steady', status: 'running' } });
  world.clock.advance(20_000);
  expect(ended(await world.pass(work()))).toMatchObject({ waits: [], plan: { holds: [] } });
});

test('secrets and control characters of a log are not shown', async () => {
  const world = worldWith('x');
  await world.pass(work());
  world.answer = ({ operation }) => {
    if (operation !== 'eventLog') return undefined;
    const lines = [
      'DB_PASSWORD=hunter2 set',
      '{"api_key": "abc123"}',
      'git clone https://user:pa55@git.example.com/x.git',
      'Authorization: Bearer eyJhbGciOiJIUzI1NiJ9',
      '\u001b[31mred\u001b[0m \u202eevil',
    ];
    const body = JSON.stringify({ logs: lines.map((message) => ({ message })) });
    return { status: 200, contentType: 'application/json', retryAfter: null, body };
  };
  world.clock.advance(61_000);
  const text = ended(await world.pass(work())).plan.holds[0]?.message ?? '';
  for (const secret of ['hunter2', 'abc123', 'pa55', 'eyJhbGci']) expect(text).not.toContain(secret);
  expect(text).toContain('DB_PASSWORD=[redacted] set');
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  expect(text).not.toMatch(/[\u0000-\u001f\u202e]/);
});

test('an install that nobody waits for says so while it builds, and its failure', async () => {
  const world = worldWith('boom');
  await world.pass(work({ wait: false }));
  const building = ended(await world.pass(work({ wait: false })));
  expect(building.plan.notes).toMatchObject([{ code: 'install/building', resource: 'StoreInstall/db' }]);
  expect(building.plan.inSync).toContain('StoreInstall/db');
  world.clock.advance(61_000);
  expect(ended(await world.pass(work({ wait: false }))).plan.holds).toMatchObject([{ code: 'install/build-failed' }]);
});

test('the builds of an upgrade are told as well, and not those before it', async () => {
  const world = worldWith('boom');
  await world.pass(work({ wait: false }));
  world.clock.advance(61 * 60_000);
  await world.pass(work({ wait: false }));
  const upgraded = ended(await world.pass(work({ version: '2', wait: false })));
  expect(upgraded.plan.holds).toEqual([]);
  const now = ended(await world.pass(work({ version: '2', wait: false })));
  expect(now.plan.notes).toMatchObject([{ code: 'install/building' }]);
});

/** One pass, and how often it told the ledger something. */
async function told(world: ScopeWorld, wanted: ReturnType<typeof work>) {
  const { serial } = world.store;
  const outcome = ended(await world.pass(wanted));
  return { outcome, commits: world.store.serial - serial };
}

test.each(['extended', 'documented'] as const)(
  'time alone does not end a build on record: nothing is written an hour later (%s)',
  async (dialect) => {
    const world = worldWith(undefined, dialect);
    world.answer = ({ operation }) =>
      operation === 'listEvents'
        ? { status: 400, contentType: 'application/json', retryAfter: null, body: '{"code":400,"msg":"no"}' }
        : undefined;
    await world.pass(work({ wait: false }));
    expect((await told(world, work({ wait: false }))).commits).toBe(0);
    world.clock.advance(61 * 60_000);
    const before = asked(world).length;
    expect((await told(world, work({ wait: false }))).commits).toBe(0);
    expect(asked(world)).toHaveLength(before);
  },
);

test('an install that is renamed once it is built leaves nothing for the next pass to write', async () => {
  const world = worldWith(undefined);
  await world.pass(work({ wait: false }));
  world.clock.advance(61_000);
  const renamed = work({ wait: false, name: 'database', annotations: { 'portolan/moved-from': 'db' } });
  const first = await told(world, renamed);
  expect(first.outcome.plan.notes).toMatchObject([{ code: 'install/renamed' }]);
  expect(first.commits).toBe(1);
  expect((await told(world, renamed)).commits).toBe(0);
});

test('an install that is renamed while it builds is looked after under its new name', async () => {
  const world = worldWith('boom');
  await world.pass(work({ wait: false }));
  const renamed = work({ wait: false, name: 'database', annotations: { 'portolan/moved-from': 'db' } });
  await world.pass(renamed);
  world.clock.advance(61_000);
  expect(ended(await world.pass(renamed)).plan.holds).toMatchObject([
    { code: 'install/build-failed', resource: 'StoreInstall/database' },
  ]);
});

test('an install that is not built costs no request, nor one on the documented dialect', async () => {
  const world = worldWith(undefined);
  await world.pass(work({ build: false, wait: false }));
  await world.pass(work({ build: false, wait: false }));
  expect(asked(world)).toEqual([]);
  const documented = worldWith('boom', 'documented');
  await documented.pass(work());
  documented.clock.advance(61_000);
  const { plan } = ended(await documented.pass(work()));
  expect(plan.holds.filter(({ code }) => code === 'install/build-failed')).toEqual([]);
  expect(asked(documented)).toEqual([]);
});

test('events that cannot be read fail nothing', async () => {
  const world = worldWith('boom');
  world.answer = ({ operation }) =>
    operation === 'listEvents'
      ? { status: 400, contentType: 'application/json', retryAfter: null, body: '{"code":400,"msg":"no"}' }
      : undefined;
  await world.pass(work());
  world.clock.advance(30_000);
  const { waits, error } = ended(await world.pass(work()));
  expect(error).toBeUndefined();
  expect(waits).toHaveLength(1);
});
