import { expect, test } from 'vitest';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { PassOptions } from '../../src/reconcile/reconcile.ts';
import type { Seed, SeedComponent } from '../../src/sandbox/seed.ts';
import { demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

// Found by runs of 100,000 schedules: each test failed before its fix.

const ADDRESS = { team: 'team-a', region: 'region-1', appId: 42 };
const ELSEWHERE = 43;
const WEB = 'a'.repeat(32);
const PRUNING: PassOptions = { ...allowEverything, permissions: { ...allowEverything.permissions, prune: true } };

function seedWith(...components: readonly SeedComponent[]): Seed {
  return {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '1'.repeat(32), name: ADDRESS.region }],
    teams: [{ id: 'd'.repeat(32), name: ADDRESS.team }],
    applications: [
      { ...ADDRESS, id: ADDRESS.appId, name: 'shop', components },
      { ...ADDRESS, id: ELSEWHERE, name: 'elsewhere', components: [] },
    ],
    ...(demoSeed.stores === undefined ? {} : { stores: demoSeed.stores }),
  };
}

const shop = seedWith(
  { id: WEB, name: 'web', ports: [{ port: 8080, alias: 'WEB', inner: true, outer: true }] },
  { id: 'b'.repeat(32), name: 'api', ports: [] },
);
const web = manifest('Component', 'web', {
  application: 'shop',
  serviceId: WEB,
  ports: [{ port: 8080 }],
  unlistedPorts: 'keep',
});

function www(extra: object = {}) {
  const address = { application: 'shop', component: 'web', port: 8080, domain: 'www.example.com', path: '/' };
  return manifest('HttpGatewayRule', 'www', { ...address, ...extra });
}

/** The component goes to another application, and its rules with it. */
function move(world: ScopeWorld, appId: number): void {
  const row = world.state.components.get(WEB);
  if (row === undefined) throw new Error('the component is there');
  world.state.components.put({ ...row, appId });
  for (const rule of world.state.rules.all()) world.state.rules.put({ ...rule, appId });
}

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const notes = (outcome: Outcome | 'died') => ended(outcome).plan.notes.map(({ code }) => code);
const holds = (outcome: Outcome | 'died') => ended(outcome).plan.holds.map(({ code }) => code);
const creations = (world: ScopeWorld) =>
  world.writes().filter(({ request }) => request.operation === 'createRule').length;
const rowOf = (world: ScopeWorld, key: string) =>
  [...world.store.objects.values()].find((object) => object.naturalKey === key);
const ruleRow = (world: ScopeWorld) => rowOf(world, `rule/${WEB}/8080/http://www.example.com/`);

test('a rule whose creation is in doubt is not created twice because its component moved meanwhile', async () => {
  const world = new ScopeWorld(shop, 'extended');
  const work = workOf(ADDRESS, [web, www()]);
  world.crash = { atWrite: 1, when: 'after' };
  expect(await world.pass(work)).toBe('died');
  world.crash = undefined;
  await world.pass(work);
  world.clock.advance(20 * 60_000);
  move(world, ELSEWHERE);
  const away = await world.pass(work);
  expect(holds(away)).toContain('intent/in-doubt');
  expect(ended(away).plan.holds).toContainEqual(
    expect.objectContaining({ message: expect.stringContaining('belongs to application 43 now') }),
  );
  move(world, ADDRESS.appId);
  await world.settle(work);
  expect(creations(world)).toBe(1);
  expect(ruleRow(world)).toMatchObject({ state: 'present', origin: 'created' });
});

test('without a listing of all rules, only the presence of the component proves that it was not created', async () => {
  const world = new ScopeWorld(shop, 'extended');
  const work = workOf(ADDRESS, [web, www()]);
  world.crash = { atWrite: 1, when: 'before' };
  expect(await world.pass(work)).toBe('died');
  world.crash = undefined;
  await world.pass(work);
  world.clock.advance(20 * 60_000);
  world.answer = ({ operation }) =>
    operation === 'listAllRules'
      ? { status: 404, contentType: 'text/html', retryAfter: null, body: '<html>' }
      : undefined;
  move(world, ELSEWHERE);
  expect(holds(await world.pass(work))).toContain('intent/in-doubt');
  move(world, ADDRESS.appId);
  await world.settle(work);
  expect(creations(world)).toBe(1);
});

test.for(['listed', 'not listed'])(
  'a rule that git no longer names stays on record while its component belongs to another application (all rules %s)',
  async (every) => {
    const world = new ScopeWorld(shop, 'extended');
    await world.settle(workOf(ADDRESS, [web, www()]));
    if (every === 'not listed')
      world.answer = ({ operation }) =>
        operation === 'listAllRules'
          ? { status: 404, contentType: 'text/html', retryAfter: null, body: '<html>' }
          : undefined;
    move(world, ELSEWHERE);
    const without = workOf(ADDRESS, [web]);
    expect(notes(await world.pass(without, PRUNING))).toContain('rule/elsewhere');
    expect(ruleRow(world)).toBeDefined();
    move(world, ADDRESS.appId);
    await world.settle(without, PRUNING);
    expect([...world.state.rules.all()].map(({ domain }) => domain)).not.toContain('www.example.com');
    expect(ruleRow(world)).toBeUndefined();
  },
);

