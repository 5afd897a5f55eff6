import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { type ChangeEffect, effectOf, leavesOf } from '../../src/kinds/field-effects.ts';
import { documentFields } from '../../src/kinds/fields.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { Work } from '../../src/reconcile/reconcile.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

const API = 'b'.repeat(32);
const port = (number: number, alias: string) => ({ port: number, alias, protocol: 'http', inner: true, outer: true });
const model = (id: string) => ({
  id,
  name: id,
  versions: ['1', '2'].map((version) => ({
    version,
    components: [
      { key: id, name: id, image: `${id}:${version}`, ports: [{ port: 3306, protocol: 'mysql', inner: true }] },
    ],
  })),
});
const shop = smallShop({ ports: [port(8080, 'WEB'), port(8081, 'SIDE')] });
const platform: Seed = {
  ...shop,
  applications: shop.applications.map((application) => ({
    ...application,
    components: [...application.components, { id: API, name: 'api', ports: [port(8080, 'API')] }],
  })),
  certificates: [7, 8].map((id) => ({ id, team: ADDRESS.team, alias: `c${id}` })),
  stores: [
    {
      url: 'https://store.example.com',
      domain: 'market-1',
      marketName: 'main',
      models: [model('m1'), model('m2')],
    },
  ],
};

/** What a manifest of each kind says at first, and another value for each of its fields. */
const subjects: Readonly<
  Record<string, { readonly spec: JsonObject; readonly other: Readonly<Record<string, Json>> }>
> = {
  HttpGatewayRule: {
    spec: {
      application: 'shop',
      component: 'web',
      port: 8080,
      domain: 'www.example.com',
      path: '/',
      weight: 50,
      cookie: 'a=b',
      header: 'x=y',
      certificateId: 7,
      autoSsl: { enabled: true, config: 'default' },
      extensions: [{ key: 'retries', value: '3' }],
      openOuter: true,
      configuration: {
        proxyBodySize: 10,
        proxyBufferNumbers: 4,
        proxyBufferSize: 4,
        proxyBuffering: 'off',
        proxyConnectTimeout: 60,
        proxyReadTimeout: 60,
        proxySendTimeout: 60,
        setHeaders: [{ key: 'X-Env', value: 'prod' }],
      },
      onImmutableChange: 'hold',
    },
    other: {
      'spec.component': 'api',
      'spec.port': 8081,
      'spec.domain': 'other.example.com',
      'spec.path': '/other',
      'spec.weight': 60,
      'spec.cookie': 'c=d',
      'spec.header': 'x=z',
      'spec.certificate': 'c8',
      'spec.certificateId': 8,
      'spec.autoSsl.enabled': false,
      'spec.autoSsl.config': 'other',
      'spec.extensions[].key': 'timeout',
      'spec.extensions[].value': '9',
      'spec.openOuter': false,
      'spec.configuration.proxyBodySize': 11,
      'spec.configuration.proxyBufferNumbers': 5,
      'spec.configuration.proxyBufferSize': 5,
      'spec.configuration.proxyBuffering': 'on',
      'spec.configuration.proxyConnectTimeout': 61,
      'spec.configuration.proxyReadTimeout': 61,
      'spec.configuration.proxySendTimeout': 61,
      'spec.configuration.setHeaders[].key': 'X-Other',
      'spec.configuration.setHeaders[].value': 'test',
      'spec.onImmutableChange': 'recreate',
    },
  },
  Component: {
    spec: {
      application: 'shop',
      serviceId: SERVICE,
      serviceName: 'web',
      ports: [{ port: 9000, protocol: 'grpc', alias: 'RPC', inner: true, outer: false }],
      unlistedPorts: 'keep',
    },
    other: {
      'spec.serviceId': API,
      'spec.serviceName': 'front',
      'spec.ports[].port': 9001,
      'spec.ports[].protocol': 'tcp',
      'spec.ports[].alias': 'OTHER',
      'spec.ports[].inner': false,
      'spec.ports[].outer': true,
      'spec.unlistedPorts': 'close',
    },
  },
  StoreInstall: {
    spec: {
      application: 'shop',
      store: 'main',
      model: { id: 'm1', version: '1' },
      build: true,
      wait: { for: 'running', timeout: '10m' },
      allowSecondCopy: false,
    },
    other: {
      'spec.store': 'second',
      'spec.model.id': 'm2',
      'spec.model.version': '2',
      'spec.build': false,
      'spec.wait.timeout': '20m',
      'spec.allowSecondCopy': true,
    },
  },
};

