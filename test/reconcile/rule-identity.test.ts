import { expect, test } from 'vitest';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { PassOptions } from '../../src/reconcile/reconcile.ts';
import type { Seed, SeedRule } from '../../src/sandbox/seed.ts';
import type { RuleRow } from '../../src/sandbox/state.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS } from '../support/small-shop.ts';

const WEB = 'a'.repeat(32);
const API = 'b'.repeat(32);
const open = (port: number) => ({ port, inner: true, outer: true });

const pruning: PassOptions = { ...allowEverything, permissions: { ...allowEverything.permissions, prune: true } };
const adopting: PassOptions = {
  ...allowEverything,
  permissions: { ...allowEverything.permissions, adopt: () => true },
};

function world(dialect: Dialect = 'extended', rules: readonly SeedRule[] = []): ScopeWorld {
  const seed: Seed = {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '1'.repeat(32), name: ADDRESS.region }],
    teams: [{ id: 'd'.repeat(32), name: ADDRESS.team }],
    certificates: [7, 8].map((id) => ({ id, team: ADDRESS.team, alias: `c${id}` })),
    applications: [
      {
        id: ADDRESS.appId,
        team: ADDRESS.team,
        region: ADDRESS.region,
        name: 'shop',
        components: [
          { id: WEB, name: 'web', ports: [open(8080), open(9090)] },
          { id: API, name: 'api', ports: [open(8080)] },
        ],
        rules: [WEB, API]
          .map((component) => ({ component, port: 8080, domain: `side-${component[0]}.example.com` }))
          .concat(rules as never),
      },
    ],
  };
  return new ScopeWorld(seed, dialect);
}

const components = [
  manifest('Component', 'web', {
    application: 'shop',
    serviceId: WEB,
    ports: [open(8080), open(9090)],
    unlistedPorts: 'keep',
  }),
  manifest('Component', 'api', { application: 'shop', serviceId: API, ports: [open(8080)], unlistedPorts: 'keep' }),
];

/** Manifests by name; each is a rule of `web` on 8080 for `/` unless it says otherwise. */
function rules(specs: Readonly<Record<string, object>>) {
  return workOf(ADDRESS, [
    ...components,
    ...Object.entries(specs).map(([name, spec]) =>
      manifest('HttpGatewayRule', name, { application: 'shop', component: 'web', port: 8080, path: '/', ...spec }),
    ),
  ]);
}

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const holdsOf = (outcome: Outcome | 'died') => ended(outcome).plan.holds.map((hold) => hold.code);
const notesOf = (outcome: Outcome | 'died') => ended(outcome).plan.notes.map((note) => note.code);
const plan = async (platform: ScopeWorld, work: ReturnType<typeof rules>, options = allowEverything) =>
  ended(await platform.pass(work, { ...options, readOnly: true })).plan;

/** What the platform has, without what the seed made. */
const made = ({ state }: ScopeWorld) =>
  [...state.rules.all()].filter(({ domain, type }) => type === 1 && !domain.startsWith('side-'));
const shown = (row: RuleRow) =>
  `${row.serviceId[0]}:${row.port} ${row.protocol}://${row.domain}${row.path} ${row.weight}`;
const rowsOf = ({ store }: ScopeWorld) =>
  [...store.objects.values()]
    .filter(({ kind }) => kind === 'HttpGatewayRule')
    .map(({ resource, naturalKey, remoteId }) => ({ resource, naturalKey, remoteId }));

async function created(work: ReturnType<typeof rules>, dialect: Dialect = 'extended'): Promise<[ScopeWorld, RuleRow]> {
  const platform = world(dialect);
  ended(await platform.pass(work));
  const [row] = made(platform);
  if (row === undefined) throw new Error('no rule');
  return [platform, row];
}

const edit = (platform: ScopeWorld, row: RuleRow, change: Partial<RuleRow>) =>
  platform.state.rules.put({ ...(platform.state.rules.get(row.id) ?? row), ...change });

const two = rules({ two: { domain: 'two.example.com' } });

