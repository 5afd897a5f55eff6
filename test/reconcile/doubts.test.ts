import { expect, test } from 'vitest';
import type { PortSpec } from '../../src/kinds/component/spec.ts';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { PassOptions } from '../../src/reconcile/reconcile.ts';
import type { PlatformResponse } from '../../src/platform/transport.ts';
import type { Seed, SeedComponent } from '../../src/sandbox/seed.ts';
import { demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

// What the simulator found, one by one: each test failed before its fix.

const ADDRESS = { team: 'team-a', region: 'region-1', appId: 42 };
const WEB = 'a'.repeat(32);
const API = 'b'.repeat(32);
const ADOPTING: PassOptions = {
  ...allowEverything,
  permissions: { ...allowEverything.permissions, adopt: () => true },
};
const PRUNING: PassOptions = { ...allowEverything, permissions: { ...allowEverything.permissions, prune: true } };

function seedWith(...components: readonly SeedComponent[]): Seed {
  return {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '1'.repeat(32), name: ADDRESS.region }],
    teams: [{ id: 'd'.repeat(32), name: ADDRESS.team }],
    applications: [{ ...ADDRESS, id: ADDRESS.appId, name: 'shop', components }],
    ...(demoSeed.stores === undefined ? {} : { stores: demoSeed.stores }),
  };
}

function component(name: string, serviceId: string, ports: readonly PortSpec[], extra: object = {}) {
  return manifest('Component', name, { application: 'shop', serviceId, ports, unlistedPorts: 'keep', ...extra });
}

function install(name: string, modelId = '0a1b2c', version = '8.0.36', extra: object = {}) {
  const spec = { application: 'shop', store: 'main', model: { id: modelId, version }, build: false, ...extra };
  return manifest('StoreInstall', name, { allowSecondCopy: true, ...spec });
}

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

function codes(outcome: Outcome | 'died'): string[] {
  return ended(outcome).plan.holds.map((hold) => hold.code);
}

function refusal(status: number, body: object): PlatformResponse {
  return { status, contentType: 'application/json', retryAfter: null, body: JSON.stringify(body) };
}

const rowOf = (world: ScopeWorld, key: string) =>
  [...world.store.objects.values()].find((object) => object.naturalKey === key);

test('two installs of one plan: each has its own components on record', async () => {
  const world = new ScopeWorld(seedWith(), 'extended');
  await world.pass(workOf(ADDRESS, [install('one'), install('two')]));
  const components = ['install/one', 'install/two'].map((key) => rowOf(world, key)?.remoteAux['components']);
  expect(components).toEqual([
    [expect.objectContaining({ serviceKey: 'mysql' })],
    [expect.objectContaining({ serviceKey: 'mysql' })],
  ]);
  expect(components[0]).not.toEqual(components[1]);
  expect(rowOf(world, 'install/two')?.remoteId).toBe('2');
});

test('an install in doubt is not adopted for another resource, nor called somebody else’s', async () => {
  for (const options of [ADOPTING, allowEverything]) {
    const world = new ScopeWorld(seedWith(), 'extended');
    world.crash = { atWrite: 1, when: 'after' };
    expect(await world.pass(workOf(ADDRESS, [install('one')]), options)).toBe('died');
    world.crash = undefined;
    const both = workOf(ADDRESS, [install('one'), install('two', '0a1b2c', '8.0.36', { allowSecondCopy: false })]);
    expect(codes(await world.pass(both, options))).toContain('install/other-in-doubt');
    expect(rowOf(world, 'install/two')).toBeUndefined();
    world.clock.advance(20 * 60_000 + 2_000);
    await world.pass(both, options);
    expect(rowOf(world, 'install/one')?.origin).toBe('created');
    expect(world.writes()).toHaveLength(1);
  }
});

test('an install in doubt is found although another copy on record was deleted meanwhile', async () => {
  const world = new ScopeWorld(seedWith(), 'extended');
  const work = workOf(ADDRESS, [install('one'), install('two')]);
  world.crash = { atWrite: 2, when: 'after' };
  expect(await world.pass(work)).toBe('died');
  world.crash = undefined;
  for (const row of [...world.state.components.all()].filter(({ groupId }) => groupId === 1)) {
    world.state.components.delete(row.id);
  }
  world.state.installs.delete('1');
  await world.settle(work);
  expect(world.state.installs.size).toBe(1);
  expect(rowOf(world, 'install/two')?.remoteId).toBe('2');
});