/** What the manifest of a case says at first: a certificate stands there by its number or by its alias. */
function firstSpec({ kind, path }: Case): JsonObject {
  const { certificateId, ...spec } = subjects[kind]?.spec ?? {};
  if (path === 'spec.certificate') return { ...spec, certificate: `c${JSON.stringify(certificateId)}` };
  return subjects[kind]?.spec ?? {};
}

/** Fields that have no other value here: the other application or install of a reference, and the one value of a list. */
const WITHOUT_ANOTHER = ['spec.application', 'spec.from.install', 'spec.from.component', 'spec.wait.for'];

interface Case {
  readonly kind: string;
  readonly path: string;
  readonly dialect: Dialect;
  readonly change: ChangeEffect;
}

const cases: readonly Case[] = Object.entries(subjects)
  .flatMap(
    ([kind, { other }]) =>
      Object.keys(other).flatMap((path) =>
        (['documented', 'extended'] as const).map((dialect) => {
          const effects = kindDeclarations.get(kind)?.effects ?? [];
          const change = effectOf(effects, path)?.[dialect].change;
          if (change === undefined) throw new Error(`${kind} says nothing about ${path}`);
          return { kind, path, dialect, change };
        }),
      ),
    // The documented dialect cannot look an alias up.
  )
  .filter(({ path, dialect }) => path !== 'spec.certificate' || dialect === 'extended');

test.for([...kindDeclarations.values()].filter(({ trust }) => trust === 'manifest'))(
  '$kind: every field says what a change of it comes to, and each is tried below',
  (declaration) => {
    const spec = documentFields(declaration).fields.filter(({ name }) => name === 'spec');
    const leaves = spec.flatMap(leavesOf).map(({ path }) => path);
    expect(leaves.filter((path) => effectOf(declaration.effects, path) === undefined)).toEqual([]);
    const { other = {} } = subjects[declaration.kind] ?? {};
    const tried = subjects[declaration.kind] === undefined ? leaves : [...Object.keys(other), ...WITHOUT_ANOTHER];
    expect(leaves.filter((path) => !tried.includes(path))).toEqual([]);
  },
);

function workWith(kind: string, spec: JsonObject): Work {
  const web = { application: 'shop', serviceId: SERVICE, ports: [], unlistedPorts: 'keep' };
  const needed =
    kind === 'HttpGatewayRule'
      ? [manifest('Component', 'web', web), manifest('Component', 'api', { ...web, serviceId: API })]
      : [];
  return workOf(ADDRESS, [...needed, manifest(kind, 'subject', spec)]);
}

/** The spec with one field changed; `ports[].alias` is that of the first port. */
function changed(spec: JsonObject, path: string, value: Json): JsonObject {
  const copy = structuredClone(spec) as Record<string, Json>;
  const keys = path
    .replace(/^spec\./, '')
    .replaceAll('[]', '.0')
    .split('.');
  let at = copy as Record<string, Json>;
  for (const key of keys.slice(0, -1)) at = at[key] as Record<string, Json>;
  at[keys.at(-1) as string] = value;
  return copy;
}

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

/** Everything that the platform holds, as it is and not as it is shown. */
const truthOf = ({ state }: ScopeWorld): string =>
  JSON.stringify([state.rules, state.ports, state.components, state.installs].map((table) => [...table.all()]));