test.for<[what: string, edit: Partial<RuleRow>, before: unknown]>([
  ['domain', { domain: 'evil.example.com' }, 'evil.example.com'],
  ['path', { path: '/evil' }, '/evil'],
  ['port', { port: 9090 }, 9090],
  ['component', { serviceId: API }, 'api'],
  ['certificateId', { certificateId: 7, protocol: 'https' }, 7],
])('a %s edited in place is drift of that rule, shown and healed by an update', async ([path, change, before]) => {
  const [platform, row] = await created(two);
  edit(platform, row, change);
  const found = await plan(platform, two);
  expect(found.actions.map(({ verb, step }) => [verb, step['ruleId']])).toEqual([['update', row.id]]);
  expect(found.actions[0]?.changes).toMatchObject([{ path, before, cause: 'drift' }]);
  ended(await platform.pass(two));
  expect(platform.state.rules.get(row.id), 'the same rule, as it was').toEqual(row);
  expect(made(platform)).toHaveLength(1);
  expect((await plan(platform, two)).actions).toEqual([]);
});

test.for<[what: string, spec: object, after: Partial<RuleRow>]>([
  ['domain', { domain: 'three.example.com' }, { domain: 'three.example.com' }],
  ['path', { path: '/three' }, { path: '/three', senior: true }],
  ['certificate', { certificateId: 7 }, { certificateId: 7, protocol: 'https' }],
  ['port', { port: 9090 }, { port: 9090 }],
  ['component', { component: 'api' }, { serviceId: API }],
])('a changed %s in the manifest is an update of that rule, and the row goes with it', async ([, spec, after]) => {
  const [platform, row] = await created(two);
  const next = rules({ two: { domain: 'two.example.com', ...spec } });
  const found = await plan(platform, next, pruning);
  expect(found.actions.map(({ verb }) => verb)).toEqual(['update']);
  expect(found.actions[0]).toMatchObject({ cause: 'git' });
  ended(await platform.pass(next, pruning));
  expect(made(platform)).toMatchObject([{ ...row, ...after }]);
  expect(rowsOf(platform)).toMatchObject([{ remoteId: row.id }]);
  const writes = platform.writes().length;
  expect(holdsOf(await platform.pass(next, pruning))).toEqual([]);
  expect(platform.writes()).toHaveLength(writes);
});

test('a certificate taken out of the manifest makes the same rule http again', async () => {
  const [platform, row] = await created(rules({ two: { domain: 'two.example.com', certificateId: 7 } }));
  ended(await platform.pass(two));
  expect(made(platform)).toEqual([{ ...row, certificateId: 0, protocol: 'http' }]);
  expect(rowsOf(platform)).toMatchObject([{ naturalKey: `rule/${WEB}/8080/http://two.example.com/` }]);
});

test('an edited domain that git wants by now is only recorded', async () => {
  const [platform, row] = await created(two);
  edit(platform, row, { domain: 'three.example.com' });
  const next = rules({ two: { domain: 'three.example.com' } });
  expect((await plan(platform, next)).actions).toEqual([]);
  ended(await platform.pass(next));
  expect(rowsOf(platform)).toEqual([
    { resource: 'HttpGatewayRule/two', naturalKey: `rule/${WEB}/8080/http://three.example.com/`, remoteId: row.id },
  ]);
});

test('a removed rule that was edited is not deleted: the plan shows what it is now', async () => {
  const [platform, row] = await created(two);
  edit(platform, row, { domain: 'evil.example.com' });
  const none = rules({});
  expect(notesOf(await platform.pass(none))).toContain('rule/changed');
  const outcome = ended(await platform.pass(none, pruning));
  expect(outcome.plan.holds).toMatchObject([{ code: 'rule/changed', resource: 'HttpGatewayRule/two' }]);
  expect(outcome.plan.holds[0]?.message).toContain('evil.example.com/');
  expect(made(platform).map(({ domain }) => domain)).toEqual(['evil.example.com']);
  edit(platform, row, { domain: 'two.example.com' });
  ended(await platform.pass(none, pruning));
  expect(made(platform), 'as it was made, it is deleted').toEqual([]);
});

