import { expect, test } from 'vitest';
import { SECRET_MASK } from '../../src/model/secret.ts';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { PassOptions } from '../../src/reconcile/reconcile.ts';
import type { SeedRule } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

const WWW = { component: SERVICE, port: 8080, domain: 'www.example.com', path: '/' };

const pruning: PassOptions = { ...allowEverything, permissions: { ...allowEverything.permissions, prune: true } };
const adopting: PassOptions = {
  ...allowEverything,
  permissions: { ...allowEverything.permissions, adopt: () => true },
};
const adoptingNamed: PassOptions = {
  ...adopting,
  permissions: { ...adopting.permissions, adoptNamed: (id) => id === 'HttpGatewayRule/www' },
};

function world(rules: readonly SeedRule[], dialect: Dialect = 'extended'): ScopeWorld {
  return new ScopeWorld(smallShop({ ports: [{ port: 8080, inner: true, outer: true }] }, rules), dialect);
}

const component = manifest('Component', 'web', {
  application: 'shop',
  serviceId: SERVICE,
  ports: [{ port: 8080, inner: true, outer: true }],
  unlistedPorts: 'keep',
});

function withRule(spec: object = {}, annotations: Readonly<Record<string, string>> = {}) {
  return workOf(ADDRESS, [
    component,
    manifest(
      'HttpGatewayRule',
      'www',
      { application: 'shop', component: 'web', port: 8080, domain: WWW.domain, path: '/', ...spec },
      annotations,
    ),
  ]);
}

const withoutRule = workOf(ADDRESS, [component]);

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const updatesOf = (platform: ScopeWorld) =>
  platform
    .writes()
    .filter(({ request }) => request.method === 'PUT' && request.path.includes('httpdomains'))
    .map(({ request }) => request.body);
const holdsOf = (outcome: Outcome | 'died') => ended(outcome).plan.holds.map((hold) => hold.code);
const notesOf = (outcome: Outcome | 'died') => ended(outcome).plan.notes.map((note) => note.code);
const rulesOf = ({ state }: ScopeWorld) => [...state.rules.all()].filter((row) => row.domain === WWW.domain);
const ownedRules = ({ store }: ScopeWorld) =>
  [...store.objects.values()].filter((object) => object.kind === 'HttpGatewayRule');

test('a rule that exists and is not ours is held, and adopted only when told to', async () => {
  const platform = world([{ ...WWW, weight: 30 }]);
  expect(holdsOf(await platform.pass(withRule({ weight: 30 })))).toEqual(['rule/not-ours']);
  expect(platform.writes()).toEqual([]);
  const adopted = await platform.pass(withRule({ weight: 30 }), adopting);
  expect(notesOf(adopted)).toContain('rule/adopted');
  expect(platform.writes(), 'its values are as wanted').toEqual([]);
  expect(ownedRules(platform)).toMatchObject([
    { origin: 'adopted', state: 'present', remoteAux: { adopted: { weight: 30 } } },
  ]);
  expect(holdsOf(await platform.pass(withRule({ weight: 30 }))), 'from now on it is ours').toEqual([]);
  expect(ownedRules(platform), 'and its former values stay on record').toMatchObject([
    { remoteAux: { adopted: { weight: 30 } } },
  ]);
});

test('an adopted rule is left when git lets go of it', async () => {
  const platform = world([{ ...WWW, weight: 30 }]);
  await platform.pass(withRule({ weight: 30 }), adopting);
  expect(notesOf(await platform.pass(withoutRule, { ...pruning, readOnly: true }))).toEqual(['rule/left']);
  await platform.pass(withoutRule, pruning);
  expect(rulesOf(platform)).toHaveLength(1);
  expect(ownedRules(platform)).toEqual([]);
  expect(platform.writes()).toEqual([]);
});

test('an adopted rule gets its former values back where its annotation says so, and is then let go', async () => {
  const platform = world([{ ...WWW, weight: 30, cookie: 'a=b' }]);
  const wanted = withRule({ weight: 80 }, { 'portolan/on-removal': 'restore' });
  await platform.pass(wanted, adopting);
  expect(rulesOf(platform)).toMatchObject([{ weight: 80, cookie: 'a=b' }]);
  expect(notesOf(await platform.pass(withoutRule)), 'only with --prune').toEqual(['prune/not-asked']);
  await platform.pass(withoutRule, pruning);
  expect(rulesOf(platform)).toMatchObject([{ weight: 30, cookie: 'a=b' }]);
  expect(ownedRules(platform)).toEqual([]);
});

