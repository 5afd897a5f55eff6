import { expect, test } from 'vitest';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { Seed, SeedComponent } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

// A component that belongs to another application now. The platform refuses every request for it with 404, unless the
// application that it left has no components: then it answers as if nothing had happened, and a write really writes.

const OTHER = 'b'.repeat(32);
const DIALECTS: readonly Dialect[] = ['documented', 'extended'];

function seed(components: readonly SeedComponent[]): Seed {
  const shop = smallShop({ ports: [{ port: 8080, alias: 'WEB' }] });
  const [application] = shop.applications;
  if (application === undefined) throw new Error('the shop has an application');
  const elsewhere = { ...application, id: 43, name: 'elsewhere', components: [] };
  return {
    ...shop,
    applications: [{ ...application, components: [...application.components, ...components] }, elsewhere],
  };
}

const other: SeedComponent = { id: OTHER, name: 'api', ports: [{ port: 9000, alias: 'API' }] };

const web = manifest('Component', 'web', {
  application: 'shop',
  serviceId: SERVICE,
  ports: [{ port: 8080, inner: true, outer: true }],
  unlistedPorts: 'keep',
});
const rule = manifest('HttpGatewayRule', 'www', {
  application: 'shop',
  component: 'web',
  port: 8080,
  domain: 'www.example.com',
  path: '/',
});
const api = manifest('Component', 'api', {
  application: 'shop',
  serviceId: OTHER,
  ports: [{ port: 9000, inner: true }],
  unlistedPorts: 'keep',
});

function move(world: ScopeWorld): void {
  const row = world.state.components.get(SERVICE);
  if (row === undefined) throw new Error('the component is there');
  world.state.components.put({ ...row, appId: 43 });
}

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const held = (outcome: Outcome | 'died') => ended(outcome).plan.holds.map(({ code, resource }) => [code, resource]);
const HELD = [
  ['component/not-found', 'Component/web'],
  ['rule/component-missing', 'HttpGatewayRule/www'],
];

test.for(DIALECTS)(
  '%s: a component that moved to another application is held with its rule, the rest is reconciled',
  async (dialect) => {
    const world = new ScopeWorld(seed([other]), dialect);
    move(world);
    const outcome = await world.pass(workOf(ADDRESS, [web, rule, api]));
    expect(held(outcome)).toEqual(HELD);
    const [hold] = ended(outcome).plan.holds;
    // Where components are listed, the platform is not asked about one that is not among them.
    if (dialect === 'documented')
      expect(hold?.message).toContain('The platform said: component not belong to this app');
    expect(world.state.ports.get(`${OTHER}/9000`)).toMatchObject({ inner: true });
    expect(world.state.ports.get(`${SERVICE}/8080`)).toMatchObject({ inner: false, outer: false });
    expect(world.writes()).toHaveLength(1);
  },
);

test.for(DIALECTS)(
  '%s: nothing is written by way of an application that has no components any more',
  async (dialect) => {
    const world = new ScopeWorld(seed([]), dialect);
    move(world);
    const work = workOf(ADDRESS, [web, rule]);
    expect(held(await world.pass(work, { ...allowEverything, readOnly: true }))).toEqual(HELD);
    expect(held(await world.pass(work))).toEqual(HELD);
    expect(world.writes()).toEqual([]);
  },
);

test.for(DIALECTS)('%s: a component that moves between the plan and its writes is not written to', async (dialect) => {
  const world = new ScopeWorld(seed([]), dialect);
  let reads = 0;
  world.answer = ({ operation }) => {
    // Membership is read last: the listing of components, or the application once more.
    reads += ['listComponents', 'getApplication'].includes(operation) ? 1 : 0;
    if (reads === 2) move(world);
    return undefined;
  };
  const outcome = await world.pass(workOf(ADDRESS, [web]));
  expect(world.writes()).toEqual([]);
  expect(ended(outcome).results).toMatchObject([
    { status: 'failed', reason: { type: 'not-sent' }, answer: { message: expect.stringContaining('any more') } },
    { status: 'skipped' },
  ]);
  expect(held(outcome), 'and it is held from then on').toEqual(HELD.slice(0, 1));
});

test('a component comes back, and is looked after again', async () => {
  const world = new ScopeWorld(seed([other]), 'extended');
  move(world);
  const work = workOf(ADDRESS, [web, rule]);
  await world.pass(work);
  const row = world.state.components.get(SERVICE);
  if (row !== undefined) world.state.components.put({ ...row, appId: ADDRESS.appId });
  expect(held(await world.pass(work))).toEqual([]);
  expect(world.state.ports.get(`${SERVICE}/8080`)).toMatchObject({ inner: true, outer: true });
});

test('membership is read once for the writes of five seconds', async () => {
  const world = new ScopeWorld(seed([other]), 'extended');
  await world.pass(workOf(ADDRESS, [web, rule, api]));
  expect(world.writes()).toHaveLength(3);
  expect(world.exchanges.filter(({ request }) => request.operation === 'listComponents')).toHaveLength(1);
});
