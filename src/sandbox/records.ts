import {
  type ApplicationRow,
  type ComponentRow,
  type PortRow,
  portKey,
  type RegionRow,
  type RuleRow,
  type SandboxState,
  type SettingsRow,
  type TcpRuleRow,
  type TeamRow,
} from './state.ts';
import type { Dialect } from './wire.ts';

/** The status of a component at a time; null where the cluster cannot be asked. */
export function componentStatus(component: ComponentRow, reachable: boolean, nowMs: number): string | null {
  if (!reachable) return null;
  const { life } = component;
  if (life.type === 'steady') return life.status;
  if (nowMs < life.readyAtMs) return 'creating';
  return life.fails === true ? 'undeploy' : 'running';
}

export function regionRecord(region: RegionRow): object {
  return {
    region_id: region.id,
    region_name: region.name,
    region_alias: region.alias,
    url: region.url,
    ...(region.websocketUrl === null ? {} : { wsurl: region.websocketUrl }),
    ...(region.httpDomain === null ? {} : { httpdomain: region.httpDomain }),
    ...(region.tcpDomain === null ? {} : { tcpdomain: region.tcpDomain }),
    status: region.status,
    desc: region.description,
    scope: 'private',
    ssl_ca_cert: null,
    cert_file: null,
    key_file: null,
  };
}

function withoutZone(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}

/** The fields that the listing of a team and the detail share. */
export function applicationFields(application: ApplicationRow, facts: SettingsRow, dialect: Dialect): object {
  const time = dialect === 'extended' ? withoutZone : (ms: number) => new Date(ms).toISOString();
  return {
    tenant_id: application.teamId,
    group_name: application.name,
    region_name: application.region,
    is_default: false,
    order_index: 0,
    note: application.note,
    username: facts.principal,
    governance_mode: 'KUBERNETES_NATIVE_SERVICE',
    create_time: time(application.createdMs),
    update_time: time(application.updatedMs),
    app_type: 'rainbond',
    app_store_name: null,
    app_store_url: null,
    app_template_name: null,
    version: null,
    logo: '',
    k8s_app: application.k8sApp,
  };
}

/** AppInfo. When the cluster cannot be asked it is "closed" with nothing running, as on the real server. */
export function applicationRecord(
  state: SandboxState,
  place: { readonly application: ApplicationRow; readonly team: TeamRow; readonly region: RegionRow },
  nowMs: number,
  dialect: Dialect,
): object {
  const { application, team, region } = place;
  const components = state.components.in('application', String(application.id));
  const running = components.filter((item) => componentStatus(item, region.reachable, nowMs) === 'running');
  const status = running.length === 0 ? 'closed' : running.length < components.length ? 'part_running' : 'running';
  const memoryMib = components.reduce((sum, item) => sum + item.memoryMib * item.nodes, 0);
  const usedCpu =
    dialect === 'extended'
      ? (memoryMib / 128) * 30
      : running.reduce((sum, item) => sum + item.cpuMillis * item.nodes, 0);
  return {
    ...(dialect === 'documented' ? { ID: application.id } : {}),
    enterprise_id: state.facts.enterpriseId,
    service_count: components.length,
    running_service_count: running.length,
    used_momory: memoryMib,
    used_cpu: usedCpu,
    // The real server's own check of the record fails over a fraction, and then it sends the number as it got it.
    app_id: Number.isInteger(usedCpu) ? application.id : String(application.id),
    team_name: team.name,
    status,
    ...applicationFields(application, state.facts, dialect),
  };
}

/** ServiceBaseInfo; the extended dialect adds four fields that the documents do not have. */
export function componentRecord(
  component: ComponentRow,
  place: { readonly reachable: boolean; readonly nowMs: number; readonly dialect: Dialect },
): object {
  const fromImage = component.source === 'docker_image';
  const status = componentStatus(component, place.reachable, place.nowMs);
  const extended = place.dialect === 'extended';
  return {
    status,
    access_infos: [],
    service_id: component.id,
    tenant_id: component.teamId,
    service_key: component.key,
    service_alias: component.alias,
    service_cname: component.name,
    service_region: component.region,
    desc: '',
    category: 'application',
    version: component.version,
    update_version: component.updateVersion,
    image: component.image,
    cmd: '',
    min_node: component.nodes,
    min_cpu: component.cpuMillis,
    container_gpu: 0,
    min_memory: component.memoryMib,
    extend_method: 'stateless_multiple',
    code_from: fromImage ? 'image_manual' : '',
    git_url: fromImage ? '' : null,
    git_project_id: 0,
    code_version: null,
    service_type: 'application',
    creater: 1,
    language: '',
    ...(extended ? { build_strategy: '' } : {}),
    total_memory: component.memoryMib,
    is_service: false,
    service_origin: 'assistant',
    tenant_service_group_id: component.groupId,
    open_webhooks: false,
    service_source: component.source,
    create_status: !extended && status === 'creating' ? 'creating' : 'complete',
    check_uuid: '',
    check_event_id: '',
    docker_cmd: fromImage ? '' : null,
    server_type: 'git',
    is_upgrate: false,
    build_upgrade: true,
    oauth_service_id: null,
    k8s_component_name: component.k8sName,
    ...(extended ? { job_strategy: '', arch: 'amd64', dockerfile: '' } : {}),
    ...component.details,
  };
}

