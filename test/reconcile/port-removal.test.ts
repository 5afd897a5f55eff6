import { expect, test } from 'vitest';
import type { PortSpec } from '../../src/kinds/component/spec.ts';
import type { Resource } from '../../src/model/resource.ts';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { PassOptions } from '../../src/reconcile/reconcile.ts';
import type { SeedPort, SeedRule } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

// Ports and outer access that Portolan made are removed again with the entry or the document that asked for them.

const pruning: PassOptions = { ...allowEverything, permissions: { ...allowEverything.permissions, prune: true } };

type Annotations = Readonly<Record<string, string>>;

const web = (ports: readonly PortSpec[], annotations: Annotations = {}, spec: object = {}) =>
  manifest(
    'Component',
    'web',
    { application: 'shop', serviceId: SERVICE, ports, unlistedPorts: 'keep', ...spec },
    annotations,
  );

const www = (spec: object = {}) =>
  manifest('HttpGatewayRule', 'www', {
    application: 'shop',
    component: 'web',
    port: 9000,
    domain: 'www.example.com',
    path: '/',
    ...spec,
  });

const made: PortSpec = { port: 9000, protocol: 'http', alias: 'MADE', inner: true, outer: true };
const there: SeedPort = { port: 8080, alias: 'THERE', inner: true };

const work = (...resources: readonly Resource[]) => workOf(ADDRESS, resources);

function worldWith(
  ports: readonly SeedPort[] = [there],
  rules: readonly SeedRule[] = [],
  dialect: Dialect = 'extended',
) {
  return new ScopeWorld(smallShop({ ports }, rules), dialect);
}

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const done = (outcome: Outcome | 'died') =>
  ended(outcome).results.map(({ action, status }) => [action.step.type, status]);
const codes = (outcome: Outcome | 'died') => {
  const { holds, notes } = ended(outcome).plan;
  return [...holds, ...notes].map(({ code }) => code);
};
const portOf = (world: ScopeWorld, port: number) => world.state.ports.get(`${SERVICE}/${port}`);
const rows = (world: ScopeWorld) => [...world.store.objects.values()];

function addRule(world: ScopeWorld, outer: boolean): void {
  const like = [...world.state.rules.all()][0];
  if (like === undefined) throw new Error('the port has a rule');
  world.state.rules.put({
    ...like,
    id: 'f'.repeat(32),
    row: 99,
    domain: 'other.example.com',
    path: '/',
    type: 1,
    outer,
  });
}

test.for([
  ['its entry', [web([])]],
  ['its document', []],
] as const)(
  'a port that Portolan made is closed and deleted when %s is removed, with --prune only',
  async ([, left]) => {
    const world = worldWith();
    await world.pass(work(web([made])));
    expect(portOf(world, 9000)).toMatchObject({ outer: true });
    expect([...world.state.rules.all()], 'the platform publishes it').toMatchObject([{ type: 0 }]);
    expect(codes(await world.pass(work(...left)))).toContain('prune/not-asked');
    expect(portOf(world, 9000)).toMatchObject({ outer: true });
    const outcome = await world.pass(work(...left), pruning);
    expect(done(outcome)).toEqual([
      ['close_outer', 'done'],
      ['close_inner', 'done'],
      ['delete_port', 'done'],
    ]);
    expect(ended(outcome).results.every(({ action }) => action.prune)).toBe(true);
    expect(portOf(world, 9000)).toBeUndefined();
    expect(portOf(world, 8080), 'those of others stay').toMatchObject({ inner: true });
    await world.settle(work(...left), pruning);
    expect(rows(world).filter(({ naturalKey }) => naturalKey === `port/${SERVICE}/9000`)).toEqual([]);
    if (left.length === 0) expect(rows(world)).toEqual([]);
  },
);

test('a port that Portolan made is removed whatever unlistedPorts says, and that is for ports of others', async () => {
  const world = worldWith();
  await world.pass(work(web([made])));
  await world.pass(work(web([], {}, { unlistedPorts: 'close' })), pruning);
  expect(portOf(world, 9000)).toBeUndefined();
  expect(portOf(world, 8080)).toMatchObject({ inner: false });
});

test.for([
  ['active', true],
  ['inactive', false],
] as const)('a port that Portolan made stays open while a rule of somebody else is on it: %s', async ([, outer]) => {
  const world = worldWith();
  await world.pass(work(web([made])));
  addRule(world, outer);
  const before = world.writes().length;
  for (const left of [[web([])], []]) {
    const outcome = await world.pass(work(...left), pruning);
    expect(codes(outcome)).toContain('prune/rule-on-port');
    expect(world.writes()).toHaveLength(before);
    expect(portOf(world, 9000)).toMatchObject({ inner: true, outer: true });
  }
  world.state.rules.delete('f'.repeat(32));
  await world.settle(work(), pruning);
  expect(portOf(world, 9000), 'and goes when that rule is gone').toBeUndefined();
});

