import { bare, clusterFailed, crashed, enveloped, refused } from './answers.ts';
import { checkFields, type FieldRule } from './body.ts';
import { type ComponentCall, isExtended } from './call.ts';
import { portRecord } from './records.ts';
import { makeDefaultRule, makeTcpRule } from './rule-rows.ts';
import { type ComponentRow, type PortRow, portKey, type RuleRow, type SandboxState, type TcpRuleRow } from './state.ts';
import type { Answer, SandboxContext } from './wire.ts';

const protocols = ['tcp', 'http', 'mysql', 'grpc', 'udp'];
const actions = ['open_outer', 'close_outer', 'open_inner', 'close_inner', 'change_protocol', 'change_port_alias'];
const aliasPattern = /^[A-Z][A-Z0-9_]*$/;
export const serviceNamePattern = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SERVICE_NAME_MAX = 63;
const ALIAS_MAX = 64;

/** 4.2, in order of creation. */
export function listPorts(call: ComponentCall): Answer {
  const list = portsOf(call).map((port) => portRecord(port, call.context.dialect));
  return isExtended(call) ? enveloped('查询成功', { list }) : bare(list);
}

/** 4.3: 200, not 201. An alias that another port has is accepted. */
export function addPort(call: ComponentCall): Answer {
  const { state, component, region } = call;
  const checked = checkFields(call.body, additionRules(isExtended(call)));
  if ('answer' in checked) return checked.answer;
  const number = checked.fields.integer('port') ?? 0;
  if (number === 0 && isExtended(call)) return refused(400, 'params error', '缺少端口参数');
  if (checked.fields.isNull('protocol')) return refused(400, 'params error', '缺少协议参数');
  if (number < 1 || number > 65_535) {
    return refused(412, 'component port out of range', '端口必须为1到65535的整数');
  }
  if (state.ports.get(portKey(component.id, number)) !== undefined) {
    return refused(409, 'component port already exists', '端口已存在', 20501);
  }
  const alias = checked.fields.text('port_alias') || `${component.alias.toUpperCase()}${number}`;
  if (!isAlias(alias)) return refused(400, 'add port error', '端口别名不合法');
  if (!region.reachable) return clusterFailed();
  const port: PortRow = {
    serviceId: component.id,
    port: number,
    protocol: checked.fields.text('protocol') ?? 'http',
    alias,
    inner: checked.fields.flag('is_inner_service') ?? false,
    outer: false,
    serviceName: portsOf(call)[0]?.serviceName ?? component.alias.toLowerCase(),
  };
  state.ports.put(port);
  return portAnswer(call, '添加成功', port);
}

function additionRules(extended: boolean): Record<string, FieldRule> {
  return {
    port: { type: 'integer', required: true },
    protocol: { type: 'choice', choices: protocols, required: !extended, nullable: extended },
    port_alias: { type: 'text', nullable: true, blank: true, maxLength: 255 },
    is_inner_service: { type: 'boolean', required: extended },
  };
}

const updateRules: Record<string, FieldRule> = {
  action: { type: 'choice', choices: actions, required: true },
  protocol: { type: 'choice', choices: protocols, nullable: true },
  port_alias: { type: 'text', nullable: true, maxLength: 255 },
  k8s_service_name: { type: 'text', nullable: true, maxLength: 255 },
};

/** 4.4: the state machine of a port. */
export function updatePort(call: ComponentCall): Answer {
  const checked = checkFields(call.body, updateRules);
  if ('answer' in checked) return checked.answer;
  const port = portOfPath(call);
  if (port === undefined) return refused(404, 'component port does not exist', '组件端口不存在');
  if (!call.region.reachable) return clusterFailed();
  const { fields } = checked;
  switch (fields.text('action')) {
    case 'open_inner':
      return replace(call, { ...port, inner: true });
    case 'close_inner':
      if (port.outer) return refused(404, 'inner port is not open', '对外服务开启中，需先关闭对外服务');
      return replace(call, { ...port, inner: false });
    case 'open_outer':
      if (!port.inner) return refused(404, 'inner port is not open', '对内服务未开启，需先开启对内服务');
      return portAnswer(call, '操作成功', openOuter(call.state, call.context, call.component, port));
    case 'close_outer':
      closeRules(call.state, port);
      return replace(call, { ...port, outer: false });
    case 'change_protocol':
      if (fields.isNull('protocol')) return refused(400, 'change port fail', '端口协议不能为空');
      return changeProtocol(call, port, fields.text('protocol') ?? 'http');
    default:
      return changeAlias(call, port, fields.text('port_alias'), fields.text('k8s_service_name'));
  }
}

/**
 * Opens outer access. The rules of the port's protocol become active again, or the platform makes one if there is none:
 * a default rule for http, a port of the nodes for everything else. Rules of the other kind stay as they are.
 */
export function openOuter(
  state: SandboxState,
  context: SandboxContext,
  component: ComponentRow,
  port: PortRow,
): PortRow {
  const opened: PortRow = { ...port, outer: true };
  state.ports.put(opened);
  if (port.protocol === 'http') {
    if (rulesOf(state, port).length === 0) state.rules.put(makeDefaultRule(state, context, component, port));
    else activateRules(state, port);
  } else if (tcpRulesOf(state, port).length === 0) state.tcpRules.put(makeTcpRule(state, () => context.newId(), port));
  else activateTcpRules(state, port, port.protocol);
  return opened;
}