test('an empty listing is no proof of absence while the application counts components', async () => {
  const world = new ScopeWorld(seedWith(), 'extended');
  const work = workOf(ADDRESS, [install('one')]);
  world.crash = { atWrite: 1, when: 'after' };
  await world.pass(work);
  world.crash = undefined;
  await world.pass(work);
  world.clock.advance(20 * 60_000 + 2_000);
  world.answer = ({ operation }) => (operation === 'listComponents' ? refusal(200, []) : undefined);
  expect(codes(await world.pass(work))).toContain('intent/in-doubt');
  world.answer = () => undefined;
  expect(codes(await world.pass(work))).toEqual([]);
  expect(world.state.installs.size).toBe(1);
});

test('a rule in doubt that git names anew is no less in doubt under its new name', async () => {
  const rule = (name: string) =>
    manifest('HttpGatewayRule', name, {
      application: 'shop',
      component: 'web',
      port: 8080,
      domain: 'www.example.com',
      path: '/',
      weight: 10,
    });
  const web = component('web', WEB, [{ port: 8080, inner: true, outer: true }]);
  const open = { id: WEB, name: 'web', ports: [{ port: 8080, inner: true, outer: true }] };
  const world = new ScopeWorld(seedWith(open), 'extended');
  await world.pass(workOf(ADDRESS, [web]));
  world.crash = { atWrite: 1, when: 'after' };
  expect(await world.pass(workOf(ADDRESS, [web, rule('www')]))).toBe('died');
  world.crash = undefined;
  for (const row of world.state.rules.all()) world.state.rules.put({ ...row, weight: 55 });
  const renamed = workOf(ADDRESS, [web, rule('front')]);
  await world.pass(renamed);
  world.clock.advance(6 * 60_000);
  const { plan } = ended(await world.pass(renamed));
  expect(plan.holds.map(({ code, resource }) => [code, resource])).toEqual([
    ['intent/in-doubt', 'HttpGatewayRule/front'],
    ['intent/in-doubt', 'HttpGatewayRule/www'],
  ]);
  expect(plan.inSync).toEqual(['Component/web']);
});

test('an application that lacks a component of the source stays without installs, whatever else of it is recorded', async () => {
  const ports = [{ port: 8080, inner: true }];
  const world = new ScopeWorld(seedWith({ id: WEB, name: 'web', ports }), 'extended');
  const web = component('web', WEB, ports);
  const absent = component('api', 'b'.repeat(32), ports);
  const both = workOf(ADDRESS, [web, absent, install('one')]);
  for (const pass of [1, 2, 3])
    expect(codes(await world.pass(both)), `pass ${pass}`).toContain('install/components-elsewhere');
  expect(world.state.installs.size).toBe(0);
  expect(codes(await world.pass(workOf(ADDRESS, [web, install('one')])))).toEqual([]);
  expect(world.state.installs.size).toBe(1);
});

test('a new install group proves nothing while the server lists no install of its model', async () => {
  const world = new ScopeWorld(seedWith(), 'extended');
  const work = workOf(ADDRESS, [install('one')]);
  world.crash = { atWrite: 1, when: 'after' };
  await world.pass(work);
  world.crash = undefined;
  await world.pass(work);
  world.clock.advance(20 * 60_000 + 2_000);
  world.answer = ({ operation }) => (operation === 'listInstalled' ? refusal(200, []) : undefined);
  expect(codes(await world.pass(work))).toContain('intent/in-doubt');
  expect(rowOf(world, 'install/one')).toBeUndefined();
  world.answer = () => undefined;
  expect(codes(await world.pass(work))).toEqual([]);
  expect(rowOf(world, 'install/one')).toMatchObject({ state: 'present' });
  expect(world.state.installs.size).toBe(1);
});

test('what took, and is only undone for a moment by the next attempt, does not count as not taken', async () => {
  const world = new ScopeWorld(seedWith({ id: WEB, name: 'web', ports: [{ port: 8080, inner: true }] }), 'extended');
  const work = workOf(ADDRESS, [component('web', WEB, [{ port: 8080, protocol: 'grpc', inner: true, outer: true }])]);
  let isRefused = false;
  world.answer = ({ body }) => {
    if (isRefused || !JSON.stringify(body ?? {}).includes('change_protocol')) return undefined;
    isRefused = true;
    return refusal(400, { code: 20400, msg: 'params error' });
  };
  const { plan } = ended(await world.pass(work));
  expect(isRefused).toBe(true);
  expect(plan.actions.map(({ step }) => step.type)).toEqual(['close_outer', 'change_protocol', 'open_outer']);
  expect(rowOf(world, `port/${WEB}/8080`)?.failures).toBe(1);
});

