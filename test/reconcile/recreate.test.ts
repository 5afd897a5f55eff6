import { expect, test } from 'vitest';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { PassOptions, Work } from '../../src/reconcile/reconcile.ts';
import { guardToll, shareLimits, NOTHING_SPENT, tollOf } from '../../src/plan/guard.ts';
import { planDocument } from '../../src/plan/document.ts';
import { renderHtml } from '../../src/report/html.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import { renderPlanText } from '../../src/report/text.ts';
import type { SeedRule } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

const WWW = { component: SERVICE, port: 8080, domain: 'www.example.com', path: '/' };
const OLD = { configuration: { proxyBodySize: 10 } };
const NEW = { configuration: { proxyBodySize: 99 } };

const allow = (permissions: Partial<PassOptions['permissions']>): PassOptions => ({
  ...allowEverything,
  permissions: { ...allowEverything.permissions, ...permissions },
});
const looking: PassOptions = { ...allowEverything, readOnly: true };

function world(rules: readonly SeedRule[] = [], dialect: Dialect = 'extended'): ScopeWorld {
  const ports = [{ port: 8080, inner: true, outer: true }];
  return new ScopeWorld(
    { ...smallShop({ ports }, rules), certificates: [{ id: 7, team: ADDRESS.team, alias: 'c' }] },
    dialect,
  );
}

const component = manifest('Component', 'web', {
  application: 'shop',
  serviceId: SERVICE,
  ports: [{ port: 8080, inner: true }],
  unlistedPorts: 'keep',
});

const rule = (name: string, spec: object, annotations: Readonly<Record<string, string>> = {}) =>
  manifest(
    'HttpGatewayRule',
    name,
    { application: 'shop', component: 'web', port: 8080, domain: WWW.domain, path: '/', ...spec },
    annotations,
  );
const recreating = (spec: object, annotations: Readonly<Record<string, string>> = {}): Work =>
  workOf(ADDRESS, [component, rule('www', { ...spec, onImmutableChange: 'recreate' }, annotations)]);
const withoutRule = workOf(ADDRESS, [component]);

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const holdsOf = (outcome: Outcome | 'died') => ended(outcome).plan.holds.map((hold) => hold.code);
const rulesOf = ({ state }: ScopeWorld) => [...state.rules.all()].filter((row) => row.domain === WWW.domain);
const rowsOf = ({ store }: ScopeWorld) =>
  [...store.objects.values()].filter((object) => object.kind === 'HttpGatewayRule');
const sizeOf = (platform: ScopeWorld) =>
  rulesOf(platform).map(({ configuration }) => (configuration as Record<string, unknown> | null)?.['proxy_body_size']);

/** A rule of ours with the old configuration and with fields that the manifest does not manage. */
async function made(dialect: Dialect = 'extended'): Promise<ScopeWorld> {
  const platform = world([], dialect);
  await platform.pass(
    recreating({ ...OLD, weight: 40, cookie: 'a=b', header: 'x=y', extensions: [{ key: 'retries', value: '3' }] }),
  );
  expect(sizeOf(platform)).toEqual([10]);
  return platform;
}

