import type { PortSpec, ComponentSpec } from '../../src/kinds/component/spec.ts';
import type { HttpGatewayRuleSpec } from '../../src/kinds/http-gateway-rule/spec.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { referencesOf } from '../../src/kinds/kind.ts';
import type { StoreAccess } from '../../src/kinds/reconciled.ts';
import type { StoreInstallSpec } from '../../src/kinds/store-install/spec.ts';
import type { PortProtocol } from '../../src/kinds/component/wire.ts';
import type { DesiredState, Resource } from '../../src/model/resource.ts';
import { Secret } from '../../src/model/secret.ts';
import type { Work } from '../../src/reconcile/reconcile.ts';
import type { Seed, SeedComponent, SeedRule, SeedStore } from '../../src/sandbox/seed.ts';
import { manifest, workOf } from '../support/scope-world.ts';
import type { Chance } from './chance.ts';
import { ruleNames } from './places.ts';

/** The application that every schedule is about. */
export const ADDRESS = { team: 'team-a', region: 'region-1', appId: 42 } as const;
/** An application of the same team that components are moved to. */
export const ELSEWHERE = 43;
export const SOURCE = 'default';
/** Must be found nowhere but in the body of an install. */
export const STORE_KEY = 'canary-5e3f0a77b1';
const STORE = { url: 'https://store.example.com', domain: 'market-1', type: 'rainstore' } as const;

export const store: StoreAccess = { ...STORE, accessKey: new Secret(STORE_KEY, 'test') };
export const stores: ReadonlyMap<string, StoreAccess> = new Map([['main', store]]);

export const SERVICES = [
  { id: 'a'.repeat(32), name: 'web' },
  { id: 'b'.repeat(32), name: 'api' },
  { id: 'c'.repeat(32), name: 'worker' },
] as const;
export const INSTALLS = ['db', 'cache', 'second'] as const;
const PORTS = [8080, 8081, 9000, 9100] as const;
const PROTOCOLS: readonly PortProtocol[] = ['http', 'tcp', 'grpc', 'udp', 'mysql'];
export const DOMAINS = ['www.example.com', 'api.example.com', 'Shop.example.com', 'x.example.com'] as const;
export const PATHS = ['/', '/api'] as const;
export const MODELS = [
  { id: 'model-1', component: 'mysql', port: 3306, protocol: 'mysql', versions: ['1', '2'] },
  { id: 'model-2', component: 'cache', port: 6379, protocol: 'tcp', versions: ['7', '8'] },
] as const;

/** What git says and what a person allows, at one moment. */
export interface Wishes {
  readonly components: ReadonlyMap<string, ComponentSpec>;
  readonly rules: ReadonlyMap<string, HttpGatewayRuleSpec>;
  readonly installs: ReadonlyMap<string, StoreInstallSpec>;
  readonly annotations: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly prune: boolean;
  readonly adopt: boolean;
}

export const NO_WISHES: Wishes = {
  components: new Map(),
  rules: new Map(),
  installs: new Map(),
  annotations: new Map(),
  prune: false,
  adopt: false,
};

export function workFor(wishes: Wishes): Work {
  const known = works.get(wishes);
  if (known !== undefined) return known;
  const of = (kind: string, specs: ReadonlyMap<string, object>): Resource[] =>
    [...specs].map(([name, spec]) => manifest(kind, name, spec, wishes.annotations.get(`${kind}/${name}`) ?? {}));
  const work = workOf(ADDRESS, [
    ...of('StoreInstall', wishes.installs),
    ...of('Component', wishes.components),
    ...of('HttpGatewayRule', wishes.rules),
  ]);
  works.set(wishes, work);
  return work;
}

const works = new WeakMap<Wishes, Work>();

/** As the loader would have it: references lead somewhere, and every kind's own rules hold. */
export function isValid(set: DesiredState): boolean {
  const identities = new Set<string>();
  for (const resource of set.values()) {
    const declaration = kindDeclarations.get(resource.kind);
    if (declaration === undefined) return false;
    const isManifest = (id: string): boolean => kindDeclarations.get(id.split('/')[0] ?? '')?.trust === 'manifest';
    const dangling = referencesOf(declaration, resource.spec).some(({ to }) => isManifest(to) && !set.has(to));
    if (dangling || (declaration.check?.(resource, set) ?? []).length > 0) return false;
    for (const { key } of declaration.identities?.(resource, set) ?? []) {
      if (identities.has(key)) return false;
      identities.add(key);
    }
  }
  return true;
}

