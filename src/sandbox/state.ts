import { type Change, type ChangeLog, Table, type TableShape } from './table.ts';

export interface RegionRow {
  readonly id: string;
  readonly name: string;
  readonly alias: string;
  readonly url: string;
  readonly websocketUrl: string | null;
  readonly httpDomain: string | null;
  readonly tcpDomain: string | null;
  /** Under which default rules are made, whether the region record shows it or not. */
  readonly ruleDomain: string;
  readonly status: string;
  readonly description: string;
  /** A secret, which the regions of a team show. */
  readonly token?: string;
  /** false: the cluster behind the server cannot be asked. */
  readonly reachable: boolean;
}

export interface TeamRow {
  readonly id: string;
  readonly name: string;
  /** Names of the regions the team is set up in. */
  readonly regions: readonly string[];
}

export interface ApplicationRow {
  readonly id: number;
  readonly teamId: string;
  readonly region: string;
  readonly name: string;
  readonly k8sApp: string;
  readonly note: string;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/**
 * `steady` says its own status; `building` is `creating` until `readyAtMs`, and after it `running`, or `undeploy` if
 * the build fails.
 */
export type ComponentLife =
  | { readonly type: 'steady'; readonly status: string }
  | { readonly type: 'building'; readonly readyAtMs: number; readonly fails?: boolean };

export interface ComponentRow {
  readonly id: string;
  readonly appId: number;
  readonly teamId: string;
  readonly region: string;
  readonly alias: string;
  readonly name: string;
  readonly key: string;
  readonly k8sName: string;
  readonly image: string;
  readonly version: string;
  readonly updateVersion: number;
  /** Id of the install it came with; 0 for none. */
  readonly groupId: number;
  readonly memoryMib: number;
  readonly cpuMillis: number;
  readonly nodes: number;
  readonly source: string;
  /** Has the performance plugin, without which it is absent from monitoring. */
  readonly monitored: boolean;
  readonly life: ComponentLife;
  /** Members of its record that mean nothing to the sandbox, as they are shown: `desc`, `language`, … */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface PortRow {
  readonly serviceId: string;
  readonly port: number;
  readonly protocol: string;
  readonly alias: string;
  readonly inner: boolean;
  readonly outer: boolean;
  readonly serviceName: string;
}

export interface RuleRow {
  /** `http_rule_id` */
  readonly id: string;
  /** `ID` */
  readonly row: number;
  readonly appId: number;
  readonly teamId: string;
  readonly serviceId: string;
  readonly port: number;
  readonly domain: string;
  readonly path: string;
  readonly protocol: string;
  readonly certificateId: number;
  readonly cookie: string;
  readonly header: string;
  readonly weight: number;
  readonly senior: boolean;
  readonly autoSsl: boolean;
  readonly autoSslConfig: string | null;
  /** 0: made by the platform when outer was opened; 1: made by someone. */
  readonly type: number;
  readonly outer: boolean;
  /** The values as sent: strings in the documented dialect, `{key,value}` in the extended one. */
  readonly extensions: readonly unknown[];
  readonly configuration: object | null;
  readonly rewrites: string;
}

/** A port that is not http, at a port of the nodes. Outer access makes one, and only a deletion of the port ends it. */
export interface TcpRuleRow {
  /** `tcp_rule_id` */
  readonly id: string;
  /** `ID` */
  readonly row: number;
  readonly serviceId: string;
  readonly port: number;
  readonly nodePort: number;
  /** The protocol of the port when outer access was last opened; a later change of the protocol does not change it. */
  readonly protocol: string;
  readonly outer: boolean;
}

/** One build of a component. */
export interface EventRow {
  readonly id: string;
  readonly serviceId: string;
  readonly startedMs: number;
  readonly endsMs: number;
  /** Why the build fails; null: it does not. */
  readonly failure: string | null;
}

/** One install: what `tenant_service_group_id` of its components points to. */
export interface InstallRow {
  readonly id: number;
  readonly appId: number;
  readonly storeUrl: string;
  readonly storeDomain: string;
  readonly modelId: string;
  /** The version it was installed with; an upgrade leaves it. */
  readonly version: string;
}

export interface CertificateRow {
  readonly id: number;
  readonly teamId: string;
  readonly alias: string;
  readonly issuedTo: readonly string[];
  readonly expiresMs: number;
}

/** The behaviour of a store: it checks keys, or answers every request alike. */
export const storeAnswers = ['keys', 'unreachable', 401, 403, 500] as const;
export type StoreAnswer = (typeof storeAnswers)[number];

/** A store in the world, which the server asks. */
export interface StoreRow {
  readonly url: string;
  readonly domain: string;
  /** Its name in the server's own listing: `market_name`. */
  readonly marketName: string;
  /** SHA-256 of the accepted access keys, hex; none: every key is accepted. */
  readonly keyHashes: readonly string[];
  readonly answers: StoreAnswer;
}

/** The server's record of a store since the first install from it, even a failed one. */
export interface MarketRow {
  readonly url: string;
  readonly domain: string;
  /** `market_name` */
  readonly name: string;
  /** SHA-256 of the first access key that was sent, which every later request to the store uses; null: it was null. */
  readonly keyHash: string | null;
}

export interface ModelPort {
  readonly port: number;
  readonly protocol: string;
  readonly alias: string | null;
  readonly inner: boolean;
  readonly outer: boolean;
}

export interface ModelComponent {
  readonly key: string;
  readonly name: string;
  /** Its name in the cluster; null: the alias that the platform makes. */
  readonly k8sName: string | null;
  readonly image: string;
  readonly memoryMib: number;
  readonly cpuMillis: number;
  readonly ports: readonly ModelPort[];
  /** Why its build fails; null: it does not. */
  readonly buildFailure: string | null;
}

export interface ModelVersion {
  readonly version: string;
  readonly components: readonly ModelComponent[];
}

export interface ModelRow {
  readonly storeUrl: string;
  readonly storeDomain: string;
  readonly id: string;
  readonly name: string;
  /** Oldest first. */
  readonly versions: readonly ModelVersion[];
}

/** Facts of the whole server. */
export interface SettingsRow {
  readonly enterpriseId: string;
  readonly principal: string;
  /** `lossy`: the real server, whose range queries lose every sample. */
  readonly monitoring: 'traffic' | 'lossy';
  /** The time from the build of a component until it runs. */
  readonly startAfterMs: number;
}

/** The next number of a sequence. */
export interface CounterRow {
  readonly name: string;
  readonly next: number;
}

const settingsKey = 'settings';

function shape<Row extends object>(
  name: string,
  key: (row: Row) => string,
  groups: Record<string, (row: Row) => string> = {},
): TableShape<Row> {
  return { name, key, groups };
}

export function portKey(serviceId: string, port: number): string {
  return `${serviceId}/${port}`;
}

export function storeKey(url: string, domain: string): string {
  return `${url} ${domain}`;
}

export function modelKey(url: string, domain: string, id: string): string {
  return `${storeKey(url, domain)} ${id}`;
}

const shapes = {
  settings: shape<SettingsRow>('settings', () => settingsKey),
  counters: shape<CounterRow>('counters', (row) => row.name),
  regions: shape<RegionRow>('regions', (row) => row.name),
  teams: shape<TeamRow>('teams', (row) => row.id, { name: (row) => row.name }),
  applications: shape<ApplicationRow>('applications', (row) => String(row.id), { team: (row) => row.teamId }),
  components: shape<ComponentRow>('components', (row) => row.id, {
    application: (row) => String(row.appId),
    alias: (row) => `${row.teamId} ${row.alias}`,
  }),
  ports: shape<PortRow>('ports', (row) => portKey(row.serviceId, row.port), {
    component: (row) => row.serviceId,
    serviceName: (row) => row.serviceName,
  }),
  rules: shape<RuleRow>('rules', (row) => row.id, {
    application: (row) => String(row.appId),
    port: (row) => portKey(row.serviceId, row.port),
    domain: (row) => row.domain.toLowerCase(),
  }),
  tcpRules: shape<TcpRuleRow>('tcpRules', (row) => row.id, {
    component: (row) => row.serviceId,
    port: (row) => portKey(row.serviceId, row.port),
  }),
  events: shape<EventRow>('events', (row) => row.id, { component: (row) => row.serviceId }),
  installs: shape<InstallRow>('installs', (row) => String(row.id), { application: (row) => String(row.appId) }),
  certificates: shape<CertificateRow>('certificates', (row) => String(row.id)),
  stores: shape<StoreRow>('stores', (row) => storeKey(row.url, row.domain)),
  markets: shape<MarketRow>('markets', (row) => storeKey(row.url, row.domain)),
  models: shape<ModelRow>('models', (row) => modelKey(row.storeUrl, row.storeDomain, row.id)),
};

/**
 * All that the server knows, as tables of immutable rows. `handle` changes it in place and says what it changed;
 * `clone` gives an independent copy (a simulator forks worlds with it).
 */
export class SandboxState {
  readonly #log: ChangeLog = { changes: [] };
  readonly settings: Table<SettingsRow>;
  readonly counters: Table<CounterRow>;
  readonly regions: Table<RegionRow>;
  readonly teams: Table<TeamRow>;
  readonly applications: Table<ApplicationRow>;
  readonly components: Table<ComponentRow>;
  readonly ports: Table<PortRow>;
  readonly rules: Table<RuleRow>;
  readonly tcpRules: Table<TcpRuleRow>;
  readonly events: Table<EventRow>;
  readonly installs: Table<InstallRow>;
  readonly certificates: Table<CertificateRow>;
  readonly stores: Table<StoreRow>;
  readonly markets: Table<MarketRow>;
  readonly models: Table<ModelRow>;