test('a rule of ours is deleted with --prune, and forgotten only when it is seen to be gone', async () => {
  const platform = world([]);
  await platform.pass(withRule());
  expect(rulesOf(platform)).toHaveLength(1);
  expect(notesOf(await platform.pass(withoutRule))).toEqual(['prune/not-asked']);
  expect(rulesOf(platform)).toHaveLength(1);
  await platform.pass(withoutRule, pruning);
  expect(rulesOf(platform)).toEqual([]);
  expect(ownedRules(platform)).toEqual([]);
});

test('portolan/prune: keep outlives the manifest that said it', async () => {
  const platform = world([]);
  await platform.pass(withRule({}, { 'portolan/prune': 'keep' }));
  expect(notesOf(await platform.pass(withoutRule, pruning))).toEqual(['prune/kept']);
  expect(rulesOf(platform)).toHaveLength(1);
});

test('the documented dialect can neither see nor delete: it says so and does nothing', async () => {
  const platform = world([], 'documented');
  await platform.pass(withRule({ weight: 50 }));
  const writes = platform.writes().length;
  expect(holdsOf(await platform.pass(withRule({ weight: 60 })))).toEqual(['rule/cannot-update']);
  expect(notesOf(await platform.pass(withoutRule, pruning))).toEqual(['prune/impossible']);
  expect(platform.writes()).toHaveLength(writes);
});

test('a change that the documented dialect cannot make is recorded once a person made it and says so', async () => {
  const platform = world([], 'documented');
  await platform.pass(withRule({ weight: 50, configuration: { proxyBodySize: 1 } }));
  const changed = withRule({ weight: 50, configuration: { proxyBodySize: 2 } });
  const [hold] = ended(await platform.pass(changed)).plan.holds;
  expect(hold).toMatchObject({ code: 'rule/cannot-update', remedy: expect.stringContaining('apply --adopt') });
  expect(hold?.remedy).not.toMatch(/delete/i);
  const writes = platform.writes().length;
  expect(holdsOf(await platform.pass(changed, adopting)), 'adopting everything says nothing of it').toEqual([
    'rule/cannot-update',
  ]);
  expect(notesOf(await platform.pass(changed, adoptingNamed))).toEqual(['rule/adopted']);
  expect(holdsOf(await platform.pass(changed))).toEqual([]);
  expect(platform.writes()).toHaveLength(writes);
  expect(ownedRules(platform)).toMatchObject([
    { origin: 'created', lastApplied: { configuration: { proxyBodySize: 2 } } },
  ]);
});

test('a rule that the documented dialect says exists is not ours by that, and is asked about once', async () => {
  const platform = world([WWW], 'documented');
  const first = ended(await platform.pass(withRule()));
  expect(first.results.map((result) => result.status === 'failed' && result.reason.type)).toEqual(['exists']);
  const writes = platform.writes().length;
  expect(holdsOf(await platform.pass(withRule()))).toEqual(['rule/exists-not-ours']);
  expect(platform.writes(), 'no second try').toHaveLength(writes);
  expect(holdsOf(await platform.pass(withRule(), adopting))).toEqual([]);
  expect(ownedRules(platform)).toMatchObject([{ origin: 'adopted', state: 'unverified' }]);
  expect(platform.writes()).toHaveLength(writes);
});

test('a rule of ours that somebody deleted is drift, and made again', async () => {
  const platform = world([]);
  await platform.pass(withRule());
  for (const row of rulesOf(platform)) platform.state.rules.delete(row.id);
  const seen = ended(await platform.pass(withRule(), { ...allowEverything, readOnly: true }));
  expect(seen.plan.actions.map((action) => action.step.type)).toEqual(['create']);
  await platform.pass(withRule());
  expect(rulesOf(platform)).toHaveLength(1);
});

test('an update that would write the mask of a secret over the secret is held', async () => {
  const platform = world([]);
  await platform.pass(withRule());
  const [row] = rulesOf(platform);
  if (row === undefined) throw new Error('the rule is there');
  platform.state.rules.put({ ...row, cookie: `session=${SECRET_MASK}` });
  expect(holdsOf(await platform.pass(withRule({ weight: 80 })))).toEqual(['rule/secret-value']);
  expect(rulesOf(platform)).toMatchObject([{ cookie: `session=${SECRET_MASK}`, weight: 100 }]);
  expect(holdsOf(await platform.pass(withRule({ weight: 80, cookie: 'session=new' })))).toEqual([]);
  expect(rulesOf(platform)).toMatchObject([{ cookie: 'session=new', weight: 80 }]);
});