export function portRecord(port: PortRow, dialect: Dialect): object {
  return {
    container_port: port.port,
    ...(dialect === 'extended' ? { mapping_port: port.port, lb_mapping_port: 0 } : {}),
    protocol: port.protocol,
    port_alias: port.alias,
    is_inner_service: port.inner,
    is_outer_service: port.outer,
    k8s_service_name: port.serviceName,
  };
}

/** The answers that hold a rule differ in `ID`, `rule_extensions` and the form of `rewrites`. */
export interface RuleForm {
  readonly rowId: boolean;
  readonly extensions: readonly unknown[] | null;
  /** Only the answer to a creation has a list there. */
  readonly rewritesAsList?: boolean;
}

export function ruleRecord(state: SandboxState, rule: RuleRow, form: RuleForm): object {
  const component = state.components.get(rule.serviceId);
  const region = component === undefined ? undefined : state.regions.get(component.region);
  return {
    ...(form.rowId ? { ID: rule.row } : {}),
    ...(form.extensions === null ? {} : { rule_extensions: form.extensions }),
    http_rule_id: rule.id,
    region_id: region?.id ?? '',
    tenant_id: rule.teamId,
    service_id: rule.serviceId,
    service_name: component?.alias ?? '',
    domain_name: rule.domain,
    container_port: rule.port,
    protocol: rule.protocol,
    certificate_id: rule.certificateId,
    domain_type: 'www',
    service_alias: component?.name ?? '',
    is_senior: rule.senior,
    domain_path: rule.path,
    domain_cookie: rule.cookie,
    domain_heander: rule.header,
    type: rule.type,
    the_weight: rule.weight,
    is_outer_service: rule.outer,
    auto_ssl: rule.autoSsl,
    auto_ssl_config: rule.autoSslConfig,
    path_rewrite: false,
    rewrites: form.rewritesAsList ? [] : rule.rewrites,
  };
}

export function tcpEndPoint(rule: TcpRuleRow, region: RegionRow): string {
  return `${region.tcpDomain ?? '0.0.0.0'}:${rule.nodePort}`;
}

export function tcpRuleRecord(state: SandboxState, rule: TcpRuleRow, region: RegionRow): object {
  const component = state.components.get(rule.serviceId);
  return {
    ID: rule.row,
    tcp_rule_id: rule.id,
    region_id: region.id,
    tenant_id: component?.teamId ?? '',
    service_id: rule.serviceId,
    service_name: component?.alias ?? '',
    end_point: tcpEndPoint(rule, region),
    protocol: rule.protocol,
    container_port: rule.port,
    service_alias: component?.name ?? '',
    type: 0,
    rule_extensions: null,
    is_outer_service: rule.outer,
  };
}

/** Returns the outside addresses of a component: its rules, active or not, then its node ports. */
export function accessInfos(state: SandboxState, component: ComponentRow, region: RegionRow): readonly string[] {
  const rules = state.ports
    .in('component', component.id)
    .flatMap((port) => state.rules.in('port', portKey(component.id, port.port)))
    .toSorted((one, other) => one.row - other.row);
  return [
    ...rules.map((rule) => `${rule.certificateId === 0 ? 'http' : 'https'}://${rule.domain}${rule.path}`),
    ...state.tcpRules.in('component', component.id).map((rule) => tcpEndPoint(rule, region)),
  ];
}

/** The answer to GET of an unknown rule: 200 with an empty record. */
export const blankRuleRecord: object = {
  http_rule_id: '',
  region_id: '',
  tenant_id: '',
  service_id: '',
  service_name: '',
  domain_name: '',
  container_port: null,
  protocol: '',
  certificate_id: null,
  domain_type: '',
  service_alias: '',
  is_senior: false,
  domain_path: '',
  domain_cookie: '',
  domain_heander: '',
  type: null,
  the_weight: null,
  is_outer_service: false,
  auto_ssl: false,
  auto_ssl_config: '',
  path_rewrite: false,
  rewrites: '',
};
