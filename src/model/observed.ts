/**
 * What the platform answered, decoded by allow-list: nouns in our own words. A field the server left out or sent as
 * null is `null` here, never `undefined`. Each line names the API field it comes from where the words differ.
 */

export type PortProtocol = 'tcp' | 'http' | 'mysql' | 'grpc' | 'udp';

/** `0` editing, `1` enabled, `2` disabled, `3` under maintenance; anything else is kept as it came. */
export type RegionStatusText = string;

/** Certificates and keys of the region record (`ssl_ca_cert`, `cert_file`, `key_file`) never leave the decoder. */
export interface Region {
  readonly id: string | null;
  readonly name: string;
  readonly alias: string;
  readonly url: string;
  readonly websocketUrl: string | null;
  readonly httpDomain: string | null;
  readonly tcpDomain: string | null;
  readonly status: RegionStatusText;
  readonly description: string;
  readonly scope: string | null;
}

export interface ApplicationRecord {
  /** `app_id`; the listing of a team calls it `ID`. */
  readonly appId: number;
  /** `group_name` */
  readonly name: string;
  readonly team: string;
  readonly tenantId: string;
  readonly region: string;
  readonly enterpriseId: string;
  /** `running`, `part_running`, `closed`. "closed" may also mean that the cluster could not be asked. */
  readonly status: string;
  readonly componentCount: number;
  readonly runningComponentCount: number;
  /** `used_momory`, MiB */
  readonly usedMemoryMib: number | null;
  /** `used_cpu`, thousandths of a core, often a fraction */
  readonly usedCpuMillis: number | null;
  readonly isDefault: boolean | null;
  readonly orderIndex: number | null;
  readonly note: string | null;
  readonly principal: string | null;
  readonly governanceMode: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly appType: string | null;
  readonly storeName: string | null;
  readonly storeUrl: string | null;
  readonly templateName: string | null;
  readonly helmVersion: string | null;
  readonly logo: string | null;
  readonly k8sApp: string | null;
}

/** One row of a team's application listing (extended dialect). */
export interface ApplicationSummary {
  readonly appId: number;
  readonly name: string;
  readonly k8sApp: string | null;
}

/** A rule of the listing of all rules, with the application that it belongs to. */
export interface PlacedRule {
  readonly team: string;
  readonly region: string;
  readonly appId: number;
  readonly rule: RuleRecord;
}

/** A certificate of a team, as the listing shows it: without its key, which nothing here ever asks for. */
export interface CertificateRecord {
  readonly id: number;
  readonly alias: string;
  /** Domains; empty where the server does not say. */
  readonly issuedTo: readonly string[];
  /** As the server writes it, in its own time zone. */
  readonly expiresAt: string | null;
  readonly hasExpired: boolean | null;
}

/** A build of a component. */
export interface BuildEvent {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly startedMs: number | null;
  /** Of the platform; empty where it says nothing. */
  readonly message: string;
}

/** `ServiceBaseInfo`: a component. Every field of section 2.8. */
export interface ComponentRecord {
  readonly serviceId: string;
  readonly serviceKey: string;
  readonly alias: string;
  /** `service_cname` */
  readonly displayName: string | null;
  /** Tells the components of one install from those of another; 0 or null for none. */
  readonly installGroupId: number | null;
  readonly k8sComponentName: string;
  readonly tenantId: string;
  readonly region: string;
  readonly status: string | null;
  readonly createStatus: string | null;
  readonly accessInfos: readonly string[];
  readonly description: string | null;
  readonly category: string;
  readonly version: string;
  readonly updateVersion: number | null;
  readonly image: string;
  readonly command: string | null;
  readonly minNodes: number | null;
  readonly minCpuMillis: number | null;
  readonly gpu: number | null;
  readonly minMemoryMib: number | null;
  readonly totalMemoryMib: number | null;
  readonly extendMethod: string | null;
  readonly codeFrom: string | null;
  readonly gitUrl: string | null;
  readonly gitProjectId: number | null;
  readonly codeVersion: string | null;
  readonly serviceType: string | null;
  readonly creatorId: number | null;
  readonly language: string | null;
  readonly isInner: boolean | null;
  readonly origin: string | null;
  readonly source: string | null;
  readonly autoDeploy: boolean | null;
  readonly checkUuid: string | null;
  readonly checkEventId: string | null;
  readonly dockerCommand: string | null;
  readonly repositoryType: string | null;
  /** `is_upgrate` */
  readonly upgradable: boolean | null;
  readonly upgradeOnBuild: boolean | null;
  readonly oauthServiceId: number | null;
}