/** A platform before Portolan came: components with ports in any state, and sometimes somebody else's rules. */
export function anyPlatform(chance: Chance): Seed {
  const components = SERVICES.slice(0, chance.between(1, 3)).map(
    ({ id, name }): SeedComponent => ({ id, name, ports: anyPorts(chance) }),
  );
  const rules = components.flatMap((component): SeedRule[] =>
    (component.ports ?? [])
      .filter(({ outer, protocol }) => outer === true && protocol === 'http' && chance.happens(0.15))
      .map(({ port }) => ({
        component: component.id,
        port,
        domain: chance.pick(DOMAINS),
        path: chance.pick(PATHS),
        weight: chance.pick([100, 50]),
      })),
  );
  return seedWith(components, rules.slice(0, 1));
}

export const storeSeed: SeedStore = {
  ...STORE,
  marketName: 'main',
  accessKeys: [STORE_KEY],
  models: MODELS.map(({ id, component, port, protocol, versions }) => ({
    id,
    name: id,
    versions: versions.map((version) => ({
      version,
      components: [
        {
          key: component,
          name: component,
          image: `${component}:${version}`,
          ports: [{ port, protocol, inner: true }],
        },
      ],
    })),
  })),
};

export function seedWith(components: readonly SeedComponent[], rules: readonly SeedRule[] = []): Seed {
  return {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '1'.repeat(32), name: ADDRESS.region }],
    teams: [{ id: 'd'.repeat(32), name: ADDRESS.team }],
    applications: [
      { id: ADDRESS.appId, team: ADDRESS.team, region: ADDRESS.region, name: 'shop', components, rules },
      { id: ELSEWHERE, team: ADDRESS.team, region: ADDRESS.region, name: 'elsewhere' },
    ],
    stores: [storeSeed],
  };
}

function anyPorts(chance: Chance): NonNullable<SeedComponent['ports']> {
  return PORTS.filter(() => chance.happens(0.4)).map((port, index) => {
    const outer = chance.happens(0.4);
    return {
      port,
      protocol: chance.happens(0.7) ? 'http' : chance.pick(PROTOCOLS),
      alias: ['ALPHA', 'BETA', 'GAMMA', 'DELTA'][index] ?? `P${port}`,
      inner: outer || chance.happens(0.6),
      outer,
    };
  });
}

/** One to eight objects, wanted of that platform. */
export function anyWishes(chance: Chance): Wishes {
  let wishes: Wishes = {
    components: new Map(),
    rules: new Map(),
    installs: new Map(),
    annotations: new Map(),
    prune: chance.happens(0.4),
    adopt: chance.happens(0.2),
  };
  for (let count = chance.between(1, 7); count > 0; count -= 1) {
    const add = chance.pick(
      chance.happens(0.45) ? ['addInstall', 'addInstalled'] : (['addComponent', 'addRule'] as const),
    );
    wishes = edited(wishes, add as EditName, chance);
  }
  return wishes.components.size + wishes.installs.size === 0 ? edited(wishes, 'addComponent', chance) : wishes;
}

/** One change in git. What the loader would refuse is tried again, a few times. */
export function edited(wishes: Wishes, edit: EditName, chance: Chance): Wishes {
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const next = edits[edit](wishes, chance);
    if (next !== wishes && isValid(workFor(next).resources)) return next;
  }
  return wishes;
}

type Edit = (wishes: Wishes, chance: Chance) => Wishes;
export type EditName = keyof typeof edits;

