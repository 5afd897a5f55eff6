import type { Readable, Reading } from '../../src/model/reading.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reconciledKinds } from '../../src/kinds/registry.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import type { LiveApplication } from '../../src/kinds/export.ts';
import type { ScopeReader } from '../../src/kinds/reconciled.ts';
import { legibleName } from '../../src/kinds/export-names.ts';
import { NAME_LENGTH_MAX, NAME_PATTERN } from '../../src/kinds/schema.ts';
import { exportApplications } from '../../src/manifest/export.ts';
import { groupByApplication } from '../../src/manifest/group.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import { writeManifest } from '../../src/manifest/write.ts';
import type { PortRecord } from '../../src/kinds/component/wire.ts';
import type { RuleRecord } from '../../src/kinds/http-gateway-rule/wire.ts';
import type { InstalledModel } from '../../src/kinds/store-install/wire.ts';
import { decodeComponents } from '../../src/platform/decode.ts';
import type { CertificateRecord, ComponentRecord } from '../../src/platform/records.ts';
import { createApplicationReader } from '../../src/reconcile/read-application.ts';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { ScopeWorld } from '../support/scope-world.ts';
import { planExported } from '../../src/reconcile/prove-export.ts';

/** Answers from what the manifests were written from, and has no more to say. */
function readerOf({ components, rules, installed, certificates }: LiveApplication): ScopeReader {
  const records = components.flatMap(({ record: one }) => one ?? []);
  const readings: Readonly<Record<string, Readable<unknown> | 'not-asked'>> = {
    listRules: rules,
    listComponents: records.length === components.length ? { readable: true, value: records } : { readable: false },
    listCertificates: certificates,
    listInstalled: installed,
  };
  const read = async <T>({ operation, component }: Reading<T>): Promise<Readable<T>> => {
    const ports = components.find(({ serviceId }) => serviceId === component)?.ports;
    const answer = ports === undefined ? readings[operation] : { readable: true, value: ports };
    return (answer === undefined || answer === 'not-asked' ? { readable: false } : answer) as Readable<T>;
  };
  return {
    read,
    isShared: false,
    readFresh: async () => ({ readable: false }),
    application: async () => ({ status: 'running', componentCount: components.length, runningComponentCount: 0 }),
    has: async () => rules.readable,
  };
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '',
    'yes',
    'null',
    '012',
    '1e3',
    '~',
    '${A}',
    '$${A}',
    '- a',
    'a: b',
    '#',
    '商城',
    'é',
    'e\u0301',
    '\u202e',
  ),
);
const often = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: usual, weight: 5 }, { arbitrary: odd, weight: 1 });

const port: fc.Arbitrary<PortRecord> = fc.record({
  port: fc.integer({ min: 1, max: 3 }),
  protocol: often(fc.constantFrom('http', 'tcp', 'udp', 'grpc', 'mysql'), text),
  alias: often(fc.constantFrom('A', 'B', 'C_1', 'YES', 'NULL'), text),
  inner: fc.boolean(),
  outer: fc.boolean(),
  serviceName: often(fc.constant('web'), text),
});

const rule = (serviceIds: readonly string[]): fc.Arbitrary<RuleRecord> =>
  fc
    .record({
      ruleId: fc.uuid(),
      serviceId: fc.constantFrom(...serviceIds, 'gone'),
      port: fc.integer({ min: 1, max: 3 }),
      domain: often(fc.constantFrom('a.example.com', 'A.example.com', '*.b.example.com', 'c'), text),
      path: often(fc.constantFrom('/', '', '/a', '/$a{'), text),
      certificateId: fc.constantFrom(null, 0, 7, -1),
      weight: fc.constantFrom(null, 0, 50, 100, 900),
      cookie: text,
      header: text,
      autoSsl: fc.boolean(),
      autoSslConfig: fc.option(text),
      type: fc.constantFrom(null, 0, 1),
      outer: fc.boolean(),
      rewrites: fc.constantFrom(null, '', '[]', '[{"regex":"a"}]'),
    })
    .map((fields) => ({
      rowId: null,
      protocol: '',
      isSenior: null,
      domainType: null,
      pathRewrite: null,
      regionId: null,
      tenantId: null,
      componentAlias: null,
      componentName: null,
      team: null,
      region: null,
      appId: null,
      ...fields,
    }));

/** A component as a server that lists them would answer; of an install or of none. */
const record = (serviceId: string): fc.Arbitrary<ComponentRecord | undefined> =>
  fc
    .record({
      service_cname: fc.option(text),
      k8s_component_name: text,
      service_alias: often(fc.constant('gr0001'), text),
      tenant_service_group_id: fc.constantFrom(null, 0, 1, 2),
    })
    .map((fields) => decodeComponents([{ service_id: serviceId, service_key: 'k', ...fields }], 'a test')[0]);

const installed: fc.Arbitrary<InstalledModel> = fc.record({
  modelId: often(fc.constantFrom('0a1b2c', 'm2', 'm3'), text),
  reportedVersion: often(fc.constantFrom('8.0', '012'), fc.option(text)),
  upgradeVersions: fc.constant([]),
  name: fc.option(text),
  marketName: often(fc.constantFrom('main', 'market-1'), fc.option(text)),
  installGroupId: fc.constantFrom(null, 1, 2),
});

