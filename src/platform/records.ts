import type {
  ApplicationRecord,
  ApplicationSummary,
  CertificateRecord,
  ComponentMonitor,
  ComponentRecord,
  ComponentSeries,
  InstalledModel,
  InstallRecord,
  MonitorItem,
  PlacedRule,
  PortRecord,
  Region,
  TcpEndpoint,
} from '../model/observed.ts';
import { decides, type RecordTable, shown } from './record-fields.ts';

/**
 * Every field that is read of every record, and whether a decision needs it. A field that is not named here never gets
 * out. A decision is what a plan, a guard, a proof or an outcome depends on: such a field is read strictly, and a wrong
 * one is schema drift. Everything else is read leniently, because an odd value in it must make no application
 * unmanageable: a server reports a share of a CPU as 23.4375.
 */

/** `ssl_ca_cert`, `cert_file`, `key_file` and `token` are left out on purpose: they are keys to the cluster. */
export const regionTable: RecordTable<Region> = {
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

/** A server that cannot serialize the detail sends it raw: `app_id` as text, fractions, and times of another form. */
export const applicationTable: RecordTable<ApplicationRecord> = {
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

export const summaryTable: RecordTable<ApplicationSummary> = {
  appId: decides(['ID', 'app_id'], 'decimal'),
  name: decides('group_name', 'text'),
  k8sApp: shown('k8s_app', 'text', null),
};

/** By allow-list: whatever else a server puts into its listing never gets out. */
export const certificateTable: RecordTable<CertificateRecord> = {
  id: decides('id', 'integer'),
  alias: decides('alias', 'text', ''),
  issuedTo: shown('issued_to', 'texts', []),
  expiresAt: shown('end_data', 'text', null),
  hasExpired: shown('has_expired', 'flag', null),
};

export const portTable: RecordTable<PortRecord> = {
  port: decides('container_port', 'port'),
  protocol: decides('protocol', 'text'),
  alias: decides('port_alias', 'text', ''),
  inner: decides('is_inner_service', 'flag'),
  outer: decides('is_outer_service', 'flag'),
  serviceName: decides('k8s_service_name', 'text', ''),
};

export const endpointTable: RecordTable<TcpEndpoint> = {
  serviceId: decides('service_id', 'id'),
  port: decides('container_port', 'port'),
  outer: decides('is_outer_service', 'flag'),
  endpoint: shown('end_point', 'text', ''),
  protocol: shown('protocol', 'text', ''),
};

/** Where a rule of the listing of all rules is; the rule itself is read by its own table. */
export const placeTable: RecordTable<Omit<PlacedRule, 'rule'>> = {
  team: decides('team_name', 'text'),
  region: decides('region_name', 'text'),
  appId: decides('app_id', 'decimal'),
};

export const componentTable: RecordTable<ComponentRecord> = {
  serviceId: decides('service_id', 'id'),
  serviceKey: decides('service_key', 'text'),
  alias: decides('service_alias', 'text'),
  displayName: decides('service_cname', 'text', null),
  installGroupId: decides('tenant_service_group_id', 'integer', null),
  k8sComponentName: decides('k8s_component_name', 'text', ''),
  // What an upgrade changes, and nothing else shows.
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

export const installedTable: RecordTable<InstalledModel> = {
  modelId: decides('app_model_id', 'id'),
  // Export writes it into a manifest, whose version decides on an upgrade.
  reportedVersion: decides('current_version', 'text', null),
  marketName: decides('market_name', 'text', null),
  installGroupId: decides('upgrade_group_id', 'integer', null),
  upgradeVersions: shown('upgrade_versions', 'texts', []),
  name: shown('app_model_name', 'text', null),
};

/** The components of an install are read by their own table. */
export const installTable: RecordTable<Omit<InstallRecord, 'components'>> = {
  appId: decides('ID', 'decimal'),
  enterpriseId: shown('enterprise_id', 'id', ''),
  teamId: shown('team_id', 'id', ''),
  note: shown('note', 'text', ''),
  region: shown('region_name', 'text', ''),
};

/** The items of a component are read by their own table, and their samples by `decode-monitor.ts`. */
export const monitoredTable: RecordTable<Omit<ComponentMonitor, 'items'>> = {
  serviceId: decides('service_id', 'id'),
  componentName: shown('service_cname', 'text', ''),
  componentAlias: shown('service_alias', 'text', ''),
};

export const monitorItemTable: RecordTable<Pick<MonitorItem, 'name' | 'status'>> = {
  name: decides('monitor_item', 'text'),
  status: shown('status', 'text', null),
};

/** The labels of a series of a region's metrics. */
export const seriesTable: RecordTable<Pick<ComponentSeries, 'serviceId'>> = {
  serviceId: decides('service_id', 'id'),
};

/** What a Prometheus answer says of its own form. */
export const monitorDataTable: RecordTable<Pick<MonitorItem, 'resultType'>> = {
  resultType: shown('resultType', 'text', null),
};
