import { expect, test } from 'vitest';
import type { PortProtocol } from '../../src/kinds/component/wire.ts';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { PassOptions } from '../../src/reconcile/reconcile.ts';
import type { SeedPort, SeedRule } from '../../src/sandbox/seed.ts';
import type { PortRow } from '../../src/sandbox/state.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

// A rule answers only if the listing shows it as active and outer access of its port is open. Opening a port activates
// its http rules only while its protocol is http; a creation makes an active rule on any port that is open.

const adopting: PassOptions = {
  ...allowEverything,
  permissions: { ...allowEverything.permissions, adopt: () => true },
};

type Wanted = Readonly<Record<string, unknown>>;

function wanting(
  port: Wanted,
  ruleSpecs: Readonly<Record<string, object>> = { www: {} },
  others: readonly Wanted[] = [],
) {
  return workOf(ADDRESS, [
    manifest('Component', 'web', {
      application: 'shop',
      serviceId: SERVICE,
      ports: [{ port: 80, ...port }, ...others],
      unlistedPorts: 'keep',
    }),
    ...Object.entries(ruleSpecs).map(([name, spec]) =>
      manifest('HttpGatewayRule', name, {
        application: 'shop',
        component: 'web',
        port: 80,
        domain: `${name}.example.com`,
        path: '/',
        ...spec,
      }),
    ),
  ]);
}

type WorkOf = ReturnType<typeof wanting>;

function seeded(
  ports: readonly SeedPort[],
  rules: readonly SeedRule[] = [],
  dialect: Dialect = 'extended',
): ScopeWorld {
  return new ScopeWorld(smallShop({ ports }, rules), dialect);
}

const portOf = (protocol: PortProtocol, outer = true): SeedPort => ({ port: 80, protocol, inner: true, outer });

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const plan = async (world: ScopeWorld, work: WorkOf, options = allowEverything) =>
  ended(await world.pass(work, { ...options, readOnly: true })).plan;
const codes = (of: Awaited<ReturnType<typeof plan>>) => of.holds.map(({ resource, code }) => `${resource} ${code}`);
const effects = (of: Awaited<ReturnType<typeof plan>>) => of.actions.flatMap((action) => action.effects);
const steps = (of: Awaited<ReturnType<typeof plan>>) => of.actions.map(({ step }) => step.type);

/** As a person does it in the console: the port changes, and its rules stay as they are. */
function setPort(world: ScopeWorld, change: Partial<PortRow>, port = 80): void {
  const row = [...world.state.ports.all()].find((candidate) => candidate.port === port);
  if (row === undefined) throw new Error('no port');
  world.state.ports.put({ ...row, ...change });
}

function setRules(world: ScopeWorld, outer: boolean): void {
  for (const rule of world.state.rules.all()) world.state.rules.put({ ...rule, outer });
}

const activity = ({ state }: ScopeWorld) =>
  Object.fromEntries([...state.rules.all()].map(({ domain, outer }) => [domain, outer]));

async function published(port: Wanted = { outer: true, inner: true }): Promise<ScopeWorld> {
  const world = seeded([portOf('http', false)]);
  ended(await world.pass(wanting({ protocol: 'http', ...port })));
  expect(activity(world)).toEqual({ 'www.example.com': true });
  return world;
}

test('a protocol change away from http is held while a rule in the manifests leads to the port', async () => {
  const world = await published();
  const work = wanting({ protocol: 'tcp', outer: true, inner: true });
  const before = world.writes().length;
  const held = await plan(world, work);
  expect(codes(held)).toEqual(['Component/web component/protocol-in-use']);
  expect(held.holds[0]?.message).toContain('www.example.com/ (HttpGatewayRule/www)');
  expect(steps(held)).toEqual([]);
  ended(await world.pass(work));
  expect(world.writes()).toHaveLength(before);
  expect(activity(world)).toEqual({ 'www.example.com': true });
});

test('without a listing, a rule on record holds the protocol change too', async () => {
  const world = seeded([portOf('http', true)], [], 'documented');
  ended(await world.pass(wanting({ protocol: 'http', outer: true })));
  const held = await plan(world, wanting({ protocol: 'tcp', outer: true }));
  expect(codes(held)).toEqual(['Component/web component/protocol-in-use']);
});

test('the protocol changes once the rule has gone from the manifests, and the plan says what stays inactive', async () => {
  const world = await published();
  const work = wanting({ protocol: 'tcp', outer: true, inner: true }, {});
  const found = await plan(world, work);
  expect(steps(found)).toEqual(['close_outer', 'change_protocol', 'open_outer']);
  expect(effects(found)).toEqual([
    'disables 1 rule: www.example.com/',
    'leaves 1 rule inactive, because opening a tcp port enables none: www.example.com/',
  ]);
  ended(await world.pass(work));
  expect(activity(world)).toEqual({ 'www.example.com': false });
});