/** Closes the rules of the port's protocol only: those from before a change of the protocol stay as they are. */
function closeRules(state: SandboxState, port: PortRow): void {
  if (port.protocol === 'http') {
    for (const rule of rulesOf(state, port)) if (rule.outer) state.rules.put({ ...rule, outer: false });
  } else for (const rule of tcpRulesOf(state, port)) if (rule.outer) state.tcpRules.put({ ...rule, outer: false });
}

/** Opens outer access as a rule with `whether_open` does: with all existing rules of the port and no new one, independent of inner. */
export function openOuterForRule(state: SandboxState, port: PortRow): void {
  state.ports.put({ ...port, outer: true });
  activateRules(state, port);
  activateTcpRules(state, port);
}

function activateRules(state: SandboxState, port: PortRow): void {
  for (const rule of rulesOf(state, port)) if (!rule.outer) state.rules.put({ ...rule, outer: true });
}

function activateTcpRules(state: SandboxState, port: PortRow, protocol?: string): void {
  for (const rule of tcpRulesOf(state, port)) {
    const activated = { ...rule, outer: true, protocol: protocol ?? rule.protocol };
    if (!rule.outer || activated.protocol !== rule.protocol) state.tcpRules.put(activated);
  }
}

function tcpRulesOf(state: SandboxState, port: PortRow): readonly TcpRuleRow[] {
  return state.tcpRules.in('port', portKey(port.serviceId, port.port));
}

function rulesOf(state: SandboxState, port: PortRow): readonly RuleRow[] {
  return state.rules.in('port', portKey(port.serviceId, port.port));
}

function changeProtocol(call: ComponentCall, port: PortRow, protocol: string): Answer {
  if (protocol !== port.protocol && protocol !== 'http' && port.outer) {
    return refused(400, 'change port fail', '请关闭外部访问');
  }
  return replace(call, { ...port, protocol });
}

/** The order of the checks is the real server's: the missing service name is found last, too late for the cluster. */
function changeAlias(call: ComponentCall, port: PortRow, alias: string | undefined, name: string | undefined): Answer {
  if (alias === undefined) return refused(400, 'change port fail', '端口别名不能为空');
  if (!isAlias(alias)) return refused(400, 'change port fail', '端口别名不合法');
  const namesakes = portsOf(call).filter((sibling) => sibling.alias === alias);
  if (namesakes.length > 1) {
    return crashed(
      `get() returned more than one TenantServicesPort -- it returned ${namesakes.length}!`,
      'MultipleObjectsReturned',
    );
  }
  if (namesakes.some((sibling) => sibling.port !== port.port)) return refused(400, 'change port fail', '别名已存在');
  if (name === undefined) return crashed("object of type 'NoneType' has no len()", 'TypeError');
  if (!serviceNamePattern.test(name) || name.length > SERVICE_NAME_MAX) {
    return refused(400, "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'", '内部域名格式不正确');
  }
  if (isTakenByAnother(call, name)) return refused(409, 'k8s service name already exists', '内部域名已存在', 20500);
  for (const sibling of portsOf(call)) {
    const renamed = sibling.port === port.port ? { ...sibling, alias } : sibling;
    call.state.ports.put({ ...renamed, serviceName: name });
  }
  return portAnswer(call, '操作成功', { ...port, alias, serviceName: name });
}

function isTakenByAnother({ state, component }: ComponentCall, name: string): boolean {
  return state.ports.in('serviceName', name).some((port) => {
    const owner = state.components.get(port.serviceId);
    return owner !== undefined && owner.id !== component.id && owner.teamId === component.teamId;
  });
}

/**
 * Extended: with outer closed, the port's rules vanish with it, those made by someone too. Active rules are looked for
 * before anything else, the port itself included.
 */
export function deletePort(call: ComponentCall): Answer {
  const { state, params, region } = call;
  const rules = state.rules.in('port', portKey(call.component.id, Number(params['port'])));
  const active = rules.filter((rule) => rule.outer);
  if (active.length > 1 || active.some((rule) => rule.type !== 0)) {
    return refused(412, 'contains custom domains', '该端口有自定义域名，请先解绑域名');
  }
  const port = portOfPath(call);
  if (port === undefined) return refused(404, 'port not found', `端口${params['port'] ?? ''}不存在`);
  if (port.inner) return refused(409, 'can not delete inner port', '请关闭对内服务');
  if (port.outer) return refused(409, 'can not delete outer port', '请关闭对外服务');
  if (!region.reachable) return clusterFailed();
  for (const rule of rules) state.rules.delete(rule.id);
  for (const rule of tcpRulesOf(state, port)) state.tcpRules.delete(rule.id);
  state.ports.delete(portKey(port.serviceId, port.port));
  return portAnswer(call, '删除成功', port);
}

function portsOf({ state, component }: ComponentCall): readonly PortRow[] {
  return state.ports.in('component', component.id);
}

function portOfPath({ state, component, params }: ComponentCall): PortRow | undefined {
  return state.ports.get(portKey(component.id, Number(params['port'])));
}

function isAlias(alias: string): boolean {
  return alias.length <= ALIAS_MAX && aliasPattern.test(alias);
}

function replace(call: ComponentCall, port: PortRow): Answer {
  call.state.ports.put(port);
  return portAnswer(call, '操作成功', port);
}

function portAnswer(call: ComponentCall, shown: string, port: PortRow): Answer {
  const bean = portRecord(port, call.context.dialect);
  return isExtended(call) ? enveloped(shown, { bean }) : bare(bean);
}