test('a rule is deleted and created again, whole, as one change that is no removal', async () => {
  const platform = await made();
  const [before] = rulesOf(platform);
  const planned = ended(await platform.pass(recreating(NEW), looking)).plan;
  expect(planned.actions.map(({ step, prune, continues }) => [step.type, prune, continues])).toEqual([
    ['recreate', false, undefined],
    ['create', false, 'HttpGatewayRule/www#recreate'],
  ]);
  expect(planned.actions[0]?.effects.join()).toContain('requests to www.example.com/ fail in between');
  const document = planDocument({
    source: 'default',
    revision: null,
    ledger: 'known',
    scopes: [planned],
    unobserved: [],
    refusals: [],
    notes: [],
  });
  expect(document.summary).toMatchObject({ create: 0, update: 1, delete: 0 });
  expect(renderPlanText(document)).toContain('Plan: 0 to create, 1 to change, 0 to delete');
  expect(renderHtml({ plan: document, applied: undefined }, '1')).toContain('1 change,');
  const [, row] =
    /\| Application\/shop \|([^\n]*)\|/.exec(renderMarkdown({ plan: document, applied: undefined })) ?? [];
  if (row !== undefined) expect(row.split('|').map((cell) => cell.trim())).toEqual(['·', '1', '·', '·', '·', '1']);
  const allowance = { of: 'this run', owned: platform.store.objects.size, spent: NOTHING_SPENT };
  expect(guardToll(tollOf([planned]), allowance, { ...shareLimits(1), maxPrunes: 0, allowedScopes: [] })).toEqual([]);

  const outcome = ended(await platform.pass(recreating(NEW)));
  expect(outcome.results.map(({ status }) => status)).toEqual(['done', 'done']);
  const [after] = rulesOf(platform);
  expect(after).toEqual({
    ...before,
    id: after?.id,
    row: after?.row,
    configuration: expect.objectContaining({ proxy_body_size: 99 }),
  });
  expect(after?.id).not.toBe(before?.id);
  expect(rowsOf(platform)).toMatchObject([{ remoteId: after?.id, origin: 'created', obligation: null }]);
  const again = ended(await platform.pass(recreating(NEW)));
  expect([again.plan.actions, again.plan.holds]).toEqual([[], []]);
});

test('without onImmutableChange, and on the documented dialect, the change is held', async () => {
  const platform = await made();
  const held = workOf(ADDRESS, [component, rule('www', NEW)]);
  expect(holdsOf(await platform.pass(held))).toEqual(['rule/immutable']);
  const documented = await made('documented');
  const writes = documented.writes().length;
  expect(holdsOf(await documented.pass(recreating(NEW)))).toEqual(['rule/cannot-update']);
  expect(documented.writes()).toHaveLength(writes);
});

test('a header and a cookie that goes are recreated as well', async () => {
  const platform = await made();
  await platform.pass(recreating({ header: 'x=z', cookie: '' }));
  expect(rulesOf(platform)).toMatchObject([
    { header: 'x=z', cookie: '', weight: 40, configuration: { proxy_body_size: 10 } },
  ]);
});

test('a change of protocol goes first, by an update: a rule never stands beside the one that it replaces', async () => {
  const platform = await made();
  const outcome = ended(await platform.pass(recreating({ ...NEW, certificateId: 7 })));
  expect(outcome.results.map(({ action }) => action.step.type)).toEqual(['update', 'recreate', 'create']);
  expect(rulesOf(platform)).toMatchObject([{ protocol: 'https', configuration: { proxy_body_size: 99 } }]);
});

test.for([
  ['a rule redirects to https', {}, { extensions: [{ key: 'httptohttps', value: 'true' }] }],
  [
    'the rule redirects to https and an http rule is there',
    { extensions: [{ key: 'httptohttps', value: 'true' }] },
    { protocol: 'http' },
  ],
  ['another team has the domain', {}, { path: '/other', teamId: 'e'.repeat(32) }],
] as const)('nothing is deleted while it would block the creation that %s', async ([, wish, other]) => {
  const platform = await made();
  const [row] = rulesOf(platform);
  if (row === undefined) throw new Error('the rule is there');
  const team = [...platform.state.teams.all()][0];
  if (team !== undefined) platform.state.teams.put({ ...team, id: 'e'.repeat(32), name: 'team-b' });
  const elsewhere = { ...row, id: 'f'.repeat(32), row: row.row + 1, port: 9090, extensions: [] };
  platform.state.rules.put({ ...elsewhere, domain: 'WWW.example.com', ...other });
  expect(holdsOf(await platform.pass(recreating({ ...NEW, ...wish })))).toEqual(['rule/recreate-blocked']);
  expect(platform.state.rules.get(row.id)?.configuration).toEqual(row.configuration);
});

