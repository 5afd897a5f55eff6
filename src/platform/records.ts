import { type Decoded, decides, shown } from './record-fields.ts';

/**
 * Every field that is read of every record. Other fields never leave the decoder. A field on which a plan, a guard, a proof or an
 * outcome depends is read strictly: a value of another type is schema drift. Other fields are read leniently, because an odd value
 * must not make an application unmanageable: a server reports a share of a CPU as 23.4375.
 */

/** The fields of a region, without its keys to the cluster: `ssl_ca_cert`, `cert_file`, `key_file` and `token`. */
export const regionTable = {
  id: shown('region_id', 'id', null),
  name: decides('region_name', 'text'),
  alias: shown('region_alias', 'text', ''),
  url: shown('url', 'text', ''),
  websocketUrl: shown('wsurl', 'text', null),
  httpDomain: shown('httpdomain', 'text', null),
  tcpDomain: shown('tcpdomain', 'text', null),
  status: decides('status', 'code'),
  description: shown('desc', 'text', ''),
  scope: shown('scope', 'text', null),
};

/** The fields of an application. Some servers send them raw: `app_id` as a text, fractions, and other forms of times. */
export const applicationTable = {
  appId: decides('app_id', 'decimal'),
  name: decides('group_name', 'text'),
  team: decides('team_name', 'text'),
  region: decides('region_name', 'text'),
  status: decides('status', 'text'),
  componentCount: decides('service_count', 'integer'),
  runningComponentCount: decides('running_service_count', 'integer'),
  tenantId: shown('tenant_id', 'id', ''),
  enterpriseId: shown('enterprise_id', 'id', ''),
  usedMemoryMib: shown('used_momory', 'number', null),
  usedCpuMillis: shown('used_cpu', 'number', null),
  isDefault: shown('is_default', 'flag', null),
  orderIndex: shown('order_index', 'number', null),
  note: shown('note', 'text', null),
  principal: shown('username', 'text', null),
  governanceMode: shown('governance_mode', 'text', null),
  createdAt: shown('create_time', 'text', ''),
  updatedAt: shown('update_time', 'text', ''),
  appType: shown('app_type', 'text', null),
  storeName: shown('app_store_name', 'text', null),
  storeUrl: shown('app_store_url', 'text', null),
  templateName: shown('app_template_name', 'text', null),
  helmVersion: shown('version', 'text', null),
  logo: shown('logo', 'text', null),
  k8sApp: shown('k8s_app', 'text', null),
};

export const summaryTable = {
  appId: decides(['ID', 'app_id'], 'decimal'),
  name: decides('group_name', 'text'),
  k8sApp: shown('k8s_app', 'text', null),
};

/** The fields of a certificate in the listing. */
export const certificateTable = {
  id: decides('id', 'integer'),
  alias: decides('alias', 'text', ''),
  issuedTo: shown('issued_to', 'texts', []),
  expiresAt: shown('end_data', 'text', null),
  hasExpired: shown('has_expired', 'flag', null),
};

export const componentTable = {
  serviceId: decides('service_id', 'id'),
  serviceKey: decides('service_key', 'text'),
  alias: decides('service_alias', 'text'),
  displayName: decides('service_cname', 'text', null),
  installGroupId: decides('tenant_service_group_id', 'integer', null),
  k8sComponentName: decides('k8s_component_name', 'text', ''),
  // An upgrade changes the image, and nothing else shows the upgrade.
  image: decides('image', 'text', ''),
  tenantId: shown('tenant_id', 'id', ''),
  region: shown('service_region', 'text', ''),
  status: shown('status', 'text', null),
  createStatus: shown('create_status', 'text', null),
  accessInfos: shown('access_infos', 'texts', []),
  description: shown('desc', 'text', null),
  category: shown('category', 'text', ''),
  version: shown('version', 'text', ''),
  updateVersion: shown('update_version', 'number', null),
  command: shown('cmd', 'text', null),
  minNodes: shown('min_node', 'number', null),
  minCpuMillis: shown('min_cpu', 'number', null),
  gpu: shown('container_gpu', 'number', null),
  minMemoryMib: shown('min_memory', 'number', null),
  totalMemoryMib: shown('total_memory', 'number', null),
  extendMethod: shown('extend_method', 'text', null),
  codeFrom: shown('code_from', 'text', null),
  gitUrl: shown('git_url', 'text', null),
  gitProjectId: shown('git_project_id', 'number', null),
  codeVersion: shown('code_version', 'text', null),
  serviceType: shown('service_type', 'text', null),
  creatorId: shown('creater', 'number', null),
  language: shown('language', 'text', null),
  isInner: shown('is_service', 'flag', null),
  origin: shown('service_origin', 'text', null),
  source: shown('service_source', 'text', null),
  autoDeploy: shown('open_webhooks', 'flag', null),
  checkUuid: shown('check_uuid', 'text', null),
  checkEventId: shown('check_event_id', 'text', null),
  dockerCommand: shown('docker_cmd', 'text', null),
  repositoryType: shown('server_type', 'text', null),
  upgradable: shown('is_upgrate', 'flag', null),
  upgradeOnBuild: shown('build_upgrade', 'flag', null),
  oauthServiceId: shown('oauth_service_id', 'number', null),
};

/** The fields of a monitored component. Its items have their own table; `decode-monitor.ts` reads samples. */
export const monitoredTable = {
  serviceId: decides('service_id', 'id'),
  componentName: shown('service_cname', 'text', ''),
  componentAlias: shown('service_alias', 'text', ''),
};

export const monitorItemTable = {
  name: decides('monitor_item', 'text'),
  status: shown('status', 'text', null),
};

/** The labels of a series of a region's metrics. */
export const seriesTable = {
  serviceId: decides('service_id', 'id'),
};

/** The form of a Prometheus answer. */
export const monitorDataTable = {
  resultType: shown('resultType', 'text', null),
};

/** A region, without its certificates and keys. */
export type Region = Decoded<typeof regionTable>;

/** `status`: `running`, `part_running`, `closed`. "closed" may also mean that the cluster could not be asked. */
export type ApplicationRecord = Decoded<typeof applicationTable>;

/** One row of a team's application listing (extended dialect). */
export type ApplicationSummary = Decoded<typeof summaryTable>;

/** A certificate of a team in the listing, without its key, which Portolan never reads. */
export type CertificateRecord = Decoded<typeof certificateTable>;

/** A component. `installGroupId` identifies its install; 0 or null: it was not installed from a store. */
export type ComponentRecord = Decoded<typeof componentTable>;

/** One series of one monitoring item of one component. */
export interface MonitorSeries {
  /** `[epoch seconds, value]`; empty if the server lost the samples. */
  readonly samples: readonly (readonly [number, number])[];
}

/** One series of a region's metrics, of one component. */
export type ComponentSeries = MonitorSeries & Decoded<typeof seriesTable>;

export type MonitorItem = Decoded<typeof monitorItemTable> &
  Decoded<typeof monitorDataTable> & { readonly series: readonly MonitorSeries[] };

/** A monitored component. `items`: null if the server sent null. */
export type ComponentMonitor = Decoded<typeof monitoredTable> & { readonly items: readonly MonitorItem[] | null };