test('a rule with a header, or with values that no server shows, is adopted, updated and healed', async () => {
  const platform = world([{ ...WWW, weight: 30, header: 'x=y' }]);
  expect(holdsOf(await platform.pass(withRule({ weight: 80 }), adopting))).toEqual([]);
  expect(rulesOf(platform)).toMatchObject([{ weight: 80, header: 'x=y' }]);
  const [row] = rulesOf(platform);
  if (row === undefined) throw new Error('the rule is there');
  platform.state.rules.put({ ...row, weight: 5 });
  expect(holdsOf(await platform.pass(withRule({ weight: 80 })))).toEqual([]);
  expect(rulesOf(platform), 'healed').toMatchObject([{ weight: 80, header: 'x=y' }]);
});

test('an update sends the whole record but what it cannot change: what the manifest does not manage stays', async () => {
  const platform = world([]);
  await platform.pass(withRule({ weight: 40, cookie: 'a=b', header: 'x=y', configuration: { proxyBodySize: 10 } }));
  await platform.pass(withRule({ weight: 60 }));
  const updates = updatesOf(platform);
  expect(updates).toMatchObject([{ the_weight: 60, domain_cookie: 'a=b' }]);
  for (const name of ['configuration', 'domain_header', 'domain_heander', 'header', 'whether_open'])
    expect(updates[0]).not.toHaveProperty(name);
  expect(rulesOf(platform)).toMatchObject([
    { weight: 60, cookie: 'a=b', header: 'x=y', configuration: { proxy_body_size: 10 } },
  ]);
});

test.for([
  ['configuration', { configuration: { proxyBodySize: 10 } }, { configuration: { proxyBodySize: 99 } }],
  ['header', { header: 'x=y' }, { header: 'x=z' }],
] as const)(
  'a change of %s is held, because no update applies it; the rest is updated',
  async ([path, before, after]) => {
    const platform = world([]);
    await platform.pass(withRule({ weight: 40, ...before }));
    const [made] = rulesOf(platform);
    for (const pass of ['first', 'second']) {
      const outcome = ended(await platform.pass(withRule({ weight: 60, ...after })));
      expect(outcome.plan.holds, pass).toMatchObject([{ code: 'rule/immutable', changes: [{ path }] }]);
      expect(outcome.plan.actions).toEqual([]);
    }
    expect(rulesOf(platform)).toEqual([{ ...made, weight: 60 }]);
    expect(updatesOf(platform)).toHaveLength(1);
    expect(holdsOf(await platform.pass(withRule({ weight: 60, ...before }))), 'reverted').toEqual([]);
  },
);

test('of an adopted rule, a configuration that nobody knows is held and the rest is managed', async () => {
  const platform = world([{ ...WWW, weight: 30 }]);
  const wanted = withRule({ weight: 80, configuration: { proxyBodySize: 10 } });
  expect(holdsOf(await platform.pass(wanted, adopting))).toEqual(['rule/configuration-unknown']);
  expect(rulesOf(platform)).toMatchObject([{ weight: 80, configuration: null }]);
  expect(holdsOf(await platform.pass(wanted))).toEqual(['rule/configuration-unknown']);
  expect(holdsOf(await platform.pass(withRule({ weight: 80 })))).toEqual([]);
});

const EXTENSIONS = [
  { key: 'lb-type', value: 'round-robin' },
  { key: 'retries', value: '3' },
];

test('extensions are compared with the listing of all rules, and read back after an update', async () => {
  const platform = world([]);
  await platform.pass(withRule({ extensions: EXTENSIONS }));
  expect(holdsOf(await platform.pass(withRule({ extensions: EXTENSIONS })))).toEqual([]);
  const [row] = rulesOf(platform);
  if (row === undefined) throw new Error('the rule is there');
  platform.state.rules.put({ ...row, extensions: [{ key: 'retries', value: '9' }] });
  const drifted = ended(
    await platform.pass(withRule({ extensions: EXTENSIONS }), { ...allowEverything, readOnly: true }),
  );
  expect(drifted.plan.actions).toMatchObject([
    {
      step: { type: 'update' },
      cause: 'drift',
      changes: [{ path: 'extensions', before: [{ key: 'retries', value: '9' }] }],
    },
  ]);
  await platform.pass(withRule({ extensions: EXTENSIONS }));
  expect(rulesOf(platform)).toMatchObject([{ extensions: EXTENSIONS }]);
  expect(ended(await platform.pass(withRule({ extensions: [] }))).plan.actions).toEqual([]);
  expect(rulesOf(platform), 'an empty list clears them').toMatchObject([{ extensions: [] }]);
});