test('nothing is pruned while an intent of the application is in doubt', async () => {
  const world = new ScopeWorld(seedWith({ id: WEB, name: 'web', ports: [{ port: 9000, inner: true }] }), 'documented');
  const keeping = component('web', WEB, []);
  await world.pass(workOf(ADDRESS, [keeping]));
  world.crash = { atWrite: 1, when: 'after' };
  expect(await world.pass(workOf(ADDRESS, [keeping, install('one')]))).toBe('died');
  world.crash = undefined;
  const closing = workOf(ADDRESS, [component('web', WEB, [], { unlistedPorts: 'close' }), install('one')]);
  await world.pass(closing, PRUNING);
  world.clock.advance(2 * 60_000);
  expect(codes(await world.pass(closing, PRUNING))).toContain('prune/in-doubt');
  expect(world.state.ports.get(`${WEB}/9000`)?.inner).toBe(true);
});

test('what the platform keeps refusing in words of its own is a hold after three times', async () => {
  const world = new ScopeWorld(
    seedWith(
      { id: WEB, name: 'web', ports: [{ port: 8080, inner: true }] },
      { id: API, name: 'api', serviceName: 'taken', ports: [{ port: 8080, inner: true }] },
    ),
    'extended',
  );
  const work = workOf(ADDRESS, [component('web', WEB, [{ port: 8080 }], { serviceName: 'taken' })]);
  for (let round = 0; round < 3; round += 1) {
    await world.pass(work);
    world.clock.advance(91_000);
  }
  expect(codes(await world.pass(work))).toEqual(['effect/not-taken']);
  expect(world.writes()).toHaveLength(3);
});

test.for([
  ['port', 'documented', 'effect/not-taken', 3],
  ['port', 'extended', 'effect/not-taken', 3],
  ['rule', 'documented', 'effect/not-taken', 3],
  ['rule', 'extended', 'effect/not-taken', 3],
  // Nothing shows there what is installed: a person is asked at once.
  ['install', 'documented', 'intent/in-doubt', 1],
  ['install', 'extended', 'effect/not-taken', 3],
] as const)(
  'a new %s that a %s server keeps refusing in words of its own is held as %s after %i writes',
  async ([what, dialect, code, writes]) => {
    const world = new ScopeWorld(
      seedWith({ id: WEB, name: 'web', ports: [{ port: 8080, protocol: 'http', inner: true, outer: true }] }),
      dialect,
    );
    let sent = 0;
    world.answer = (request) => {
      if (request.isRead) return undefined;
      sent += 1;
      return refusal(400, { code: 400, msg: 'not like this', msg_show: 'not like this' });
    };
    const rule = { application: 'shop', component: 'web', port: 8080, domain: 'www.example.com', path: '/' };
    const ports: PortSpec[] = what === 'port' ? [{ port: 9000, protocol: 'tcp', inner: true }] : [{ port: 8080 }];
    const work = workOf(ADDRESS, [
      component('web', WEB, ports),
      ...(what === 'rule' ? [manifest('HttpGatewayRule', 'www', rule)] : []),
      ...(what === 'install' ? [install('one')] : []),
    ]);
    for (let round = 0; round < 6; round += 1) {
      await world.pass(work);
      world.clock.advance(21 * 60_000);
    }
    expect(codes(await world.pass(work))).toEqual([code]);
    expect(sent).toBe(writes);
  },
);

test('a service name is carried by a port whose alias is its own, and held where there is none', async () => {
  const ports = [
    { port: 8080, alias: 'SAME', inner: true },
    { port: 8081, alias: 'SAME', inner: true },
  ];
  const wanted = component('web', WEB, [{ port: 8080 }], { serviceName: 'front' });
  const stuck = new ScopeWorld(seedWith({ id: WEB, name: 'web', ports }), 'extended');
  expect(codes(await stuck.pass(workOf(ADDRESS, [wanted])))).toEqual(['component/alias-taken']);
  expect(stuck.writes()).toEqual([]);
  const third = [...ports, { port: 8082, alias: 'OWN', inner: true }];
  const world = new ScopeWorld(seedWith({ id: WEB, name: 'web', ports: third }), 'extended');
  expect(codes(await world.pass(workOf(ADDRESS, [wanted])))).toEqual([]);
  expect([...world.state.ports.all()].map((row) => row.serviceName)).toEqual(['front', 'front', 'front']);
});

test('outer access is not closed again for a change of protocol that was refused', async () => {
  const world = new ScopeWorld(
    seedWith({ id: WEB, name: 'web', ports: [{ port: 8080, protocol: 'tcp', inner: true, outer: true }] }),
    'extended',
  );
  world.answer = ({ body }) =>
    body?.['action'] === 'change_protocol' ? refusal(400, { code: 20400, detail: 'no' }) : undefined;
  await world.pass(workOf(ADDRESS, [component('web', WEB, [{ port: 8080, protocol: 'grpc' }])]));
  expect(world.writes().map(({ request }) => request.body?.['action'])).toEqual([
    'close_outer',
    'change_protocol',
    'open_outer',
  ]);
});