test('nothing is deleted while the listing of all rules cannot be read, or the port is closed', async () => {
  const platform = await made();
  platform.answer = ({ path }) =>
    path === '/openapi/v1/httpdomains'
      ? { status: 403, contentType: 'application/json', retryAfter: null, body: '{"code":403,"msg":"no"}' }
      : undefined;
  expect(holdsOf(await platform.pass(recreating(NEW)))).toEqual(['rule/recreate-unchecked']);
  platform.answer = () => undefined;
  const [port] = [...platform.state.ports.all()];
  if (port === undefined) throw new Error('the port is there');
  platform.state.ports.put({ ...port, outer: false });
  expect(holdsOf(await platform.pass(recreating(NEW)))).toContain('rule/port-closed');
  expect(sizeOf(platform)).toEqual([10]);
});

test('an adopted rule whose configuration nobody knows is held; with every field of it written, it is recreated', async () => {
  const platform = world([{ ...WWW, weight: 30 }]);
  await platform.pass(recreating({ weight: 30 }), allow({ adopt: () => true }));
  expect(holdsOf(await platform.pass(recreating({ header: 'x=y' })))).toEqual(['rule/configuration-unknown']);
  expect(holdsOf(await platform.pass(recreating(NEW)))).toEqual(['rule/configuration-unknown']);
  expect(platform.writes()).toEqual([]);
  const configuration = {
    proxyBodySize: 1,
    proxyBufferNumbers: 4,
    proxyBufferSize: 4,
    proxyBuffering: 'off',
    proxyConnectTimeout: 75,
    proxyReadTimeout: 60,
    proxySendTimeout: 60,
    setHeaders: [],
  };
  expect(holdsOf(await platform.pass(recreating({ configuration })))).toEqual([]);
  expect(rulesOf(platform)).toMatchObject([{ weight: 30, configuration: { proxy_body_size: 1 } }]);
  expect(rowsOf(platform)).toMatchObject([{ origin: 'adopted', remoteAux: { adopted: { weight: 30 } } }]);
});

/** What git, or a person, may do between the deletion and the creation. */
const meanwhile: readonly (readonly [string, Work, PassOptions, number])[] = [
  ['stays', recreating(NEW), allowEverything, 99],
  ['is reverted', recreating(OLD), allowEverything, 10],
  ['is reverted and may only be held', workOf(ADDRESS, [component, rule('www', OLD)]), allowEverything, 10],
  ['is removed', withoutRule, allowEverything, 99],
  ['is removed with its component', workOf(ADDRESS, []), allowEverything, 99],
  ['is not a target', recreating(NEW), { ...allowEverything, targets: new Set(['Component/web']) }, 99],
  ['is suspended', recreating(NEW, { 'portolan/reconcile': 'suspend' }), allowEverything, 99],
  ['is only reported', recreating(NEW, { 'portolan/reconcile': 'report' }), allowEverything, 99],
];

test.for(meanwhile)(
  'a crash after the deletion: the manifest %s, and the rule exists again',
  async ([, work, options, size]) => {
    const platform = await made();
    const [before] = rulesOf(platform);
    platform.crash = { atWrite: 1, when: 'after' };
    expect(await platform.pass(recreating(NEW))).toBe('died');
    expect(rulesOf(platform)).toEqual([]);
    expect(rowsOf(platform), 'written down before the deletion').toMatchObject([
      { obligation: { recreate: { former: before?.id, rule: { weight: 40, configuration: { proxyBodySize: 99 } } } } },
    ]);
    await platform.settle(work, options);
    expect(rulesOf(platform)).toMatchObject([
      { weight: 40, cookie: 'a=b', header: 'x=y', extensions: [{ key: 'retries', value: '3' }] },
    ]);
    expect(sizeOf(platform)).toEqual([size]);
    expect(rowsOf(platform)).toMatchObject([{ remoteId: rulesOf(platform)[0]?.id, obligation: null }]);
  },
);