test.for<PortProtocol>(['tcp', 'mysql', 'grpc', 'udp'])(
  'an inactive rule on a %s port is held, whatever else is in sync',
  async (protocol) => {
    const world = await published({ outer: true, inner: true });
    setPort(world, { protocol });
    setRules(world, false);
    const found = await plan(world, wanting({ protocol, outer: true, inner: true }));
    expect(codes(found)).toEqual(['HttpGatewayRule/www rule/inactive']);
    expect(found.holds[0]?.message).toContain(`protocol of the port is ${protocol}`);
    expect(found.inSync).not.toContain('HttpGatewayRule/www');
    expect(steps(found)).toEqual([]);
  },
);

test('an active rule on a tcp port is in sync: a creation there makes one', async () => {
  const world = seeded([portOf('tcp')]);
  const work = wanting({ protocol: 'tcp', outer: true, inner: true });
  ended(await world.pass(work));
  expect(activity(world)).toEqual({ 'www.example.com': true });
  const found = await plan(world, work);
  expect([codes(found), steps(found)]).toEqual([[], []]);
  const closing = await plan(world, wanting({ protocol: 'mysql', outer: true, inner: true }));
  expect([codes(closing), steps(closing)]).toEqual([[], ['close_outer', 'change_protocol', 'open_outer']]);
  expect(effects(closing)).toEqual([
    'leaves 1 rule active, because closing a tcp port disables none: www.example.com/',
  ]);
});

test('tcp to http activates the rules again, and the plan says so', async () => {
  const world = await published();
  setPort(world, { protocol: 'tcp' });
  setRules(world, false);
  const work = wanting({ protocol: 'http', outer: true, inner: true });
  const found = await plan(world, work);
  expect(codes(found)).toEqual([]);
  expect(effects(found)).toEqual(['enables 1 rule: www.example.com/']);
  ended(await world.settle(work));
  expect(activity(world)).toEqual({ 'www.example.com': true });
});

test('a port that was made http while it was open is opened again, if its manifest manages that', async () => {
  const world = await published();
  setRules(world, false);
  const work = wanting({ protocol: 'http', outer: true, inner: true });
  const found = await plan(world, work);
  expect(codes(found)).toEqual([]);
  expect(found.actions.map(({ step, cause, changes }) => [step.type, cause, changes.map(({ path }) => path)])).toEqual([
    ['open_outer', 'drift', ['ports[80].rules']],
  ]);
  expect(effects(found)).toEqual(['enables 1 rule: www.example.com/']);
  ended(await world.settle(work));
  expect(activity(world)).toEqual({ 'www.example.com': true });
  const after = await plan(world, work);
  expect([codes(after), steps(after)]).toEqual([[], []]);
});

test('a platform that does not follow is asked a few times at most, and that is reported', async () => {
  const world = await published();
  setRules(world, false);
  const work = wanting({ protocol: 'http', outer: true, inner: true });
  world.alter = (request, response) => {
    if (!request.isRead) setRules(world, false);
    return response;
  };
  ended(await world.settle(work));
  const sent = world.writes().length;
  const found = await plan(world, work);
  expect(codes(found)).toContain('Component/web effect/not-taken');
  expect(found.inSync).not.toContain('HttpGatewayRule/www');
  ended(await world.pass(work));
  expect(world.writes()).toHaveLength(sent);
});

test('an activation whose process died before it was sent is sent by the next one', async () => {
  const world = await published();
  setRules(world, false);
  const work = wanting({ protocol: 'http', outer: true, inner: true });
  world.crash = { atWrite: 1, when: 'before' };
  expect(await world.pass(work)).toBe('died');
  expect(activity(world)).toEqual({ 'www.example.com': false });
  ended(await world.settle(work));
  expect(activity(world)).toEqual({ 'www.example.com': true });
});

test('a TCP endpoint that the console left behind is reported after the rules are active again', async () => {
  const world = await published();
  setPort(world, { protocol: 'tcp' });
  const work = wanting({ protocol: 'http', outer: true, inner: true });
  world.state.tcpRules.put({
    id: 't1',
    row: 1,
    serviceId: SERVICE,
    port: 80,
    nodePort: 30_001,
    protocol: 'tcp',
    outer: true,
  });
  setPort(world, { protocol: 'http' });
  setRules(world, false);
  ended(await world.pass(work));
  expect(activity(world)).toEqual({ 'www.example.com': true });
  const found = await plan(world, work);
  expect(codes(found)).toEqual(['Component/web component/endpoint-broken']);
  expect(found.holds[0]?.message).toContain('the TCP endpoint');
});

test('where no manifest manages outer access, an inactive rule is held and the port is left alone', async () => {
  const world = await published();
  setRules(world, false);
  const work = wanting({ protocol: 'http' });
  const found = await plan(world, work);
  expect(codes(found)).toEqual(['HttpGatewayRule/www rule/inactive']);
  expect(found.holds[0]?.remedy).toContain('outer: true');
  expect(steps(found)).toEqual([]);
});