test('a wait ends when the wall clock was set back', async () => {
  const world = new ScopeWorld(seedWith({ id: WEB, name: 'web', status: 'closed' }), 'extended');
  const work = workOf(ADDRESS, [
    install('one', '0a1b2c', '8.0.36', { build: true, wait: { for: 'running', timeout: '10m' } }),
  ]);
  expect(ended(await world.pass(work)).waits).toHaveLength(1);
  world.clock.jump(-365 * 86_400_000);
  expect(codes(await world.pass(work))).toEqual(['install/not-running']);
});

test('what follows from an install that runs is on record in the same pass', async () => {
  const world = new ScopeWorld(seedWith(), 'extended');
  const from = { from: { install: 'one', component: 'mysql' }, ports: [{ port: 3306 }], unlistedPorts: 'keep' };
  const work = workOf(ADDRESS, [
    install('one', '0a1b2c', '8.0.36', { build: true, wait: { for: 'running', timeout: '10m' } }),
    manifest('Component', 'db', { application: 'shop', ...from }),
  ]);
  await world.pass(work);
  world.clock.advance(60_000);
  await world.pass(work);
  const { serial } = world.store;
  await world.pass(work);
  expect(world.store.serial).toBe(serial);
});

test('what was opened again is owed until it is seen to be open', async () => {
  const world = new ScopeWorld(
    seedWith({ id: WEB, name: 'web', ports: [{ port: 8080, protocol: 'tcp', inner: true, outer: true }] }),
    'extended',
  );
  const work = workOf(ADDRESS, [component('web', WEB, [{ port: 8080, protocol: 'grpc' }])]);
  world.crash = { atWrite: 3, when: 'after' };
  world.answer = ({ body }) => (body?.['action'] === 'open_outer' ? refusal(200, {}) : undefined);
  expect(await world.pass(work)).toBe('died');
  world.answer = () => undefined;
  await world.settle(work);
  expect(world.state.ports.get(`${WEB}/8080`)).toMatchObject({ protocol: 'grpc', outer: true });
  expect(rowOf(world, `port/${WEB}/8080`)?.obligation).toBeNull();
});

test('a rule that git no longer names is not let go because one listing lacks it', async () => {
  const world = new ScopeWorld(
    seedWith({ id: WEB, name: 'web', ports: [{ port: 8080, protocol: 'http', inner: true, outer: true }] }),
    'extended',
  );
  const web = component('web', WEB, [{ port: 8080 }]);
  const place = { application: 'shop', component: 'web', port: 8080, path: '/' };
  await world.pass(workOf(ADDRESS, [web, manifest('HttpGatewayRule', 'www', { ...place, domain: 'www.example.com' })]));
  const key = `rule/${WEB}/8080/http://www.example.com/`;
  expect(rowOf(world, key)?.remoteId).not.toBeNull();
  world.answer = ({ operation }) => (operation === 'listRules' ? refusal(200, []) : undefined);
  await world.pass(workOf(ADDRESS, [web]));
  expect(rowOf(world, key)).toBeDefined();
  world.answer = () => undefined;
  await world.pass(workOf(ADDRESS, [web]), PRUNING);
  expect([...world.state.rules.all()].filter((rule) => rule.type === 1)).toEqual([]);
  expect(rowOf(world, key)).toBeUndefined();
});

test('a rule publishes no port whose inner access could not be opened', async () => {
  const world = new ScopeWorld(
    seedWith({ id: WEB, name: 'web', ports: [{ port: 8080, inner: false, outer: false }] }),
    'extended',
  );
  world.answer = ({ body }) =>
    body?.['action'] === 'open_inner' ? refusal(400, { code: 20400, detail: 'no' }) : undefined;
  const wanted = workOf(ADDRESS, [
    component('web', WEB, [{ port: 8080, inner: true, outer: true }]),
    manifest('HttpGatewayRule', 'www', {
      application: 'shop',
      component: 'web',
      port: 8080,
      domain: 'www.example.com',
    }),
  ]);
  for (let round = 0; round < 4; round += 1) {
    await world.pass(wanted);
    world.clock.advance(91_000);
  }
  expect(codes(await world.pass(wanted)).sort()).toEqual(['effect/not-taken', 'plan/blocked']);
  expect(world.writes().map(({ request }) => request.body?.['action'] ?? request.operation)).toEqual([
    'open_inner',
    'open_inner',
    'open_inner',
  ]);
  // Opened by hand, it goes on by itself.
  const row = world.state.ports.get(`${WEB}/8080`);
  if (row !== undefined) world.state.ports.put({ ...row, inner: true });
  await world.pass(wanted);
  expect(codes(await world.pass(wanted))).toEqual([]);
  expect(world.state.ports.get(`${WEB}/8080`)).toMatchObject({ inner: true, outer: true });
});