test.for<Dialect>(['extended', 'documented'])(
  'one route to several components, as http and https (%s)',
  async (dialect) => {
    const route = rules({
      'http-web': { domain: 'g.example.com', weight: 70 },
      'http-api': { domain: 'g.example.com', weight: 30, component: 'api' },
      'https-web': { domain: 'G.example.com', certificateId: 7 },
    });
    const platform = world(dialect);
    const outcome = ended(await platform.pass(route));
    expect(outcome.plan.holds).toEqual([]);
    expect(notesOf(outcome)).not.toContain('rule/weights');
    expect(made(platform).map(shown).sort()).toEqual([
      'a:8080 http://g.example.com/ 70',
      'a:8080 https://G.example.com/ 100',
      'b:8080 http://g.example.com/ 30',
    ]);
    expect((await plan(platform, route)).actions).toEqual([]);
    const writes = platform.writes().length;
    ended(await platform.pass(route));
    expect(platform.writes()).toHaveLength(writes);
  },
);

test('rules of one route are adopted each for itself', async () => {
  const on = (component: string, more: object) => ({
    component,
    port: 8080,
    domain: 'g.example.com',
    path: '/',
    ...more,
  });
  const platform = world('extended', [on(WEB, { weight: 70 }), on(API, { weight: 30 }), on(WEB, { certificateId: 7 })]);
  const route = rules({
    'http-web': { domain: 'g.example.com', weight: 70 },
    'http-api': { domain: 'g.example.com', weight: 30, component: 'api' },
    'https-web': { domain: 'g.example.com', certificateId: 7 },
  });
  const outcome = await platform.pass(route, adopting);
  expect(holdsOf(outcome)).toEqual([]);
  expect(platform.writes()).toEqual([]);
  expect(new Set(rowsOf(platform).map(({ remoteId }) => remoteId)).size).toBe(3);
});

test('weights of a route that do not add up to 100 are a warning', async () => {
  const platform = world();
  const route = rules({
    a: { domain: 'g.example.com', weight: 70 },
    b: { domain: 'g.example.com', weight: 40, component: 'api' },
    conditional: { domain: 'g.example.com', cookie: 'beta=1', port: 9090 },
  });
  const { plan: found } = ended(await platform.pass(route));
  expect(found.notes.filter(({ code }) => code === 'rule/weights')).toMatchObject([
    { resource: 'HttpGatewayRule/a', message: expect.stringContaining('add up to 110') },
  ]);
  expect(made(platform)).toHaveLength(3);
});

const pair = (one: string, other: string) =>
  rules({ one: { domain: `${one}.example.com` }, other: { domain: `${other}.example.com` } });

test('two manifests that exchange their domains exchange their rules, and nothing is sent', async () => {
  const [platform] = await created(pair('one', 'other'));
  const before = rowsOf(platform);
  const writes = platform.writes().length;
  expect(holdsOf(await platform.pass(pair('other', 'one'), pruning))).toEqual([]);
  expect(platform.writes()).toHaveLength(writes);
  expect(
    rowsOf(platform)
      .map(({ remoteId }) => remoteId)
      .sort(),
  ).toEqual(before.map(({ remoteId }) => remoteId).sort());
  expect(rowsOf(platform).find(({ resource }) => resource === 'HttpGatewayRule/one')?.naturalKey).toContain('other');
});

test('a rule takes the domain that another one leaves, after it has left', async () => {
  const [platform] = await created(pair('one', 'other'));
  const ids = made(platform).map(({ id, domain }) => [domain, id]);
  ended(await platform.pass(pair('other', 'third'), pruning));
  ended(await platform.pass(pair('other', 'third'), pruning));
  expect(
    made(platform)
      .map(({ domain }) => domain)
      .sort(),
  ).toEqual(['other.example.com', 'third.example.com']);
  expect(ids).toHaveLength(2);
});

test('two rules that got the domain of each other are held: an update would make two of one', async () => {
  const [platform] = await created(pair('one', 'other'));
  for (const row of made(platform))
    edit(platform, row, { domain: row.domain.startsWith('one') ? 'other.example.com' : 'one.example.com' });
  const writes = platform.writes().length;
  expect(holdsOf(await platform.pass(pair('one', 'other')))).toEqual(['rule/key-taken', 'rule/key-taken']);
  expect(platform.writes()).toHaveLength(writes);
});

