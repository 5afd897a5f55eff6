import type {
  ApplicationRecord,
  ApplicationSummary,
  InstalledModel,
  InstallRecord,
  PlacedRule,
  PortRecord,
  Region,
  RuleRecord,
} from '../model/observed.ts';
import { decodeComponent } from './decode-component.ts';
import { recordOf, recordsOf } from './envelope.ts';
import type { Fields } from './fields.ts';

/**
 * Decoders of what the platform answers, by allow-list: a field that is not named here never gets out. Each takes the
 * parsed JSON and the words that name the request, and throws `platform/schema-drift` for an answer of another form.
 */
export function decodeRegions(json: unknown, where: string): readonly Region[] {
  return recordsOf(json, where).map(regionOf);
}

/** `ssl_ca_cert`, `cert_file` and `key_file` are left out on purpose: they are keys to the cluster. */
function regionOf(fields: Fields): Region {
  const status = fields.raw('status');
  return {
    id: fields.idOrNull('region_id'),
    name: fields.text('region_name'),
    alias: fields.textOrEmpty('region_alias'),
    url: fields.textOrEmpty('url'),
    websocketUrl: fields.textOrNull('wsurl'),
    httpDomain: fields.textOrNull('httpdomain'),
    tcpDomain: fields.textOrNull('tcpdomain'),
    status: typeof status === 'number' ? String(status) : fields.text('status'),
    description: fields.textOrEmpty('desc'),
    scope: fields.textOrNull('scope'),
  };
}

export function decodeApplication(json: unknown, where: string): ApplicationRecord {
  const fields = recordOf(json, where);
  return {
    appId: fields.integer('app_id'),
    name: fields.text('group_name'),
    team: fields.text('team_name'),
    tenantId: fields.idOrNull('tenant_id') ?? '',
    region: fields.text('region_name'),
    enterpriseId: fields.idOrNull('enterprise_id') ?? '',
    status: fields.text('status'),
    componentCount: fields.integer('service_count'),
    runningComponentCount: fields.integer('running_service_count'),
    usedMemoryMib: fields.integer('used_momory'),
    usedCpuMillis: fields.integer('used_cpu'),
    isDefault: fields.flagOrNull('is_default'),
    orderIndex: fields.integerOrNull('order_index'),
    note: fields.textOrNull('note'),
    principal: fields.textOrNull('username'),
    governanceMode: fields.textOrNull('governance_mode'),
    createdAt: fields.textOrEmpty('create_time'),
    updatedAt: fields.textOrEmpty('update_time'),
    appType: fields.textOrNull('app_type'),
    storeName: fields.textOrNull('app_store_name'),
    storeUrl: fields.textOrNull('app_store_url'),
    templateName: fields.textOrNull('app_template_name'),
    helmVersion: fields.textOrNull('version'),
    logo: fields.textOrNull('logo'),
    k8sApp: fields.textOrNull('k8s_app'),
  };
}

export function decodeApplicationSummary(json: unknown, where: string): ApplicationSummary {
  return summaryOf(recordOf(json, where));
}

export function decodeApplicationSummaries(json: unknown, where: string): readonly ApplicationSummary[] {
  return recordsOf(json, where).map(summaryOf);
}

function summaryOf(fields: Fields): ApplicationSummary {
  return {
    appId: fields.integerOrNull('ID') ?? fields.integer('app_id'),
    name: fields.text('group_name'),
    k8sApp: fields.textOrNull('k8s_app'),
  };
}

export function decodePort(json: unknown, where: string): PortRecord {
  return portOf(recordOf(json, where));
}

export function decodePorts(json: unknown, where: string): readonly PortRecord[] {
  return recordsOf(json, where).map(portOf);
}

function portOf(fields: Fields): PortRecord {
  return {
    port: fields.port('container_port'),
    protocol: fields.text('protocol'),
    alias: fields.textOrEmpty('port_alias'),
    inner: fields.flag('is_inner_service'),
    outer: fields.flag('is_outer_service'),
    serviceName: fields.textOrEmpty('k8s_service_name'),
  };
}

/** undefined: the record is blank, which is how a server says that there is no rule of that id. */
export function decodeRule(json: unknown, where: string): RuleRecord | undefined {
  return ruleOf(recordOf(json, where));
}