test('the rule goes first, then outer, inner and the port', async () => {
  const world = worldWith();
  await world.pass(work(web([made]), www()));
  expect(done(await world.pass(work(), pruning))).toEqual([
    ['delete', 'done'],
    ['close_outer', 'done'],
    ['close_inner', 'done'],
    ['delete_port', 'done'],
  ]);
});

test('a rule that stays by its own manifest keeps the port', async () => {
  const world = worldWith();
  const kept = { ...www(), annotations: { 'portolan/prune': 'keep' } };
  await world.pass(work(web([made]), kept));
  expect(codes(await world.pass(work(web([])), pruning)).sort()).toEqual(['prune/kept', 'prune/rule-on-port']);
  expect(codes(await world.pass(work(web([]), kept), pruning)), 'or is still wanted').toContain('prune/port-wanted');
  expect(portOf(world, 9000)).toMatchObject({ outer: true });
});

test.for([
  ['its entry', [web([], { 'portolan/prune': 'keep' })]],
  ['its document', []],
] as const)('portolan/prune: keep keeps the port when %s is removed', async ([, left]) => {
  const world = worldWith();
  await world.pass(work(web([made], { 'portolan/prune': 'keep' })));
  const before = world.writes().length;
  expect(codes(await world.pass(work(...left), pruning))).toContain('prune/kept');
  expect(world.writes()).toHaveLength(before);
});

test('a server that lists no rules closes and deletes nothing', async () => {
  const world = worldWith([there], [], 'documented');
  await world.pass(work(web([made])));
  const before = world.writes().length;
  for (const left of [[web([])], []]) {
    expect(codes(await world.pass(work(...left), pruning))).toContain('prune/impossible');
    expect(world.writes()).toHaveLength(before);
  }
});

test('a port whose row does not say that a manifest listed it stays: an older version made it', async () => {
  const world = worldWith();
  await world.pass(work(web([made])));
  for (const [uid, row] of world.store.objects) {
    const { listed: _listed, ...remoteAux } = row.remoteAux;
    world.store.objects.set(uid, { ...row, remoteAux });
  }
  const before = world.writes().length;
  await world.settle(work(web([])), pruning);
  await world.settle(work(), pruning);
  expect(world.writes()).toHaveLength(before);
  expect(portOf(world, 9000)).toMatchObject({ outer: true });
  expect(rows(world)).toEqual([]);
});

test('a component under a new name keeps its ports', async () => {
  const world = worldWith();
  await world.pass(work(web([made])));
  const before = world.writes().length;
  const renamed: Resource = { ...web([made]), id: 'Component/front', name: 'front' };
  await world.settle(work(renamed), pruning);
  const suspended: Resource = { ...web([made]), annotations: { 'portolan/reconcile': 'suspend' } };
  await world.settle(work(suspended), pruning);
  expect(world.writes()).toHaveLength(before);
});

test('a run for some resources only never prunes', async () => {
  const world = worldWith();
  await world.pass(work(web([made])));
  const before = world.writes().length;
  await world.pass(work(web([])), { ...pruning, targets: new Set(['Component/web']) });
  expect(world.writes()).toHaveLength(before);
});

test.for([1, 2, 3])('a crash after write %i of a removal leads to the same end', async (atWrite) => {
  for (const left of [[web([])], []]) {
    for (const when of ['before', 'after'] as const) {
      const world = worldWith();
      await world.pass(work(web([made])));
      world.crash = { atWrite, when };
      expect(await world.pass(work(...left), pruning)).toBe('died');
      await world.settle(work(...left), pruning);
      expect(portOf(world, 9000)).toBeUndefined();
      expect(world.writes().filter(({ response }) => response.status >= 300)).toEqual([]);
    }
  }
});

const opened: SeedPort = { port: 9000, alias: 'OLD', inner: true };

test.for([
  ['openOuter', www({ openOuter: true }), web([{ port: 9000, inner: true }])],
  ['being the first of a port that should be open', www(), web([{ port: 9000, inner: true, outer: true }])],
] as const)('outer access that a rule opened by %s is closed with it', async ([, rule, component]) => {
  const world = worldWith([opened]);
  await world.pass(work(component, rule));
  expect(portOf(world, 9000)).toMatchObject({ outer: true });
  const left = web([{ port: 9000, inner: true }]);
  expect(codes(await world.pass(work(left)))).toContain('prune/not-asked');
  expect(done(await world.pass(work(left), pruning))).toEqual([
    ['delete', 'done'],
    ['close_outer', 'done'],
  ]);
  expect(portOf(world, 9000)).toMatchObject({ inner: true, outer: false });
  await world.settle(work(left), pruning);
  expect(rows(world).filter(({ kind }) => kind === 'HttpGatewayRule')).toEqual([]);
});

