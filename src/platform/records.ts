import { type Decoded, decides, shown } from './record-fields.ts';

/**
 * Every field that is read of every record. Other fields never leave the decoder. A field on which a plan, a guard, a proof or an
 * outcome depends is read strictly: a value of another type is schema drift. Other fields are read leniently, because an odd value
 * must not make an application unmanageable.
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
  k8sApp: shown('k8s_app', 'text', null),
};

export const summaryTable = {
  appId: decides(['ID', 'app_id'], 'decimal'),
  name: decides('group_name', 'text'),
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

export type MonitorItem = Decoded<typeof monitorItemTable> & { readonly series: readonly MonitorSeries[] };

/** A monitored component. `items`: null if the server sent null. */
export type ComponentMonitor = Decoded<typeof monitoredTable> & { readonly items: readonly MonitorItem[] | null };