test('a domain that a rule of nobody has by now is not given to a second rule', async () => {
  const [platform, row] = await created(two);
  edit(platform, row, { domain: 'evil.example.com' });
  platform.state.rules.put({ ...row, id: 'f'.repeat(32), row: row.row + 1 });
  const outcome = ended(await platform.pass(two));
  expect(outcome.plan.holds).toMatchObject([
    { code: 'rule/key-taken', message: expect.stringContaining('not on record in this ledger') },
  ]);
  expect(made(platform)).toHaveLength(2);
});

test('a rule that was edited to the wanted domain is no sign that a lost request made it', async () => {
  const [platform, row] = await created(two);
  platform.answer = ({ operation }) =>
    operation === 'createRule' ? { status: 502, contentType: 'text/html', retryAfter: null, body: '' } : undefined;
  const next = rules({ two: { domain: 'two.example.com' }, new: { domain: 'new.example.com' } });
  await platform.pass(next);
  platform.answer = () => undefined;
  const side = [...platform.state.rules.all()].find(({ domain }) => domain.startsWith('side-a'));
  if (side === undefined) throw new Error('no rule of a stranger');
  edit(platform, side, { domain: 'new.example.com' });
  platform.clock.advance(20 * 60_000);
  const outcome = ended(await platform.pass(next));
  expect(holdsOf(outcome)).toEqual(['rule/not-ours']);
  expect(rowsOf(platform).filter(({ remoteId }) => remoteId !== null)).toMatchObject([{ remoteId: row.id }]);
});

test('a rule whose address was edited before its lost request was settled is not created a second time', async () => {
  const platform = world();
  ended(await platform.pass(rules({})));
  platform.crash = { atWrite: 1, when: 'after' };
  expect(await platform.pass(two)).toBe('died');
  platform.crash = undefined;
  const [row] = made(platform);
  if (row === undefined) throw new Error('no rule was created');
  edit(platform, row, { domain: 'moved.example.com' });
  await platform.pass(two);
  platform.clock.advance(20 * 60_000);
  const outcome = ended(await platform.pass(two));
  expect(outcome.plan.holds).toMatchObject([
    { code: 'intent/in-doubt', message: expect.stringContaining(`${row.id} (moved.example.com/)`) },
  ]);
  expect(made(platform).map(({ id }) => id)).toEqual([row.id]);
  // A stranger's rule of another port says nothing about the request.
  platform.state.rules.delete(row.id);
  platform.state.rules.put({ ...row, id: 'f'.repeat(32), port: 9090 });
  await platform.settle(two);
  expect(rowsOf(platform)).toMatchObject([{ naturalKey: expect.stringContaining('two.example.com') }]);
  expect(made(platform).map(({ domain, port }) => `${domain} ${port}`)).toContain('two.example.com 8080');
});

test('a manifest with another name keeps its rule', async () => {
  const [platform, row] = await created(two);
  const renamed = rules({ other: { domain: 'two.example.com', certificateId: 7 } });
  ended(await platform.pass(renamed, pruning));
  expect(made(platform)).toEqual([{ ...row, certificateId: 7, protocol: 'https' }]);
});

test('a lost answer to a change of the domain is settled by looking at the rule', async () => {
  const next = rules({ two: { domain: 'three.example.com' } });
  for (const when of ['before', 'after'] as const) {
    const [platform, row] = await created(two);
    platform.crash = { atWrite: 1, when };
    expect(await platform.pass(next)).toBe('died');
    await platform.settle(next, pruning);
    expect(made(platform)).toEqual([{ ...row, domain: 'three.example.com' }]);
    expect(rowsOf(platform)).toMatchObject([{ remoteId: row.id, naturalKey: expect.stringContaining('three') }]);
  }
});

test('a server that lists no rules: another domain is another rule, and another protocol is held', async () => {
  const [platform] = await created(two, 'documented');
  expect(holdsOf(await platform.pass(rules({ two: { domain: 'two.example.com', certificateId: 7 } })))).toEqual([
    'rule/cannot-update',
  ]);
  const outcome = await platform.pass(rules({ two: { domain: 'three.example.com' } }), pruning);
  expect(notesOf(outcome)).toContain('prune/impossible');
  expect(made(platform).map(({ domain }) => domain)).toEqual(['two.example.com', 'three.example.com']);
});
