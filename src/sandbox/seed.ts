import { accessKeyHash } from './installs.ts';
import { openOuter } from './ports.ts';
import { isSenior } from './rule-rows.ts';
import { type ComponentRow, type PortRow, type RuleRow, SandboxState, type StoreAnswer } from './state.ts';

/** The initial state of a sandbox: a JSON value that people write. `checkSeed` fills in the defaults. */
export interface Seed {
  readonly enterprise: { readonly id: string; readonly principal?: string };
  /** Default `traffic`; `lossy` is the real server, whose range queries lose every sample. */
  readonly monitoring?: 'traffic' | 'lossy';
  /** Milliseconds until a component that is built runs. Default 3000. */
  readonly startAfterMs?: number;
  readonly regions: readonly SeedRegion[];
  readonly teams: readonly SeedTeam[];
  readonly applications?: readonly SeedApplication[];
  readonly certificates?: readonly SeedCertificate[];
  readonly stores?: readonly SeedStore[];
}

export interface SeedCertificate {
  readonly id: number;
  readonly team: string;
  readonly alias: string;
  /** Domains. Default: one after the alias, and `www.example.com`. */
  readonly issuedTo?: readonly string[];
  /** ISO 8601. Default 2099-01-01T00:00:00Z. */
  readonly expiresAt?: string;
}

export interface SeedRegion {
  readonly id: string;
  readonly name: string;
  readonly alias?: string;
  readonly url?: string;
  readonly websocketUrl?: string;
  readonly httpDomain?: string;
  readonly tcpDomain?: string;
  /** Root of the domains of default rules. Default: `httpDomain`, else `<name>.example.com`. */
  readonly ruleDomain?: string;
  /** Default `1`. */
  readonly status?: string;
  readonly description?: string;
  /** The secret that the regions of a team show. Default: empty. */
  readonly token?: string;
  /** Default true. */
  readonly reachable?: boolean;
}

export interface SeedTeam {
  readonly id: string;
  readonly name: string;
  /** Default: every region. */
  readonly regions?: readonly string[];
}

export interface SeedApplication {
  readonly id: number;
  readonly team: string;
  readonly region: string;
  readonly name: string;
  /** Default: the name. */
  readonly k8sApp?: string;
  readonly note?: string;
  /** ISO 8601. Default 2024-01-01T00:00:00Z. */
  readonly createdAt?: string;
  readonly components?: readonly SeedComponent[];
  readonly rules?: readonly SeedRule[];
}

export interface SeedComponent {
  /** 32 lower-case hex characters. */
  readonly id: string;
  /** Default `gr` and the first six characters of the id. */
  readonly alias?: string;
  readonly name: string;
  readonly k8sName?: string;
  /** `service_key`. Default `application`. */
  readonly key?: string;
  readonly image?: string;
  readonly version?: string;
  /** Default `running`. */
  readonly status?: string;
  readonly memoryMib?: number;
  readonly cpuMillis?: number;
  /** Default true. */
  readonly monitored?: boolean;
  /** `k8s_service_name` of all its ports. Default: the alias. */
  readonly serviceName?: string;
  /** Members of its record that mean nothing to the sandbox, as they are to be shown: `{ "desc": null }`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly ports?: readonly SeedPort[];
}

export interface SeedPort {
  readonly port: number;
  /** Default `http`. */
  readonly protocol?: string;
  /** Default: the component's alias in upper case and the port. */
  readonly alias?: string;
  readonly inner?: boolean;
  readonly outer?: boolean;
}

export interface SeedRule {
  /** Default: derived from the order in the seed. */
  readonly id?: string;
  /** Id of a component of the application. */
  readonly component: string;
  readonly port: number;
  readonly domain: string;
  readonly path?: string;
  readonly weight?: number;
  readonly cookie?: string;
  readonly header?: string;
  readonly certificateId?: number;
  readonly autoSsl?: boolean;
  readonly extensions?: readonly unknown[];
}