test.for([
  ['before the deletion', 1, 'before'],
  ['after the deletion', 1, 'after'],
  ['before the creation', 2, 'before'],
  ['after the creation', 2, 'after'],
] as const)('a crash %s: there is one rule in the end, and nothing is owed', async ([, atWrite, when]) => {
  const platform = await made();
  platform.crash = { atWrite, when };
  expect(await platform.pass(recreating(NEW))).toBe('died');
  await platform.settle(recreating(NEW));
  await platform.settle(recreating(NEW));
  expect(sizeOf(platform)).toEqual([99]);
  expect(rowsOf(platform)).toMatchObject([{ remoteId: rulesOf(platform)[0]?.id, obligation: null }]);
});

test('what is owed is created before it may be pruned, and ends when the rule was never deleted', async () => {
  const platform = await made();
  platform.crash = { atWrite: 1, when: 'before' };
  await platform.pass(recreating(NEW));
  const [before] = rulesOf(platform);
  await platform.settle(recreating(OLD));
  platform.clock.advance(60_000);
  await platform.pass(recreating(OLD));
  expect(rulesOf(platform)).toEqual([before]);
  expect(rowsOf(platform)).toMatchObject([{ obligation: null }]);
  await platform.settle(withoutRule, allow({ prune: true }));
  expect(rulesOf(platform)).toEqual([]);
});

test('a port that was closed in between holds what is owed and says so', async () => {
  const platform = await made();
  platform.crash = { atWrite: 1, when: 'after' };
  await platform.pass(recreating(NEW));
  const [port] = [...platform.state.ports.all()];
  if (port === undefined) throw new Error('the port is there');
  platform.state.ports.put({ ...port, outer: false });
  expect(holdsOf(await platform.settle(withoutRule))).toEqual(['rule/owed']);
  platform.state.ports.put({ ...port, outer: true });
  await platform.settle(withoutRule);
  expect(sizeOf(platform)).toEqual([99]);
});

test('a rule whose creation opens its port again has that on record, however it was created first', async () => {
  const platform = await made();
  expect(rowsOf(platform)[0]?.remoteAux['opened']).toBeUndefined();
  platform.crash = { atWrite: 1, when: 'after' };
  const wanted = recreating({ ...NEW, openOuter: true });
  expect(await platform.pass(wanted)).toBe('died');
  platform.crash = undefined;
  // Deleted, and not created yet; then somebody closes the port.
  const port = platform.state.ports.get(`${SERVICE}/8080`);
  if (port === undefined) throw new Error('the port is there');
  platform.state.ports.put({ ...port, outer: false });
  await platform.settle(wanted);
  expect(platform.state.ports.get(`${SERVICE}/8080`)).toMatchObject({ outer: true });
  expect(rowsOf(platform)).toMatchObject([{ remoteAux: { opened: `${SERVICE}/8080` }, obligation: null }]);
});

test.for([
  ['the manifest names another domain', { domain: 'new.example.com' }, WWW.domain],
  ['somebody edited the domain on the platform', {}, 'edited.example.com'],
] as const)(
  '%s while the configuration changes: the rule gets its address first, and is then recreated',
  async (given) => {
    const [, address, present] = given;
    const platform = await made();
    for (const row of rulesOf(platform)) platform.state.rules.put({ ...row, domain: present });
    const [before] = [...platform.state.rules.all()].filter(({ domain }) => domain === present);
    const wanted = recreating({ ...NEW, ...address });
    const outcome = await platform.settle(wanted);
    const requests = platform.writes().map(({ request }) => request.operation);
    expect(requests.filter((operation) => operation !== 'addPort').slice(1)).toEqual([
      'updateRule',
      'deleteRule',
      'createRule',
    ]);
    const domain = 'domain' in address ? address.domain : WWW.domain;
    const rows = [...platform.state.rules.all()].filter((row) => row.domain.endsWith('.example.com') && row.type !== 0);
    expect(rows).toMatchObject([{ domain, configuration: { proxy_body_size: 99 }, weight: 40, cookie: 'a=b' }]);
    expect(rows[0]?.id).not.toBe(before?.id);
    expect(rowsOf(platform)).toMatchObject([{ naturalKey: expect.stringContaining(domain), remoteId: rows[0]?.id }]);
    expect([ended(outcome).plan.actions, ended(outcome).plan.holds]).toEqual([[], []]);
  },
);