const certificate: fc.Arbitrary<CertificateRecord> = fc.record({
  id: fc.constantFrom(1, 7, 8),
  alias: often(fc.constantFrom('tls', 'www'), text),
  issuedTo: fc.constant([]),
  expiresAt: fc.constant(null),
  hasExpired: fc.constant(null),
});

const application = (appId: number): fc.Arbitrary<LiveApplication> => {
  const serviceIds = [1, 2].map((number) => `${appId}c${number}`);
  return fc.record({
    scope: fc.constant({ platform: 'default', team: 'team-a', region: 'region-1', appId }),
    name: text,
    k8sApp: fc.option(text),
    components: fc.tuple(
      ...serviceIds.map((serviceId) =>
        fc.record({
          serviceId: fc.constant(serviceId),
          record: record(serviceId),
          ports: fc.uniqueArray(port, { selector: ({ port: number }) => number, maxLength: 3 }),
        }),
      ),
    ),
    extent: fc.constantFrom('listed' as const, 'unlisted' as const),
    certificates: fc.oneof(
      fc.constant('not-asked' as const),
      fc.constant({ readable: false as const }),
      fc.record({ readable: fc.constant(true as const), value: fc.array(certificate, { maxLength: 4 }) }),
    ),
    rules: fc.oneof(
      fc.constant({ readable: false as const }),
      fc.array(rule(serviceIds), { maxLength: 6 }).map((value) => ({ readable: true as const, value })),
    ),
    installed: fc.oneof(
      fc.constant({ readable: false as const }),
      fc.array(installed, { maxLength: 3 }).map((value) => ({ readable: true as const, value })),
    ),
  });
};

const operator = { kinds: reconciledKinds, stores: new Map([['main', { domain: 'market-1' }]]), store: undefined };

test('whatever a platform has: what is written is valid, and its plan is empty', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(application(1), application(2)), async (lives) => {
      const exported = exportApplications(lives, operator);
      const files = exported.map(({ name, documents, left, unseen }) => ({
        path: `${name}.yaml`,
        content: documents
          .map((document, index) => writeManifest(document, 'schemas/x.json', index === 0 ? [...left, ...unseen] : []))
          .join('---\n'),
      }));
      const { desired, problems } = loadManifests({ kinds: kindDeclarations, files });
      expect(problems).toEqual([]);
      const groups = groupByApplication(desired);
      expect(groups).toHaveLength(lives.length);
      for (const { application: anchor, resources } of groups) {
        const live = exported.find(({ name }) => name === anchor.name)?.live;
        if (live === undefined) throw new Error(`${anchor.id} was not exported`);
        const work = { application: anchor, resources: new Map(resources.map((resource) => [resource.id, resource])) };
        const plan = await planExported(reconciledKinds, work, { live, reader: readerOf(live) }, 'test', 0);
        expect({ actions: plan.actions, holds: plan.holds, deferred: plan.deferred }).toEqual({
          actions: [],
          holds: [],
          deferred: [],
        });
        expect(plan.inSync).toHaveLength(resources.length);
      }
      // In whichever order they were read.
      const turned = exportApplications(lives.toReversed(), operator);
      expect(turned).toEqual(exported);
    }),
    { numRuns: 150 },
  );
});

test.for([
  ['shop-web', 'shop-web'],
  ['Shop Web (2)', 'shop-web-2'],
  ['www.Shop.example.com', 'www.shop.example.com'],
  ['Café', 'cafe'],
  ['商城', undefined],
  ['商城2', undefined],
  ['商城 mall', 'mall'],
  ['012', '012'],
  ['-.-', undefined],
  ['', undefined],
] as const)('the name of %j is %j', ([given, name]) => {
  expect(legibleName(given)).toBe(name);
});

test('a name that is made of a text is valid, or none is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 120 }), (given) => {
      const name = legibleName(given);
      if (name === undefined) return;
      expect(name).toMatch(new RegExp(NAME_PATTERN));
      expect(name.length).toBeLessThanOrEqual(NAME_LENGTH_MAX);
    }),
    { numRuns: 300 },
  );
});

test('an application that no plan could read is not exported, although every listing is sound', async () => {
  const world = new ScopeWorld(demoSeed, 'extended');
  world.alter = (request, response) =>
    request.operation === 'getApplication'
      ? { ...response, body: response.body.replace(/"service_count":\d+/, '"service_count":"many"') }
      : response;
  const scope = { platform: 'default', team: demo.team, region: demo.region, appId: demo.appId };
  const targets = [scope, scope].map((one) => ({ scope: one, only: undefined, known: { components: new Map() } }));
  const reader = createApplicationReader(reconciledKinds, world.client(), targets);
  await expect(reader.read({ scope, only: undefined, known: { components: new Map() } })).rejects.toMatchObject({
    code: 'platform/schema-drift',
    message: expect.stringContaining('service_count: expected an integer, got a string'),
  });
});