export interface PortRecord {
  readonly port: number;
  /** As the server says; a documented value in every answer seen. */
  readonly protocol: string;
  readonly alias: string;
  readonly inner: boolean;
  readonly outer: boolean;
  /** `k8s_service_name`: a real server keeps one for all ports of a component. */
  readonly serviceName: string;
}

/** One entry of `rule_extensions`. */
export interface RuleExtension {
  readonly key: string;
  readonly value: string;
}

/** A TCP rule: how a port that is not http is reached from outside. */
export interface TcpEndpoint {
  readonly serviceId: string;
  readonly port: number;
  /** `end_point`: host and port under which the platform publishes it. */
  readonly endpoint: string;
  readonly protocol: string;
  /** false: the platform keeps the row and does not serve it. */
  readonly outer: boolean;
}

/** `HTTPGatewayRule`. Every field of section 2.5; nullable throughout, because the documents do not say what is required. */
export interface RuleRecord {
  /** `http_rule_id`: the id that GET, PUT and DELETE take. Never empty here: a blank record decodes to "absent". */
  readonly ruleId: string;
  /** `ID` */
  readonly rowId: number | null;
  readonly serviceId: string;
  readonly port: number;
  readonly domain: string;
  /** `""` for the platform's default rule. */
  readonly path: string;
  readonly protocol: string;
  readonly certificateId: number | null;
  readonly weight: number | null;
  readonly cookie: string;
  /** `domain_heander` */
  readonly header: string;
  readonly autoSsl: boolean;
  readonly autoSslConfig: string | null;
  /** `rule_extensions`. Absent where the answer does not show them: only the listing of all rules does. */
  readonly extensions?: readonly RuleExtension[];
  /** 0: made by the platform when outer was opened; 1: made by someone. */
  readonly type: number | null;
  readonly outer: boolean;
  readonly isSenior: boolean | null;
  readonly domainType: string | null;
  readonly pathRewrite: boolean | null;
  /** A string or a list on the wire; as JSON text here. */
  readonly rewrites: string | null;
  readonly regionId: string | null;
  readonly tenantId: string | null;
  /** Component alias: `service_name` on the wire. */
  readonly componentAlias: string | null;
  /** Component display name: `service_alias` on the wire. */
  readonly componentName: string | null;
  /** Only in the enterprise-wide listing. */
  readonly team: string | null;
  readonly region: string | null;
  readonly appId: number | null;
}

/** One entry of `GET @/upgrade` (extended): a model installed in the application. Two copies are two equal entries. */
export interface InstalledModel {
  readonly modelId: string;
  /** Stays old after an upgrade: never compared with what we asked for. */
  readonly reportedVersion: string | null;
  readonly upgradeVersions: readonly string[];
  readonly name: string | null;
  /** The platform's own name of the store it came from: an upgrade must repeat it. */
  readonly marketName: string | null;
  /** The install group, where the server says so. */
  readonly installGroupId: number | null;
}

/** `MarketInstall` */
export interface InstallRecord {
  readonly enterpriseId: string;
  readonly teamId: string;
  readonly note: string;
  readonly appId: number;
  readonly region: string;
  /** All components of the application, not only the new ones. */
  readonly components: readonly ComponentRecord[];
}

/** One series of one monitoring item of one component. */
export interface MonitorSeries {
  /** `[epoch seconds, value]`; empty where the server lost the samples. */
  readonly samples: readonly (readonly [number, number])[];
}

/** One series of a region's metrics, of one component. */
export interface ComponentSeries extends MonitorSeries {
  readonly serviceId: string;
}

export interface MonitorItem {
  readonly name: string;
  readonly status: string | null;
  readonly resultType: string | null;
  readonly series: readonly MonitorSeries[];
}

export interface ComponentMonitor {
  readonly serviceId: string;
  readonly componentName: string;
  readonly componentAlias: string;
  /** null: the server sent null. */
  readonly items: readonly MonitorItem[] | null;
}