test('a rule on a closed port that no manifest opens is said to answer no request, and is not inactive', async () => {
  const world = await published({ outer: true, inner: true });
  setPort(world, { outer: false });
  setRules(world, false);
  const found = await plan(world, wanting({ protocol: 'http' }));
  expect(codes(found)).toEqual([]);
  expect(found.notes.map(({ code }) => code)).toEqual(['rule/closed']);
  const opened = await plan(world, wanting({ protocol: 'http', outer: true }));
  expect([codes(opened), steps(opened), effects(opened)]).toEqual([
    [],
    ['open_outer'],
    ['enables 1 rule: www.example.com/'],
  ]);
  expect(opened.notes).toEqual([]);
});

test('a rule that moves to another port while it is inactive is activated there', async () => {
  const http = { port: 81, protocol: 'http', inner: true, outer: true };
  const world = seeded([portOf('http'), { port: 81, protocol: 'http', inner: true, outer: true }]);
  ended(
    await world.pass(wanting({ protocol: 'http', outer: true, inner: true }, { www: {}, side: { port: 81 } }, [http])),
  );
  const work = wanting({ protocol: 'tcp', outer: true, inner: true }, { www: { port: 81 }, side: { port: 81 } }, [
    http,
  ]);
  ended(await world.pass(work));
  const found = await plan(world, work);
  expect([...codes(found), ...steps(found)]).not.toEqual([]);
  ended(await world.settle(work));
  expect(activity(world)).toMatchObject({ 'www.example.com': true, 'side.example.com': true });
});

test('openOuter on a port that is not http leaves its opening to the component, which makes its endpoint', async () => {
  const world = seeded([portOf('tcp', false)]);
  const work = wanting({ protocol: 'tcp', outer: true, inner: true }, { www: { openOuter: true } });
  ended(await world.settle(work));
  expect([...world.state.tcpRules.all()].map(({ port, outer }) => [port, outer])).toEqual([[80, true]]);
  expect(activity(world)).toEqual({ 'www.example.com': true });
});

test('openOuter on a port that is not http, and that no component opens, says that there is no endpoint', async () => {
  const world = seeded([portOf('tcp', false)]);
  const found = await plan(world, wanting({ protocol: 'tcp' }, { www: { openOuter: true } }));
  expect(effects(found)).toEqual(['opens outer access of port 80; no TCP endpoint appears']);
});

test('a rule that opens its port says which other rules it enables', async () => {
  const world = seeded([portOf('tcp')], [{ component: SERVICE, port: 80, domain: 'side.example.com' }]);
  setRules(world, false);
  const work = wanting({ protocol: 'tcp' }, { www: { openOuter: true } });
  expect(effects(await plan(world, work))).toEqual(['enables 1 rule: side.example.com/']);
  ended(await world.pass(work));
  expect(activity(world)).toEqual({ 'side.example.com': true, 'www.example.com': true });
});

test('a rule that is adopted while it is inactive is not in sync', async () => {
  const world = seeded([portOf('tcp')], [{ component: SERVICE, port: 80, domain: 'www.example.com' }]);
  setRules(world, false);
  const found = await plan(world, wanting({ protocol: 'tcp', outer: true }), adopting);
  expect(codes(found)).toEqual(['HttpGatewayRule/www rule/inactive']);
});

test('a rule that is only reported keeps its port as it is', async () => {
  const world = await published();
  setRules(world, false);
  const work = wanting({ protocol: 'http', outer: true, inner: true });
  const reported = new Map(
    [...work.resources].map(([id, resource]) => [
      id,
      resource.kind === 'HttpGatewayRule' ? { ...resource, annotations: { 'portolan/reconcile': 'report' } } : resource,
    ]),
  );
  const found = await plan(world, { ...work, resources: reported });
  expect(steps(found)).toEqual([]);
  expect(found.notes.map(({ code, resource }) => `${resource} ${code}`)).toEqual([
    'HttpGatewayRule/www reconcile/report-only',
  ]);
  expect(found.inSync).toEqual(['Component/web']);
});

test('a rule that moves to a new port in one plan: the opening took, and what is left is in the plan that follows', async () => {
  const world = await published();
  const http = { port: 81, protocol: 'http', inner: true, outer: true };
  const work = wanting({ protocol: 'tcp', outer: true, inner: true }, { www: { port: 81 } }, [http]);
  const outcome = ended(await world.pass(work));
  expect(outcome.results.filter(({ status }) => status !== 'done')).toEqual([]);
  expect(outcome.plan.actions.map(({ id }) => id)).toEqual(['Component/web#ports/81/activate_rules']);
  ended(await world.settle(work));
  expect(activity(world)).toMatchObject({ 'www.example.com': true });
});