const edits = {
  addComponent(wishes, chance) {
    const { id, name } = chance.pick(SERVICES);
    return wishes.components.has(name) ? wishes : withComponent(wishes, name, anyComponent({ serviceId: id }, chance));
  },
  addInstall(wishes, chance) {
    const model = chance.pick(MODELS);
    const name = chance.pick(INSTALLS);
    if (wishes.installs.has(name)) return wishes;
    const build = chance.happens(0.6);
    const spec: StoreInstallSpec = {
      application: 'shop',
      store: 'main',
      model: { id: model.id, version: chance.happens(0.8) ? model.versions[0] : model.versions[1] },
      build,
      allowSecondCopy: chance.happens(0.3),
      ...(build && chance.happens(0.3) ? { wait: { for: 'running', timeout: '10m' } } : {}),
    };
    return { ...wishes, installs: new Map(wishes.installs).set(name, spec) };
  },
  addInstalled(wishes, chance) {
    if (wishes.installs.size === 0) return wishes;
    const [install, spec] = chance.pick([...wishes.installs]);
    const model = MODELS.find((candidate) => candidate.id === spec.model.id) ?? MODELS[0];
    const name = `${install}-${model.component}`;
    if (wishes.components.has(name)) return wishes;
    const component = anyComponent({ from: { install, component: model.component } }, chance);
    const listed: PortSpec = { port: model.port, alias: chance.pick(['DB', 'STORE']), inner: true };
    return withComponent(wishes, name, { ...component, ports: [listed, ...component.ports.slice(1)] });
  },
  addRule(wishes, chance) {
    const open = [...wishes.components].flatMap(([component, { ports }]) =>
      ports.filter((port) => port.outer !== false).map(({ port }) => ({ component, port })),
    );
    const [domain, path] = [chance.pick(DOMAINS), chance.pick(PATHS)];
    const name = ruleNames(domain, path)[chance.int(2)] ?? '';
    if (open.length === 0 || wishes.rules.has(name)) return wishes;
    const spec: HttpGatewayRuleSpec = {
      application: 'shop',
      ...chance.pick(open),
      domain,
      path,
      ...anyFields(chance),
      ...(name.endsWith('1') ? { onImmutableChange: 'recreate' } : {}),
    };
    return { ...wishes, rules: new Map(wishes.rules).set(name, spec) };
  },
  editPort(wishes, chance) {
    return withSomeComponent(wishes, chance, (spec) => {
      if (spec.ports.length === 0) return spec;
      const at = chance.int(spec.ports.length);
      return {
        ...spec,
        ports: spec.ports.map((port, index) => (index === at ? { ...port, ...anyPort(chance, port.port) } : port)),
      };
    });
  },
  swapAliases(wishes, chance) {
    return withSomeComponent(wishes, chance, (spec) => {
      const [first, second, ...rest] = spec.ports;
      if (first?.alias === undefined || second?.alias === undefined) return spec;
      return { ...spec, ports: [{ ...first, alias: second.alias }, { ...second, alias: first.alias }, ...rest] };
    });
  },
  addPort(wishes, chance) {
    return withSomeComponent(wishes, chance, (spec) => ({
      ...spec,
      ports: [...spec.ports, anyPort(chance, chance.pick(PORTS))],
    }));
  },
  removePort(wishes, chance) {
    return withSomeComponent(wishes, chance, (spec) => ({ ...spec, ports: spec.ports.slice(1) }));
  },
  editComponent(wishes, chance) {
    return withSomeComponent(wishes, chance, (spec) => ({
      ...spec,
      unlistedPorts: chance.pick(['keep', 'close', 'delete']),
      serviceName: chance.pick(['front', 'back', 'side']),
    }));
  },
  /** What becomes of its ports when git lets go of them. */
  markComponent: (wishes, chance) => withMark(wishes, 'Component', wishes.components, chance),
  markRule: (wishes, chance) => withMark(wishes, 'HttpGatewayRule', wishes.rules, chance),
  removeComponent(wishes, chance) {
    if (wishes.components.size === 0) return wishes;
    const name = chance.pick([...wishes.components.keys()]);
    const components = new Map(wishes.components);
    components.delete(name);
    return { ...wishes, components, rules: without(wishes.rules, (rule) => rule.component === name) };
  },
  editRule(wishes, chance) {
    if (wishes.rules.size === 0) return wishes;
    const [name, spec] = chance.pick([...wishes.rules]);
    return { ...wishes, rules: new Map(wishes.rules).set(name, { ...spec, ...anyFields(chance) }) };
  },
  removeRule(wishes, chance) {
    if (wishes.rules.size === 0) return wishes;
    const name = chance.pick([...wishes.rules.keys()]);
    return { ...wishes, rules: without(wishes.rules, (_, key) => key === name) };
  },
  /** The same rule under another name. */
  renameRule(wishes, chance) {
    if (wishes.rules.size === 0) return wishes;
    const [name, spec] = chance.pick([...wishes.rules]);
    const rules = without(wishes.rules, (_, key) => key === name);
    return { ...wishes, rules: new Map(rules).set(`${name.slice(0, 12)}-r${chance.int(3)}`, spec) };
  },
  editVersion(wishes, chance) {
    if (wishes.installs.size === 0) return wishes;
    const [name, spec] = chance.pick([...wishes.installs]);
    const model = MODELS.find((candidate) => candidate.id === spec.model.id) ?? MODELS[0];
    const installs = new Map(wishes.installs).set(name, {
      ...spec,
      model: { id: model.id, version: chance.pick(model.versions) },
    });
    return { ...wishes, installs };
  },
  /** The same install under another name, said so or not. */
  renameInstall(wishes, chance) {
    if (wishes.installs.size === 0) return wishes;
    const [name, spec] = chance.pick([...wishes.installs]);
    const next = `${name.slice(0, 8)}-r${chance.int(3)}`;
    const installs = without(wishes.installs, (_, key) => key === name);
    const annotations = new Map(wishes.annotations);
    if (chance.happens(0.7)) annotations.set(`StoreInstall/${next}`, { 'portolan/moved-from': name });
    const components = [...wishes.components].map(([key, component]): [string, ComponentSpec] => [
      key,
      component.from?.install === name ? { ...component, from: { ...component.from, install: next } } : component,
    ]);
    return { ...wishes, installs: new Map(installs).set(next, spec), annotations, components: new Map(components) };
  },
  removeInstall(wishes, chance) {
    if (wishes.installs.size === 0) return wishes;
    const name = chance.pick([...wishes.installs.keys()]);
    const gone = new Set([...wishes.components].filter(([, spec]) => spec.from?.install === name).map(([key]) => key));
    return {
      ...wishes,
      installs: without(wishes.installs, (_, key) => key === name),
      components: without(wishes.components, (_, key) => gone.has(key)),
      rules: without(wishes.rules, (rule) => gone.has(rule.component)),
    };
  },
  togglePrune: (wishes) => ({ ...wishes, prune: !wishes.prune }),
  toggleAdopt: (wishes) => ({ ...wishes, adopt: !wishes.adopt }),
} satisfies Record<string, Edit>;

