import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { PassOptions } from '../../src/reconcile/reconcile.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

const TEAM = ADDRESS.team;
const CERTIFICATES: NonNullable<Seed['certificates']> = [
  { id: 1, team: TEAM, alias: 'wild', issuedTo: ['*.example.com'] },
  { id: 2, team: TEAM, alias: 'twin', issuedTo: ['a.example.com'] },
  { id: 3, team: TEAM, alias: 'twin', issuedTo: ['b.example.com'] },
  { id: 4, team: TEAM, alias: 'old', issuedTo: ['www.example.com'], expiresAt: '2001-01-01T00:00:00Z' },
  { id: 5, team: TEAM, alias: 'other', issuedTo: ['www.example.org', '*.www.example.com'] },
];

function worldWith(dialect: Dialect = 'extended', certificates = CERTIFICATES): ScopeWorld {
  const shop = smallShop({ ports: [{ port: 8080, inner: true, outer: true }] });
  return new ScopeWorld({ ...shop, certificates }, dialect);
}

const WEB = manifest('Component', 'web', {
  application: 'shop',
  serviceId: SERVICE,
  ports: [{ port: 8080 }],
  unlistedPorts: 'keep',
});

function work(fields: object, ...others: readonly ReturnType<typeof manifest>[]) {
  const spec = { application: 'shop', component: 'web', port: 8080, domain: 'www.example.com', path: '/', ...fields };
  return workOf(ADDRESS, [WEB, manifest('HttpGatewayRule', 'www', spec), ...others]);
}

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome.plan;
}

const row = ({ state }: ScopeWorld) => [...state.rules.all()].find(({ domain }) => domain === 'www.example.com');
const reads = ({ exchanges }: ScopeWorld) =>
  exchanges.filter(({ request }) => request.operation === 'listCertificates');

test('a certificate is named by its alias: looked up, sent as its number, and in sync then', async () => {
  const world = worldWith();
  await world.pass(work({ certificate: 'wild' }));
  expect(row(world)).toMatchObject({ certificateId: 1, protocol: 'https' });
  const plan = ended(await world.pass(work({ certificate: 'wild' })));
  expect(plan).toMatchObject({ actions: [], holds: [], notes: [] });
  expect(plan.inSync).toContain('HttpGatewayRule/www');
  expect(world.writes()).toHaveLength(1);
});

test('an alias that names another certificate since is an update', async () => {
  const world = worldWith();
  await world.pass(work({ certificate: 'wild' }));
  const former = world.state.certificates.get('1');
  if (former === undefined) throw new Error('the seed has it');
  world.state.certificates.delete('1');
  world.state.certificates.put({ ...former, id: 9 });
  await world.pass(work({ certificate: 'wild' }));
  expect(row(world)).toMatchObject({ certificateId: 9 });
});

test.for<readonly [string, object, string, readonly string[]]>([
  [
    'an unknown alias',
    { certificate: 'tls' },
    'rule/certificate-unknown',
    ['"wild" (1, for *.example.com)', '"other" (5'],
  ],
  ['an ambiguous alias', { certificate: 'twin' }, 'rule/certificate-ambiguous', ['"twin" (2', '"twin" (3']],
  ['an unknown number', { certificateId: 99 }, 'rule/certificate-unknown', ['certificate 99', '"wild" (1']],
])('%s is held with the candidates, and nothing is sent, however often', async ([, fields, code, words]) => {
  const world = worldWith();
  for (let pass = 0; pass < 4; pass += 1) {
    const plan = ended(await world.pass(work(fields)));
    expect(plan.holds).toMatchObject([{ code, resource: 'HttpGatewayRule/www' }]);
    for (const word of words) expect(plan.holds[0]?.message).toContain(word);
  }
  expect(world.writes()).toEqual([]);
});

test('a certificate that went away is held, not taken for drift, and its rule is neither updated nor pruned', async () => {
  const world = worldWith();
  await world.pass(work({ certificateId: 1 }));
  world.state.certificates.delete('1');
  const sent = world.writes().length;
  const options: PassOptions = { ...allowEverything, permissions: { ...allowEverything.permissions, prune: true } };
  for (let pass = 0; pass < 3; pass += 1)
    expect(ended(await world.pass(work({ certificateId: 1 }), options)).holds).toMatchObject([
      { code: 'rule/certificate-unknown' },
    ]);
  expect(world.writes()).toHaveLength(sent);
});