test('the listing of all rules is read only for a rule that asserts extensions', async () => {
  const platform = world([]);
  const asked = () => platform.exchanges.filter(({ request }) => request.path === '/openapi/v1/httpdomains').length;
  await platform.pass(withRule({ weight: 40 }));
  await platform.pass(withRule({ weight: 40 }));
  expect(asked()).toBe(0);
  await platform.pass(withRule({ weight: 40, extensions: [] }), { ...allowEverything, readOnly: true });
  expect(asked()).toBe(1);
});

test('extensions that cannot be read are held, and the rest of the rule is managed', async () => {
  const platform = world([]);
  await platform.pass(withRule({ extensions: EXTENSIONS }));
  platform.answer = ({ path }) => (path === '/openapi/v1/httpdomains' ? forbidden : undefined);
  expect(holdsOf(await platform.pass(withRule({ extensions: EXTENSIONS })))).toEqual([]);
  const changed = withRule({ weight: 7, extensions: [] });
  expect(holdsOf(await platform.pass(changed))).toEqual(['rule/unseen-value']);
  expect(rulesOf(platform)).toMatchObject([{ weight: 7, extensions: EXTENSIONS }]);
});

const forbidden = {
  status: 403,
  contentType: 'application/json',
  retryAfter: null,
  body: JSON.stringify({ detail: 'no', code: 403, msg: 'no', msg_show: 'no', error_type: 'PermissionDenied' }),
};

test('two equal rules on the platform are left to a person', async () => {
  const platform = world([]);
  await platform.pass(withRule());
  const [row] = rulesOf(platform);
  if (row === undefined) throw new Error('no rule');
  platform.state.rules.put({ ...row, id: 'f'.repeat(32), row: row.row + 1 });
  expect(holdsOf(await platform.pass(withRule()))).toEqual(['rule/duplicate']);
  const [hold] = ended(await platform.pass(withRule())).plan.holds;
  expect(hold?.remedy).not.toMatch(/delete/i);
  expect(hold?.remedy).toContain('another domain or path');
});

test('a row without an id stands for the rule with its key only while that is as it was sent', async () => {
  const stranger = async (weight: number) => {
    const platform = world([]);
    await platform.pass(withRule({ weight: 50 }));
    const [row] = rulesOf(platform);
    const [object] = ownedRules(platform);
    if (row === undefined || object === undefined) throw new Error('no rule');
    // A person said that it was made, and did not say which it is; meanwhile it may have become another one.
    platform.store.objects.set(object.uid, { ...object, remoteId: null, state: 'unverified' });
    platform.state.rules.delete(row.id);
    platform.state.rules.put({ ...row, id: 'f'.repeat(32), row: row.row + 1, weight });
    return platform;
  };
  const other = await stranger(70);
  const before = other.writes().length;
  expect(holdsOf(await other.pass(withRule({ weight: 50 })))).toEqual(['rule/not-ours']);
  expect(notesOf(await other.pass(withoutRule, { ...pruning, readOnly: true }))).toEqual(['rule/left']);
  await other.pass(withoutRule, pruning);
  expect([other.writes().length, rulesOf(other).length]).toEqual([before, 1]);

  const twice = await stranger(50);
  const [first] = rulesOf(twice);
  if (first === undefined) throw new Error('no rule');
  twice.state.rules.put({ ...first, id: 'e'.repeat(32), row: first.row + 1 });
  expect(notesOf(await twice.pass(withoutRule, pruning))).toEqual(['rule/left']);
  expect(rulesOf(twice)).toHaveLength(2);

  const same = await stranger(50);
  expect(holdsOf(await same.pass(withRule({ weight: 50 })))).toEqual([]);
  expect(ownedRules(same)).toMatchObject([{ remoteId: 'f'.repeat(32), state: 'present' }]);
  await same.pass(withoutRule, pruning);
  expect(rulesOf(same)).toEqual([]);
});