test('a rule that was found after a lost answer is said to have its configuration by assumption', async () => {
  const world = new ScopeWorld(shop, 'extended');
  const work = workOf(ADDRESS, [web, www({ configuration: { proxyBodySize: 10 } })]);
  world.crash = { atWrite: 1, when: 'after' };
  await world.pass(work);
  const outcome = await world.settle(work);
  expect(ended(outcome).plan.notes).toContainEqual({
    resource: 'HttpGatewayRule/www',
    code: 'rule/assumed',
    message:
      'the answer to the creation of rule www.example.com/ was lost, and no answer of the platform shows its configuration: Portolan assumes that the platform has it as sent',
  });
  // An update does not change that; without a configuration in the manifest there is nothing to assume.
  const weighed = workOf(ADDRESS, [web, www({ weight: 50, configuration: { proxyBodySize: 10 } })]);
  expect(notes(await world.settle(weighed))).toEqual(['rule/assumed']);
  expect(notes(await world.settle(workOf(ADDRESS, [web, www({ weight: 50 })])))).toEqual([]);
});

test('a rule that the platform confirmed is not said to be assumed', async () => {
  const world = new ScopeWorld(shop, 'extended');
  const outcome = await world.settle(workOf(ADDRESS, [web, www({ configuration: { proxyBodySize: 10 } })]));
  expect(notes(outcome)).toEqual([]);
});

test('an error that says that two rules have the key is repeated three times, not for ever', async () => {
  const world = new ScopeWorld(shop, 'documented');
  const work = workOf(ADDRESS, [web, www()]);
  const body = { code: 10_401, msg: 'get() returned more than one ServiceDomain -- it returned 2!', msg_show: '' };
  world.answer = ({ operation }) =>
    operation === 'createRule'
      ? { status: 500, contentType: 'application/json', retryAfter: null, body: JSON.stringify(body) }
      : undefined;
  for (let pass = 0; pass < 8; pass += 1) {
    await world.pass(work);
    world.clock.advance(20 * 60_000);
  }
  expect(creations(world)).toBe(3);
  const [hold] = ended(await world.pass(work)).plan.holds;
  expect(hold).toMatchObject({ code: 'effect/not-taken', message: expect.stringContaining('returned more than one') });
});

test('ports that Portolan made go when their manifest means the component of another install', async () => {
  const world = new ScopeWorld(seedWith(), 'extended');
  const db = (install: string) =>
    manifest('Component', 'db', {
      application: 'shop',
      from: { install, component: 'mysql' },
      ports: [{ port: 9000, protocol: 'tcp', alias: 'EXTRA', inner: true, outer: true }],
      unlistedPorts: 'keep',
    });
  const install = (name: string) =>
    manifest('StoreInstall', name, {
      application: 'shop',
      store: 'main',
      model: { id: '0a1b2c', version: '8.0.36' },
      build: false,
      allowSecondCopy: true,
    });
  await world.settle(workOf(ADDRESS, [install('one'), db('one')]));
  const [former] = [...world.state.ports.all()].filter(({ port }) => port === 9000).map(({ serviceId }) => serviceId);
  const moved = workOf(ADDRESS, [install('one'), install('two'), db('two')]);
  const kept = ended(await world.settle(moved));
  expect(kept.plan.notes).toContainEqual(
    expect.objectContaining({ code: 'prune/not-asked', resource: 'Component/db' }),
  );
  await world.settle(moved, PRUNING);
  const left = [...world.state.ports.all()].filter(({ port }) => port === 9000).map(({ serviceId }) => serviceId);
  expect(left).toHaveLength(1);
  expect(left).not.toContain(former);
  expect(rowOf(world, `port/${former}/9000`)).toBeUndefined();
  expect(rowOf(world, `component/${former}`)).toBeUndefined();
});

test.for([
  [1, '1 component appeared that is not of it'],
  [2, '2 components appeared that are not of it'],
] as const)('an install says that something else appeared beside it: %i', async ([count, words]) => {
  const id = (index: number) => String(index).repeat(32);
  const world = new ScopeWorld(seedWith({ id: WEB, name: 'web', ports: [] }), 'extended');
  world.alter = ({ operation }, response) => {
    if (operation !== 'install') return response;
    const answer = JSON.parse(response.body) as { service_list: Record<string, unknown>[] };
    const stranger = { ...answer.service_list[0], tenant_service_group_id: 0 };
    const strangers = Array.from({ length: count }, (_, index) => ({ ...stranger, service_id: id(index + 5) }));
    return { ...response, body: JSON.stringify({ ...answer, service_list: [...answer.service_list, ...strangers] }) };
  };
  const install = manifest('StoreInstall', 'one', {
    application: 'shop',
    store: 'main',
    model: { id: '0a1b2c', version: '8.0.36' },
    build: false,
  });
  const work = workOf(ADDRESS, [install]);
  await world.pass(work);
  const [hold] = ended(await world.pass(work)).plan.holds;
  expect(hold?.code).toBe('install/not-alone');
  expect(hold?.message).toContain(words);
  expect(hold?.message).toContain('a person, may have installed or moved a component into this application');
});