test.for([
  ['a manifest wants it open', true, [web([{ port: 9000, inner: true, outer: true }])]],
  ['a rule of somebody else is on it', false, [web([{ port: 9000, inner: true }])]],
  [
    'another rule of the source wants it',
    true,
    [web([{ port: 9000, inner: true }]), { ...www({ path: '/b' }), id: 'HttpGatewayRule/b' as const, name: 'b' }],
  ],
] as const)('outer access that a rule opened stays while %s', async ([, isAlone, left]) => {
  const world = worldWith([opened]);
  await world.pass(work(web([{ port: 9000, inner: true }]), www({ openOuter: true })));
  if (!isAlone) addRule(world, false);
  await world.settle(work(...left), pruning);
  expect(
    [...world.state.rules.all()].filter(({ domain, path }) => domain === 'www.example.com' && path === '/'),
  ).toEqual([]);
  expect(portOf(world, 9000)).toMatchObject({ outer: true });
});

test('outer access that was open before the rule stays open', async () => {
  const world = worldWith([{ ...opened, outer: true }]);
  await world.pass(work(web([{ port: 9000, inner: true }]), www({ openOuter: true })));
  await world.settle(work(web([{ port: 9000, inner: true }])), pruning);
  expect(portOf(world, 9000)).toMatchObject({ outer: true });
});

test('a crash between the rule and its port still closes the port', async () => {
  const world = worldWith([opened]);
  await world.pass(work(web([{ port: 9000, inner: true }]), www({ openOuter: true })));
  world.crash = { atWrite: 1, when: 'after' };
  const left = work(web([{ port: 9000, inner: true }]));
  expect(await world.pass(left, pruning)).toBe('died');
  await world.settle(left, pruning);
  expect(portOf(world, 9000)).toMatchObject({ outer: false });
});

const restoring: Annotations = { 'portolan/on-removal': 'restore' };
const wanted: PortSpec = { port: 8080, protocol: 'tcp', alias: 'NEW', inner: true, outer: true };
const former: SeedPort = { port: 8080, protocol: 'http', alias: 'THERE', inner: true, outer: false };

test.for([
  ['its entry', [web([], restoring)]],
  ['its document', []],
] as const)('on-removal: restore gives a port back its former values when %s is removed', async ([, left]) => {
  const world = worldWith([former]);
  await world.pass(work(web([wanted], restoring)));
  expect(portOf(world, 8080)).toMatchObject({ protocol: 'tcp', alias: 'NEW', outer: true });
  expect(codes(await world.pass(work(...left)))).toContain('prune/not-asked');
  await world.settle(work(...left), pruning);
  expect(portOf(world, 8080)).toMatchObject({ protocol: 'http', alias: 'THERE', inner: true, outer: false });
  expect(world.writes().filter(({ response }) => response.status >= 300)).toEqual([]);
  expect(rows(world).filter(({ naturalKey }) => naturalKey.startsWith('port/'))).toEqual([]);
});

test('restoring touches only what the manifest asserted, and not without on-removal: restore', async () => {
  const world = worldWith([former]);
  await world.pass(work(web([{ port: 8080, alias: 'NEW' }], restoring)));
  const row = portOf(world, 8080);
  if (row !== undefined) world.state.ports.put({ ...row, protocol: 'grpc' });
  await world.settle(work(), pruning);
  expect(portOf(world, 8080)).toMatchObject({ protocol: 'grpc', alias: 'THERE' });
  const other = worldWith([former]);
  await other.pass(work(web([{ port: 8080, alias: 'NEW' }])));
  await other.settle(work(), pruning);
  expect(portOf(other, 8080)).toMatchObject({ alias: 'NEW' });
});

test('aliases that were swapped are swapped back, and the service name comes back', async () => {
  const world = worldWith([
    { port: 8080, alias: 'A', inner: true },
    { port: 8081, alias: 'B', inner: true },
  ]);
  const before = portOf(world, 8080)?.serviceName;
  const swapped = [
    { port: 8080, alias: 'B' },
    { port: 8081, alias: 'A' },
  ];
  await world.settle(work(web(swapped, restoring, { serviceName: 'front' })));
  expect(portOf(world, 8080)).toMatchObject({ alias: 'B', serviceName: 'front' });
  await world.settle(work(), pruning);
  expect(portOf(world, 8080)).toMatchObject({ alias: 'A', serviceName: before });
  expect(portOf(world, 8081)).toMatchObject({ alias: 'B', serviceName: before });
  expect(rows(world)).toEqual([]);
});

test('restoring does not close a port while a rule of somebody else is on it', async () => {
  const world = worldWith([former], []);
  await world.pass(work(web([{ port: 8080, outer: true }], restoring)));
  addRule(world, true);
  const outcome = await world.pass(work(), pruning);
  expect(codes(outcome)).toContain('prune/rule-on-port');
  expect(portOf(world, 8080)).toMatchObject({ outer: true });
});