/** Edits that are drawn by a chance of their own, so that a seed without them means the same schedule as before. */
export const rareEdits: readonly EditName[] = ['markRule', 'markRule', 'removeRule', 'addRule'];
export const editNames = (Object.keys(edits) as EditName[]).filter((name) => name !== 'markRule');

function withMark(wishes: Wishes, kind: string, specs: ReadonlyMap<string, object>, chance: Chance): Wishes {
  if (specs.size === 0) return wishes;
  const marks: readonly Readonly<Record<string, string>>[] = [
    {},
    { 'portolan/on-removal': 'restore' },
    { 'portolan/prune': 'keep' },
  ];
  const id = `${kind}/${chance.pick([...specs.keys()])}`;
  return { ...wishes, annotations: new Map(wishes.annotations).set(id, chance.pick(marks)) };
}

function without<T>(map: ReadonlyMap<string, T>, isGone: (value: T, key: string) => boolean): Map<string, T> {
  return new Map([...map].filter(([key, value]) => !isGone(value, key)));
}

function withComponent(wishes: Wishes, name: string, spec: ComponentSpec): Wishes {
  return { ...wishes, components: new Map(wishes.components).set(name, spec) };
}

function withSomeComponent(wishes: Wishes, chance: Chance, change: (spec: ComponentSpec) => ComponentSpec): Wishes {
  if (wishes.components.size === 0) return wishes;
  const [name, spec] = chance.pick([...wishes.components]);
  return withComponent(wishes, name, change(spec));
}

function anyComponent(identity: Pick<ComponentSpec, 'serviceId' | 'from'>, chance: Chance): ComponentSpec {
  const ports = PORTS.filter(() => chance.happens(0.4)).map((port) => anyPort(chance, port));
  return {
    application: 'shop',
    ...identity,
    ports: ports.length === 0 ? [anyPort(chance, 8080)] : ports,
    unlistedPorts: chance.happens(0.7) ? 'keep' : chance.pick(['close', 'delete']),
    ...(chance.happens(0.2) ? { serviceName: chance.pick(['front', 'back', 'side']) } : {}),
  };
}

/** Most ports are fully described, as people write them; some leave a field to the platform. */
function anyPort(chance: Chance, port: number): PortSpec {
  const outer = chance.happens(0.5);
  const says = (): boolean => chance.happens(0.9);
  return {
    port,
    ...(says() ? { protocol: chance.happens(0.7) ? 'http' : chance.pick(PROTOCOLS) } : {}),
    ...(chance.happens(0.5) ? { alias: chance.pick(['ALPHA', 'BETA', 'GAMMA', 'DELTA', 'OMEGA']) } : {}),
    ...(says() ? { inner: outer || chance.happens(0.6) } : {}),
    ...(says() ? { outer } : {}),
  };
}

function anyFields(chance: Chance): Partial<HttpGatewayRuleSpec> {
  return {
    ...(chance.happens(0.6) ? { weight: chance.pick([100, 50, 10]) } : {}),
    ...(chance.happens(0.1) ? { cookie: 'a=b' } : {}),
    ...(chance.happens(0.05) ? { header: 'x=y' } : {}),
    ...(chance.happens(0.2) ? { autoSsl: { enabled: chance.happens(0.5) } } : {}),
    ...(chance.happens(0.2) ? { configuration: { proxyBodySize: chance.pick([1, 10]) } } : {}),
  };
}