test.for(['documented', 'extended'] as const)(
  '%s: a protocol is not changed before outer access is seen to be closed, and that is tried three times',
  async (dialect) => {
    const world = new ScopeWorld(shop, dialect);
    const bodyOf = (body: unknown) => (body ?? {}) as { readonly action?: string };
    const work = workOf(ADDRESS, [
      manifest('Component', 'web', {
        application: 'shop',
        serviceId: WEB,
        ports: [{ port: 8080, protocol: 'tcp', outer: true }],
        unlistedPorts: 'keep',
      }),
    ]);
    world.answer = ({ operation, body }) =>
      operation === 'updatePort' && bodyOf(body).action === 'close_outer'
        ? { status: 200, contentType: 'application/json', retryAfter: null, body: '{"code":200,"data":{"bean":{}}}' }
        : undefined;
    const [first] = [ended(await world.pass(work))];
    expect(first.results.map(({ action, status }) => [action.step.type, status])).toContainEqual([
      'change_protocol',
      'failed',
    ]);
    for (let pass = 0; pass < 5; pass += 1) {
      world.clock.advance(20 * 60_000);
      await world.pass(work);
    }
    const sent = world.writes().map(({ request }) => bodyOf(request.body).action);
    expect(sent).not.toContain('change_protocol');
    expect(sent.filter((action) => action === 'close_outer')).toHaveLength(3);
    expect(holds(await world.pass(work))).toEqual(['effect/not-taken']);
    expect(world.state.ports.get(`${WEB}/8080`)).toMatchObject({ protocol: 'http', outer: true });
  },
);

test.for([
  ['not wanted any more', false],
  ['wanted', true],
] as const)('a rule whose move was in doubt goes on record where it is: %s', async ([_, isWanted]) => {
  const world = new ScopeWorld(shop, 'extended');
  await world.settle(workOf(ADDRESS, [web, www()]));
  const moved = workOf(ADDRESS, [web, www({ path: '/moved' })]);
  world.crash = { atWrite: 1, when: 'after' };
  expect(await world.pass(moved)).toBe('died');
  world.crash = undefined;
  const last = await world.settle(isWanted ? moved : workOf(ADDRESS, [web]), PRUNING);
  expect(holds(last)).toEqual([]);
  const paths = [...world.state.rules.all()]
    .filter(({ domain }) => domain === 'www.example.com')
    .map(({ path }) => path);
  expect(paths).toEqual(isWanted ? ['/moved'] : []);
  expect(ruleRow(world)).toBeUndefined();
  expect(rowOf(world, `rule/${WEB}/8080/http://www.example.com/moved`) !== undefined).toBe(isWanted);
});

test('an empty listing is no proof that a rule which git moves is gone: it is moved, and not created beside it', async () => {
  const world = new ScopeWorld(shop, 'extended');
  await world.settle(workOf(ADDRESS, [web, www()]));
  const moved = workOf(ADDRESS, [web, www({ path: '/moved' })]);
  world.alter = ({ operation }, response) => (operation === 'listRules' ? { ...response, body: '[]' } : response);
  await world.pass(moved);
  world.alter = (_, response) => response;
  await world.settle(moved, PRUNING);
  expect(creations(world)).toBe(1);
  const paths = [...world.state.rules.all()]
    .filter(({ domain }) => domain === 'www.example.com')
    .map(({ path }) => path);
  expect(paths).toEqual(['/moved']);
});

test('an empty listing is no proof that a rule which somebody has moved is gone: it is moved back, and not created beside it', async () => {
  const world = new ScopeWorld(shop, 'extended');
  const work = workOf(ADDRESS, [web, www()]);
  await world.settle(work);
  const [row] = [...world.state.rules.all()].filter(({ domain }) => domain === 'www.example.com');
  if (row === undefined) throw new Error('the rule was created');
  world.state.rules.put({ ...row, domain: 'moved.example.com' });
  world.alter = ({ operation }, response) => (operation === 'listRules' ? { ...response, body: '[]' } : response);
  await world.pass(work);
  world.alter = (_, response) => response;
  await world.settle(work);
  expect(creations(world)).toBe(1);
  expect(world.state.rules.get(row.id)?.domain).toBe('www.example.com');
});
