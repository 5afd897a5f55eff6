import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../src/configuration/configuration.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import type { Action } from '../../src/model/plan.ts';
import type { PlanDocument } from '../../src/model/plan-document.ts';
import { planDocument } from '../../src/plan/document.ts';
import { evaluatePolicies } from '../../src/policies/evaluate.ts';
import { systemClock } from '../../src/runtime/clock.ts';

const FILE = 'examples/policies/policies.yaml';
const { configuration, problems } = loadConfiguration(kindDeclarations, readFileSync(FILE, 'utf8'), FILE);
const { policies } = configuration.settings;

const document = (kind: string, name: string, metadata: string, spec: string): string =>
  `apiVersion: portolan/v1\nkind: ${kind}\nmetadata: { name: ${name}${metadata} }\nspec: { ${spec} }\n`;
const app = (metadata = ''): string => document('Application', 'shop', metadata, 'team: t, region: r, appId: 1');
const component = (ports: string, metadata = ''): string =>
  document('Component', 'shop-web', metadata, `application: shop, serviceId: ${'a'.repeat(32)}, ports: [ ${ports} ]`);
const rule = (name: string, domain: string): string =>
  document('HttpGatewayRule', name, '', `application: shop, component: shop-web, port: 8080, domain: ${domain}`);
const install = (version: string): string =>
  document('StoreInstall', 'shop-db', '', `application: shop, store: main, model: { id: a, version: "${version}" }`);

const OUTER = '{ port: 8080, protocol: http, inner: true, outer: true }';
const INNER = '{ port: 8080, protocol: http, inner: true, outer: false }';

/** For each example: manifests that it allows, and manifests that it denies or warns about. */
const MANIFESTS: Readonly<Record<string, readonly [allowed: readonly string[], denied: readonly string[]]>> = {
  'outer-ports-have-owners': [
    [app(', labels: { owner: web }'), component(OUTER)],
    [app(), component(OUTER)],
  ],
  'no-outer-databases': [
    [app(), component('{ port: 3306, protocol: mysql, inner: true, outer: false }')],
    [app(), component('{ port: 3306, protocol: mysql, inner: true, outer: true }')],
  ],
  'production-domains': [
    [app(), component(OUTER), rule('shop-www', 'www.test.example.com')],
    [app(), component(OUTER), rule('shop-www', 'www.example.com')],
  ],
  'rules-lead-to-declared-ports': [
    [app(), component(OUTER), rule('shop-www', 'www.example.com')],
    [app(), component('{ port: 8081, protocol: http, inner: true, outer: true }'), rule('shop-www', 'www.example.com')],
  ],
  'names-begin-with-the-application': [
    [app(), component(OUTER), rule('shop-www', 'www.example.com')],
    [app(), component(OUTER), rule('www', 'www.example.com')],
  ],
  'exact-versions-of-approved-stores': [
    [app(), install('8.0.36')],
    [app(), install('8.x')],
  ],
  'suspensions-have-reasons': [
    [app(), component(INNER, ', annotations: { portolan/reconcile: suspend, example.com/reason: migration }')],
    [app(), component(INNER, ', annotations: { portolan/reconcile: suspend }')],
  ],
};

const action = (part: Partial<Action>): Action => ({
  id: 'HttpGatewayRule/shop-www#delete',
  resource: 'HttpGatewayRule/shop-www',
  verb: 'delete',
  step: { type: 'delete' },
  object: 'rule/1',
  summary: 'delete rule www.example.com/',
  changes: [],
  effects: [],
  cause: 'prune',
  after: [],
  prune: true,
  ...part,
});
const planOf = (...actions: readonly Action[]): PlanDocument => {
  const scope = { platform: 'default', team: 't', region: 'r', appId: 1 };
  const empty = { deferred: [], holds: [], notes: [], inSync: [], unchangedFields: 0 };
  const scopes = [{ application: 'Application/shop' as const, scope, actions, ...empty }];
  const facts = { source: 'default', revision: null, ledger: 'known' as const };
  return planDocument({ ...facts, scopes, unobserved: [], refusals: [], notes: [] });
};
const CREATION = action({ verb: 'create', cause: 'git', prune: false });
const REMOVAL = action({});

/** For each example: the Application, a plan that it allows, and one that it denies or warns about. */
const PLANS: Readonly<Record<string, readonly [application: string, allowed: PlanDocument, denied: PlanDocument]>> = {
  'few-removals': [app(), planOf(CREATION, REMOVAL), planOf(REMOVAL, REMOVAL, REMOVAL, REMOVAL)],
  'no-removals-in-production': [app(', labels: { env: prod }'), planOf(CREATION), planOf(REMOVAL)],
  'drift-has-a-cause': [app(), planOf(CREATION), planOf(action({ verb: 'update', cause: 'drift', prune: false }))],
};

function evaluate(name: string, texts: readonly string[], plan?: PlanDocument): readonly string[] {
  const file = { path: 'a.yaml', content: texts.join('---\n') };
  const { desired, problems: faults } = loadManifests({ kinds: kindDeclarations, files: [file] });
  expect(faults).toEqual([]);
  const only = policies.filter((policy) => policy.name === name);
  const results = evaluatePolicies({ policies: only, manifests: [...desired.values()], plan }, systemClock);
  return results.map(
    ({ action: effect, resource, isError }) => `${effect} ${resource ?? 'plan'}${isError ? ' error' : ''}`,
  );
}

test('there are ten example policies, each without a fault and with a case below', () => {
  expect(problems).toEqual([]);
  expect(policies.length).toBe(10);
  expect(policies.map(({ name }) => name).sort()).toEqual([...Object.keys(MANIFESTS), ...Object.keys(PLANS)].sort());
});

test.for(policies)(
  'the example policy $name allows one case and rejects another',
  ({ name, action: effect, subject }) => {
    if (subject === 'plan') {
      const [application, allowed, denied] = PLANS[name] ?? [app(), planOf(), planOf()];
      expect(evaluate(name, [application], allowed)).toEqual([]);
      expect(evaluate(name, [application], denied)).toEqual([`${effect} plan`]);
      return;
    }
    const [allowed, denied] = MANIFESTS[name] ?? [[], []];
    expect(evaluate(name, allowed)).toEqual([]);
    const last = /kind: (\S+)\nmetadata: \{ name: ([^ ,]+)/.exec(denied.at(-1) ?? '');
    expect(evaluate(name, denied)).toEqual([`${effect} ${last?.[1]}/${last?.[2]}`]);
  },
);