export interface SeedStore {
  readonly url: string;
  readonly domain: string;
  /** The name that the server gives it with the first install from it. Default: the domain. */
  readonly marketName?: string;
  /** Accepted access keys; none: every key. Kept as hashes only. */
  readonly accessKeys?: readonly string[];
  /** `unreachable`, or the status of every answer. Default `keys`: the answer depends on the access key. */
  readonly answers?: StoreAnswer;
  readonly models: readonly SeedModel[];
}

export interface SeedModel {
  readonly id: string;
  readonly name: string;
  /** Oldest first. */
  readonly versions: readonly { readonly version: string; readonly components: readonly SeedModelComponent[] }[];
}

export interface SeedModelComponent {
  readonly key: string;
  readonly name: string;
  /** Its name in the cluster. Default: the alias that the platform makes. */
  readonly k8sName?: string;
  readonly image: string;
  readonly memoryMib?: number;
  readonly cpuMillis?: number;
  readonly ports?: readonly SeedPort[];
  /** Why its build fails. Default: it does not. */
  readonly buildFailure?: string;
}

const EXPIRES_AT = '2099-01-01T00:00:00Z';
const START_AFTER_MS = 3000;
const CREATED_AT = '2024-01-01T00:00:00Z';
const MEMORY_MIB = 128;
const CPU_MILLIS = 100;

/** The state a seed describes. The seed must have passed `checkSeed`. */
export function stateOf(seed: Seed): SandboxState {
  const state = new SandboxState();
  state.settings.put({
    enterpriseId: seed.enterprise.id,
    principal: seed.enterprise.principal ?? 'admin',
    monitoring: seed.monitoring ?? 'traffic',
    startAfterMs: seed.startAfterMs ?? START_AFTER_MS,
  });
  for (const region of seed.regions) putRegion(state, region);
  const allRegions = seed.regions.map((region) => region.name);
  for (const team of seed.teams) state.teams.put({ ...team, regions: team.regions ?? allRegions });
  for (const certificate of seed.certificates ?? []) {
    const {
      id,
      alias,
      issuedTo = [alias.includes('.') ? alias : `${alias}.example.com`, 'www.example.com'],
    } = certificate;
    const expiresMs = Date.parse(certificate.expiresAt ?? EXPIRES_AT);
    state.certificates.put({ id, alias, teamId: teamId(seed, certificate.team), issuedTo, expiresMs });
  }
  for (const store of seed.stores ?? []) putStore(state, store);
  for (const application of seed.applications ?? []) putApplication(state, seed, application);
  const last = (seed.applications ?? []).reduce((highest, { id }) => Math.max(highest, id), 0);
  state.counters.put({ name: 'application', next: last + 1 });
  state.takeChanges();
  return state;
}

function teamId(seed: Seed, name: string): string {
  return seed.teams.find((team) => team.name === name)?.id ?? name;
}

function putRegion(state: SandboxState, region: SeedRegion): void {
  state.regions.put({
    id: region.id,
    name: region.name,
    alias: region.alias ?? region.name,
    url: region.url ?? 'https://region.example.com',
    websocketUrl: region.websocketUrl ?? null,
    httpDomain: region.httpDomain ?? null,
    tcpDomain: region.tcpDomain ?? null,
    ruleDomain: region.ruleDomain ?? region.httpDomain ?? `${region.name}.example.com`,
    status: region.status ?? '1',
    description: region.description ?? '',
    token: region.token ?? '',
    reachable: region.reachable ?? true,
  });
}

function putStore(state: SandboxState, store: SeedStore): void {
  const { url, domain, marketName = domain, accessKeys = [], answers = 'keys', models } = store;
  state.stores.put({ url, domain, marketName, keyHashes: accessKeys.map(accessKeyHash), answers });
  for (const model of models) {
    const versions = model.versions.map(({ version, components }) => ({
      version,
      components: components.map((component) => ({
        key: component.key,
        name: component.name,
        k8sName: component.k8sName ?? null,
        image: component.image,
        memoryMib: component.memoryMib ?? MEMORY_MIB,
        cpuMillis: component.cpuMillis ?? CPU_MILLIS,
        buildFailure: component.buildFailure ?? null,
        ports: (component.ports ?? []).map((port) => ({
          port: port.port,
          protocol: port.protocol ?? 'http',
          alias: port.alias ?? null,
          inner: port.inner ?? false,
          outer: port.outer ?? false,
        })),
      })),
    }));
    state.models.put({ storeUrl: url, storeDomain: domain, id: model.id, name: model.name, versions });
  }
}