/** A blank row in a listing is no rule, and is left out. */
export function decodeRules(json: unknown, where: string): readonly RuleRecord[] {
  return recordsOf(json, where).flatMap((fields) => ruleOf(fields) ?? []);
}

/** Every rule of the enterprise, each with its application. */
export function decodePlacedRules(json: unknown, where: string): readonly PlacedRule[] {
  return recordsOf(json, where).flatMap((fields) => {
    const rule = ruleOf(fields);
    if (rule === undefined) return [];
    return {
      team: fields.text('team_name'),
      region: fields.text('region_name'),
      appId: fields.integer('app_id'),
      rule,
    };
  });
}

function ruleOf(fields: Fields): RuleRecord | undefined {
  const ruleId = fields.idOrNull('http_rule_id');
  if (ruleId === null) {
    // Blank as a whole means absent; a rule without an id is something that we do not understand.
    const blank = ['service_id', 'domain_name'].every((name) => (fields.raw(name) ?? '') === '');
    if (blank && (fields.raw('container_port') ?? null) === null) return undefined;
    throw fields.drift('http_rule_id', 'an identifier');
  }
  return {
    ruleId,
    rowId: fields.integerOrNull('ID'),
    serviceId: fields.id('service_id'),
    port: fields.port('container_port'),
    domain: fields.text('domain_name'),
    path: fields.textOrEmpty('domain_path'),
    protocol: fields.textOrEmpty('protocol'),
    certificateId: fields.integerOrNull('certificate_id'),
    weight: fields.integerOrNull('the_weight'),
    cookie: fields.textOrEmpty('domain_cookie'),
    header: fields.textOrEmpty('domain_heander'),
    autoSsl: fields.flagOrNull('auto_ssl') ?? false,
    autoSslConfig: fields.textOrNull('auto_ssl_config'),
    type: fields.integerOrNull('type'),
    outer: fields.flagOrNull('is_outer_service') ?? false,
    isSenior: fields.flagOrNull('is_senior'),
    domainType: fields.textOrNull('domain_type'),
    pathRewrite: fields.flagOrNull('path_rewrite'),
    rewrites: rewritesOf(fields),
    regionId: fields.idOrNull('region_id'),
    tenantId: fields.idOrNull('tenant_id'),
    componentAlias: fields.textOrNull('service_name'),
    componentName: fields.textOrNull('service_alias'),
    team: fields.textOrNull('team_name'),
    region: fields.textOrNull('region_name'),
    appId: fields.integerOrNull('app_id'),
  };
}

/** A string in one answer and a list in the next, of one server. It is shown and never decided on. */
function rewritesOf(fields: Fields): string | null {
  const value = fields.raw('rewrites');
  if (!Array.isArray(value)) return fields.textOrNull('rewrites');
  const rewrites = fields.records('rewrites').map((rewrite) => ({
    regex: rewrite.textOrNull('regex'),
    replacement: rewrite.textOrNull('replacement'),
    flag: rewrite.textOrNull('flag'),
  }));
  return JSON.stringify(rewrites);
}

export function decodeInstalled(json: unknown, where: string): readonly InstalledModel[] {
  return recordsOf(json, where).map((fields) => ({
    modelId: fields.id('app_model_id'),
    reportedVersion: fields.textOrNull('current_version'),
    upgradeVersions: fields.texts('upgrade_versions'),
    name: fields.textOrNull('app_model_name'),
    marketName: fields.textOrNull('market_name'),
    installGroupId: fields.integerOrNull('upgrade_group_id'),
  }));
}

export function decodeInstall(json: unknown, where: string): InstallRecord {
  const fields = recordOf(json, where);
  if (!Array.isArray(fields.raw('service_list'))) throw fields.drift('service_list', 'a list of components');
  return {
    enterpriseId: fields.idOrNull('enterprise_id') ?? '',
    teamId: fields.idOrNull('team_id') ?? '',
    note: fields.textOrEmpty('note'),
    appId: fields.integer('ID'),
    region: fields.textOrEmpty('region_name'),
    components: fields.records('service_list').map(decodeComponent),
  };
}