test.for<readonly [string, object, string, string]>([
  [
    'expired',
    { certificate: 'old' },
    'rule/certificate-expired',
    'certificate "old" (4) of rule www.example.com/ has expired',
  ],
  [
    'for other domains',
    { certificateId: 5 },
    'rule/certificate-domain',
    'is for www.example.org, *.www.example.com, not for www.example.com',
  ],
])('a certificate that is %s is sent, with a warning', async ([, fields, code, words]) => {
  const world = worldWith();
  const plan = ended(await world.pass(work(fields)));
  expect(row(world)?.protocol).toBe('https');
  expect(plan.holds).toEqual([]);
  expect(plan.notes).toMatchObject([{ code, message: expect.stringContaining(words) }]);
});

test('a team with many certificates is read page by page', async () => {
  const many = Array.from({ length: 230 }, (_, at) => ({ id: at + 1, team: TEAM, alias: `c${at + 1}` }));
  const world = worldWith('extended', many);
  await world.pass(work({ certificate: 'c230' }));
  expect(row(world)).toMatchObject({ certificateId: 230 });
  const pages = reads(world).map(({ request }) => request.query['page']);
  expect([...new Set(pages)]).toEqual(['1', '2', '3']);
});

test('documented: an alias is held, a number is sent unchecked', async () => {
  const world = worldWith('documented');
  expect(ended(await world.pass(work({ certificate: 'wild' }))).holds).toMatchObject([
    { code: 'rule/certificate-unlisted' },
  ]);
  expect(ended(await world.pass(work({ certificateId: 99 }))).holds).toEqual([]);
  expect(reads(world)).toEqual([]);
});

test('a listing that is refused holds an alias with the words of the platform, and a number is sent with a warning', async () => {
  const world = worldWith();
  world.answer = ({ operation }) =>
    operation === 'listCertificates'
      ? {
          status: 403,
          contentType: 'application/json',
          retryAfter: null,
          body: '{"code":10400,"msg":"not your certificates"}',
        }
      : undefined;
  const held = ended(await world.pass(work({ certificate: 'wild' }))).holds;
  expect(held).toMatchObject([
    { code: 'rule/certificate-unlisted', message: expect.stringContaining('not your certificates') },
  ]);
  const plan = ended(await world.pass(work({ certificateId: 99 })));
  expect(plan.notes).toMatchObject([{ code: 'rule/certificate-unchecked' }]);
  expect(row(world)).toMatchObject({ certificateId: 0, protocol: 'https' });
  // The platform stored none for the unknown number: that is no drift, and it is not asked for again and again.
  const sent = world.writes().length;
  for (let pass = 0; pass < 3; pass += 1)
    expect(ended(await world.pass(work({ certificateId: 99 }))).holds).toMatchObject([
      { code: 'rule/certificate-unknown' },
    ]);
  expect(world.writes()).toHaveLength(sent);
});

test('no certificate is ever asked for by itself: its answer has the private key', async () => {
  const world = worldWith();
  for (const fields of [
    { certificate: 'wild' },
    { certificate: 'twin' },
    { certificateId: 4 },
    { certificateId: 99 },
    {},
  ])
    await world.pass(work(fields));
  expect(reads(world).length).toBeGreaterThan(0);
  for (const { request } of world.exchanges) {
    expect(request.path).not.toMatch(/certificates\/./);
    if (request.path.includes('certificates')) expect(request.method).toBe('GET');
  }
  // Nor is there any code that could: no path goes below the listing.
  const source = join(import.meta.dirname, '..', '..', 'src');
  for (const file of globSync('**/*.ts', { cwd: source, exclude: ['sandbox/**'] }))
    expect(readFileSync(join(source, file), 'utf8'), file).not.toMatch(/\/certificates\//);
});

test('manifests without a certificate cost no listing', async () => {
  const world = worldWith();
  await world.pass(work({}));
  expect(reads(world)).toEqual([]);
});