async function settled(one: Case): Promise<ScopeWorld> {
  const world = new ScopeWorld(platform, one.dialect);
  const work = workWith(one.kind, firstSpec(one));
  for (let pass = 0; pass < 3; pass += 1) {
    await world.pass(work);
    world.clock.advance(60_000);
  }
  const plan = ended(await world.pass(work, { ...allowEverything, readOnly: true })).plan;
  expect([plan.actions, plan.holds, plan.deferred]).toEqual([[], [], []]);
  return world;
}

const other = (one: Case): JsonObject => changed(firstSpec(one), one.path, subjects[one.kind]?.other[one.path] ?? null);

const done = (outcome: ReturnType<typeof ended>) => outcome.results.filter(({ status }) => status === 'done');

test.for(cases)('$dialect: $kind $path: $change is what happens', async (one) => {
  const { kind, change } = one;
  const world = await settled(one);
  const before = truthOf(world);
  const sent = world.writes().length;
  const outcome = ended(await world.pass(workWith(kind, other(one))));
  const isChanged = truthOf(world) !== before;
  const { plan } = ended(await world.pass(workWith(kind, other(one)), { ...allowEverything, readOnly: true }));

  // Whatever the table says: done means changed, and what is not done is not forgotten.
  if (done(outcome).length > 0) expect(isChanged, 'reported as done').toBe(true);
  expect(plan.actions).toEqual([]);
  switch (change) {
    case 'update':
    case 'update-not-clear':
      expect(isChanged).toBe(true);
      expect(plan.holds).toEqual([]);
      return;
    case 'recreate-or-hold':
    case 'hold':
      expect([isChanged, done(outcome), world.writes().length - sent]).toEqual([false, [], 0]);
      expect(plan.holds).toHaveLength(1);
      return;
    case 'creation-only':
    case 'local':
      expect([isChanged, world.writes().length - sent, plan.holds]).toEqual([false, 0, []]);
      return;
    case 'other-object':
      expect(isChanged || plan.holds.length > 0 || kind === 'Component').toBe(true);
      return;
  }
});

test.for(cases.filter(({ change }) => change === 'recreate-or-hold'))(
  '$dialect: $kind $path is applied by recreating the object where its manifest says so',
  async (one) => {
    const world = await settled(one);
    const rulesOf = () => [...world.state.rules.all()].filter(({ domain }) => domain === 'www.example.com');
    const [former] = rulesOf();
    const outcome = ended(await world.pass(workWith(one.kind, { ...other(one), onImmutableChange: 'recreate' })));
    expect(outcome.results.map(({ status }) => status)).toEqual(['done', 'done']);
    const rules = rulesOf();
    expect(rules).toHaveLength(1);
    const { id: _id, row: _row, ...after } = rules[0] ?? { id: '', row: 0 };
    const { id: _former, row: _number, ...was } = former ?? { id: '', row: 0 };
    expect(after).not.toEqual(was);
    expect([outcome.plan.actions, outcome.plan.holds]).toEqual([[], []]);
  },
);

test.for(cases.filter(({ change }) => change === 'update-not-clear'))(
  '$dialect: $kind $path cannot be cleared by an update',
  async (one) => {
    const world = await settled(one);
    const before = truthOf(world);
    const cleared = changed(subjects[one.kind]?.spec ?? {}, one.path, '');
    expect(ended(await world.pass(workWith(one.kind, cleared))).plan.holds).toMatchObject([{ code: 'rule/immutable' }]);
    expect(truthOf(world)).toBe(before);
  },
);

test.for(cases.filter(({ change }) => change.startsWith('update')))(
  '$dialect: $kind $path is never done on a platform that accepts it and does nothing',
  async (one) => {
    const world = await settled(one);
    const before = truthOf(world);
    const deaf = {
      status: 200,
      contentType: 'application/json',
      retryAfter: null,
      body: '{"code":200,"data":{"bean":{}}}',
    };
    world.answer = ({ isRead }) => (isRead ? undefined : deaf);
    const outcome = ended(await world.pass(workWith(one.kind, other(one))));
    expect(truthOf(world)).toBe(before);
    expect(done(outcome)).toEqual([]);
    expect(outcome.plan.actions.length + outcome.plan.holds.length).toBeGreaterThan(0);
  },
);