function putApplication(state: SandboxState, seed: Seed, application: SeedApplication): void {
  const createdMs = Date.parse(application.createdAt ?? CREATED_AT);
  const team = teamId(seed, application.team);
  state.applications.put({
    id: application.id,
    teamId: team,
    region: application.region,
    name: application.name,
    k8sApp: application.k8sApp ?? application.name,
    note: application.note ?? '',
    createdMs,
    updatedMs: createdMs,
  });
  for (const component of application.components ?? []) putComponent(state, application, team, component);
  for (const rule of application.rules ?? []) putRule(state, application.id, team, rule);
  publishOuterPorts(state, application);
}

function putComponent(state: SandboxState, application: SeedApplication, team: string, from: SeedComponent): void {
  const alias = from.alias ?? `gr${from.id.slice(0, 6)}`;
  const component: ComponentRow = {
    id: from.id,
    appId: application.id,
    teamId: team,
    region: application.region,
    alias,
    name: from.name,
    key: from.key ?? 'application',
    k8sName: from.k8sName ?? from.name,
    image: from.image ?? 'nginx:latest',
    version: from.version ?? 'latest',
    updateVersion: 1,
    groupId: 0,
    memoryMib: from.memoryMib ?? MEMORY_MIB,
    cpuMillis: from.cpuMillis ?? CPU_MILLIS,
    nodes: 1,
    source: 'docker_image',
    monitored: from.monitored ?? true,
    life: { type: 'steady', status: from.status ?? 'running' },
    ...(from.details === undefined ? {} : { details: from.details }),
  };
  state.components.put(component);
  for (const port of from.ports ?? []) {
    const row: PortRow = {
      serviceId: from.id,
      port: port.port,
      protocol: port.protocol ?? 'http',
      alias: port.alias ?? `${alias.toUpperCase()}${port.port}`,
      inner: port.inner ?? false,
      outer: port.outer ?? false,
      serviceName: from.serviceName ?? alias,
    };
    state.ports.put(row);
  }
}

function putRule(state: SandboxState, appId: number, team: string, rule: SeedRule): void {
  const row = state.nextNumber('rule');
  const { path = '/', cookie = '', header = '', certificateId = 0 } = rule;
  const seeded: RuleRow = {
    id: rule.id ?? seededId('rule', row),
    row,
    appId,
    teamId: team,
    serviceId: rule.component,
    port: rule.port,
    domain: rule.domain,
    path,
    protocol: certificateId === 0 ? 'http' : 'https',
    certificateId,
    cookie,
    header,
    weight: rule.weight ?? 100,
    senior: isSenior(path, cookie, header),
    autoSsl: rule.autoSsl ?? false,
    autoSslConfig: null,
    type: 1,
    outer: state.ports.get(`${rule.component}/${rule.port}`)?.outer ?? false,
    extensions: rule.extensions ?? [],
    configuration: null,
    rewrites: '[]',
  };
  state.rules.put(seeded);
}

/** An outer port has a rule of its kind, as it would on a server where someone opened it. */
function publishOuterPorts(state: SandboxState, application: SeedApplication): void {
  for (const { id } of application.components ?? []) {
    const component = state.components.get(id);
    if (component === undefined) continue;
    for (const port of state.ports.in('component', id)) {
      if (!port.outer) continue;
      const sequence = port.protocol === 'http' ? 'rule' : 'tcp-rule';
      const newId = (): string => seededId(sequence, state.counters.get(sequence)?.next ?? 1);
      openOuter(state, { nowMs: 0, newId, dialect: 'extended', token: null }, component, port);
    }
  }
}

/** Ids of seeded rules must not depend on chance: the same seed is the same state. */
function seededId(sequence: 'rule' | 'tcp-rule', row: number): string {
  const prefix = sequence === 'rule' ? '5eed' : '5eed7c';
  return `${prefix}${row.toString(16).padStart(32 - prefix.length, '0')}`;
}