  constructor(from?: SandboxState) {
    this.settings = new Table(shapes.settings, this.#log, from?.settings);
    this.counters = new Table(shapes.counters, this.#log, from?.counters);
    this.regions = new Table(shapes.regions, this.#log, from?.regions);
    this.teams = new Table(shapes.teams, this.#log, from?.teams);
    this.applications = new Table(shapes.applications, this.#log, from?.applications);
    this.components = new Table(shapes.components, this.#log, from?.components);
    this.ports = new Table(shapes.ports, this.#log, from?.ports);
    this.rules = new Table(shapes.rules, this.#log, from?.rules);
    this.tcpRules = new Table(shapes.tcpRules, this.#log, from?.tcpRules);
    this.events = new Table(shapes.events, this.#log, from?.events);
    this.installs = new Table(shapes.installs, this.#log, from?.installs);
    this.certificates = new Table(shapes.certificates, this.#log, from?.certificates);
    this.stores = new Table(shapes.stores, this.#log, from?.stores);
    this.markets = new Table(shapes.markets, this.#log, from?.markets);
    this.models = new Table(shapes.models, this.#log, from?.models);
  }

  /** An independent copy; changes to one are not seen by the other. */
  clone(): SandboxState {
    return new SandboxState(this);
  }

  /** The changes since the last call, oldest first. */
  takeChanges(): readonly Change[] {
    const { changes } = this.#log;
    if (changes.length > 0) this.#log.changes = [];
    return changes;
  }

  /** Goes back to before `changes`. They must be the latest ones, as `takeChanges` gave them. */
  revert(changes: readonly Change[]): void {
    for (const { table, key, before } of changes.toReversed()) this.tableNamed(table)?.restore(key, before);
  }

  /** Goes forward again over changes that were reverted, or that were loaded. */
  reapply(changes: readonly Change[]): void {
    for (const { table, key, after } of changes) this.tableNamed(table)?.restore(key, after);
  }

  tableNamed(name: string): Table<object> | undefined {
    return Object.hasOwn(shapes, name) ? (this[name as keyof typeof shapes] as Table<object>) : undefined;
  }

  /** Every table as plain JSON values: `{ ports: [...], … }`. The only secrets in it are the tokens of regions. */
  dump(): Record<string, readonly object[]> {
    const names = Object.keys(shapes) as (keyof typeof shapes)[];
    return Object.fromEntries(names.map((name) => [name, [...this[name].all()]]));
  }

  get facts(): SettingsRow {
    const row = this.settings.get(settingsKey);
    if (row === undefined) throw new Error('the sandbox has no settings: it was never seeded');
    return row;
  }

  /** The next number of a sequence, counting from 1. */
  nextNumber(name: string): number {
    const number = this.counters.get(name)?.next ?? 1;
    this.counters.put({ name, next: number + 1 });
    return number;
  }
}
