import { bare, clusterFailed, crashed, plainRefusal, refused } from './answers.ts';
import { checkFields, type FieldRule, type Fields, isRecord } from './body.ts';
import { type ApplicationCall, type Call, isExtended } from './call.ts';
import { openOuterForRule } from './ports.ts';
import { blankRuleRecord, ruleRecord, tcpRuleRecord } from './records.ts';
import { defaultDomain, isSenior, rulesWithKey } from './rule-rows.ts';
import { type ComponentRow, portKey, type RuleRow } from './state.ts';
import type { Answer } from './wire.ts';

const DOMAIN_MAX = 128;
const headerRules: Record<string, FieldRule> = {
  key: { type: 'text', required: true },
  value: { type: 'text', required: true },
};

/** Null and `""` are refused for the optional ones too. */
const fieldRules: Record<string, FieldRule> = {
  service_id: { type: 'text', required: true },
  container_port: { type: 'integer', required: true },
  certificate_id: { type: 'integer' },
  domain_name: { type: 'text', required: true, maxLength: DOMAIN_MAX },
  domain_cookie: { type: 'text' },
  domain_header: { type: 'text' },
  the_weight: { type: 'integer' },
  domain_path: { type: 'text' },
  rule_extensions: { type: 'list' },
  whether_open: { type: 'boolean' },
  auto_ssl: { type: 'boolean' },
  auto_ssl_config: { type: 'text' },
};

const creationRules: Record<string, FieldRule> = {
  ...fieldRules,
  configuration: {
    type: 'record',
    fields: {
      proxy_body_size: { type: 'integer' },
      proxy_buffer_numbers: { type: 'integer' },
      proxy_buffer_size: { type: 'integer' },
      proxy_buffering: { type: 'text' },
      proxy_connect_timeout: { type: 'integer' },
      proxy_read_timeout: { type: 'integer' },
      proxy_send_timeout: { type: 'integer' },
      set_headers: { type: 'list', fields: headerRules },
    },
  },
};

/** The values that a creation stores for absent members of its `configuration`. */
const configurationDefaults = {
  proxy_body_size: 0,
  proxy_buffer_numbers: 4,
  proxy_buffer_size: 4,
  proxy_buffering: 'off',
  proxy_connect_timeout: 75,
  proxy_read_timeout: 60,
  proxy_send_timeout: 60,
  set_headers: [],
};

/** An update has no `configuration`: the server ignores it, as it ignores every field it does not know. */
const updateRules: Record<string, FieldRule> = {
  ...fieldRules,
  container_port: { type: 'integer' },
  domain_name: { type: 'text', maxLength: DOMAIN_MAX },
};

/** Extended. Reading always gives `rule_extensions: []`. */
export function listRules(call: ApplicationCall): Answer {
  return bare(ruleRecords(call));
}

function ruleRecords({ state, application }: ApplicationCall): readonly object[] {
  const rules = inOrder(state.rules.in('application', String(application.id)));
  return rules.map((rule) => ruleRecord(state, rule, { rowId: true, extensions: [] }));
}

/** Extended: rules of both kinds; `query=http` or `query=tcp` keeps one. */
export function listDomains(call: ApplicationCall): Answer {
  const { state, application, region } = call;
  const tcp = (): readonly object[] =>
    state.components
      .in('application', String(application.id))
      .flatMap((component) => state.tcpRules.in('component', component.id))
      .toSorted((one, other) => one.row - other.row)
      .map((rule) => tcpRuleRecord(state, rule, region));
  switch (call.request.query['query']) {
    case 'http':
      return bare({ http: ruleRecords(call) });
    case 'tcp':
      return bare({ tcp: tcp() });
    default:
      return bare({ http: ruleRecords(call), tcp: tcp() });
  }
}

/** By the number of the row: an edit or a move of a rule does not change its place. */
function inOrder(rules: readonly RuleRow[]): readonly RuleRow[] {
  return rules.toSorted((one, other) => one.row - other.row);
}

/** Extended: every rule of the enterprise, each with the place it is in and its extensions as text. For every token. */
export function listAllRules({ state, request }: Call): Answer {
  const wanted = request.query['auto_ssl'];
  const rules = [...state.rules.all()].filter(
    (rule) => wanted === undefined || rule.autoSsl === (wanted.toLowerCase() === 'true'),
  );
  return bare(
    rules.map((rule) => ({
      ...ruleRecord(state, rule, { rowId: true, extensions: null }),
      rule_extensions: extensionText(rule.extensions),
      region_name: state.components.get(rule.serviceId)?.region ?? '',
      team_name: state.teams.get(rule.teamId)?.name ?? '',
      app_id: rule.appId,
    })),
  );
}

/** `lb-type:round-robin,retries:3`: how the server stores extensions, and shows them only here. */
function extensionText(extensions: readonly unknown[]): string {
  return extensions.map((item) => (isRecord(item) ? `${item['key']}:${item['value']}` : String(item))).join(',');
}

/** Extended. An unknown id is 200 with a blank record, not 404. */
export function getRule({ state, application, params }: ApplicationCall): Answer {
  const rule = state.rules.get(params['rule_id'] ?? '');
  if (rule === undefined || rule.appId !== application.id) return bare(blankRuleRecord);
  return bare(ruleRecord(state, rule, { rowId: true, extensions: [] }));
}

/** 4.7 */
export function createRule(call: ApplicationCall): Answer {
  const { state, region, context } = call;
  const checked = checkFields(call.body, creationRules);
  if ('answer' in checked) return checked.answer;
  const { fields } = checked;
  const component = componentOfTeam(call, fields.text('service_id'));
  if (component === undefined) return plainRefusal('组件不存在');
  const wanted = wantedRule(call, component, fields);
  const conflict = checkExtensions(call, wanted.extensions) ?? checkDuplicates(call, wanted);
  if (conflict !== undefined) return conflict;
  const opened = openForRule(call, wanted, fields.flag('whether_open') ?? false);
  if (opened !== undefined) return opened;
  const taken = checkDomain(call, wanted.domain);
  if (taken !== undefined) return taken;
  if (!region.reachable) return clusterFailed();
  const rule: RuleRow = { ...wanted, id: context.newId(), row: state.nextNumber('rule') };
  state.rules.put(rule);
  if (isExtended(call)) {
    return bare(ruleRecord(state, rule, { rowId: false, extensions: null, rewritesAsList: true }), 201);
  }
  const record = ruleRecord(state, rule, { rowId: true, extensions: rule.extensions });
  return bare({ ...record, auto_ssl_config: rule.autoSslConfig ?? '', rewrites: '' });
}

function componentOfTeam({ state, team }: ApplicationCall, serviceId: string | undefined): ComponentRow | undefined {
  const component = state.components.get(serviceId ?? '');
  return component?.teamId === team.id ? component : undefined;
}

/** The row a creation asks for, defaults filled in; id and number are still to be given. */
function wantedRule(call: ApplicationCall, component: ComponentRow, fields: Fields): Omit<RuleRow, 'id' | 'row'> {
  const { state, team } = call;
  const domain = fields.text('domain_name') ?? '';
  const path = fields.text('domain_path') ?? '/';
  const configuration = fields.record('configuration');
  const cookie = fields.text('domain_cookie') ?? '';
  const header = fields.text('domain_header') ?? '';
  const port = fields.integer('container_port') ?? 0;
  const certificate = fields.integer('certificate_id') ?? 0;
  return {
    appId: component.appId,
    teamId: team.id,
    serviceId: component.id,
    port,
    domain,
    path,
    protocol: certificate === 0 ? 'http' : 'https',
    certificateId: knownCertificate(call, certificate),
    cookie,
    header,
    weight: fields.integer('the_weight') ?? 100,
    senior: isSenior(path, cookie, header),
    autoSsl: fields.flag('auto_ssl') ?? false,
    autoSslConfig: fields.text('auto_ssl_config') ?? null,
    type: domain === defaultDomain(state, component, port) ? 0 : 1,
    outer: true,
    extensions: fields.list('rule_extensions') ?? [],
    configuration: configuration === undefined ? null : { ...configurationDefaults, ...configuration },
    rewrites: '[]',
  };
}

/** An unknown certificate is stored as 0, and the rule is https all the same. */
function knownCertificate({ state }: Call, id: number): number {
  return state.certificates.get(String(id)) === undefined ? 0 : id;
}

/** A domain belongs to the team that has its oldest rule in the region. */
function checkDomain({ state, team, region }: ApplicationCall, domain: string): Answer | undefined {
  const [oldest] = inOrder(state.rules.in('domain', domain.toLowerCase()));
  if (oldest === undefined || oldest.teamId === team.id) return undefined;
  if (state.components.get(oldest.serviceId)?.region !== region.name) return undefined;
  return refused(400, 'domain be used other team', '域名已经被其他团队使用');
}

/** Strings in the documented dialect, `{key,value}` in the extended one; the real server fails over a string. */
function checkExtensions(call: Call, extensions: readonly unknown[]): Answer | undefined {
  if (!isExtended(call)) {
    if (extensions.every((item) => typeof item === 'string')) return undefined;
    return refused(400, 'rule_extensions must be a list of strings', '规则扩展格式不正确');
  }
  for (const item of extensions) {
    if (!isRecord(item)) return crashed("string indices must be integers, not 'str'", 'TypeError');
    for (const name of ['key', 'value']) if (typeof item[name] !== 'string') return crashed(`'${name}'`, 'KeyError');
  }
  return undefined;
}

function redirects(extensions: readonly unknown[]): boolean {
  return extensions.some((item) => JSON.stringify(item).includes('httptohttps'));
}

/**
 * The same 400 says that the rule exists, that some rule of anyone on that domain and path redirects http to https,
 * or that this one would while an http rule stands there.
 */
function checkDuplicates(call: ApplicationCall, wanted: Omit<RuleRow, 'id' | 'row'>): Answer | undefined {
  const { state, context } = call;
  const exists = plainRefusal('策略已存在');
  const same = rulesWithKey(state, wanted);
  if (same.length > 1) {
    return crashed(
      `get() returned more than one ServiceDomain -- it returned ${same.length}!`,
      'MultipleObjectsReturned',
    );
  }
  if (same.length === 1 && context.race !== true) return exists;
  const beside = state.rules.in('domain', wanted.domain.toLowerCase()).filter((rule) => rule.path === wanted.path);
  if (beside.some((rule) => redirects(rule.extensions))) return exists;
  if (redirects(wanted.extensions) && beside.some((rule) => rule.protocol === 'http')) return exists;
  return undefined;
}

/**
 * Outer access must be open; `whether_open` opens it, with inner closed too and without a default rule, and it stays
 * open when the rule then fails. It activates every rule of the port, of a port that is open already too.
 */
function openForRule(
  call: ApplicationCall,
  wanted: { serviceId: string; port: number },
  open: boolean,
): Answer | undefined {
  const { state, region } = call;
  const port = state.ports.get(portKey(wanted.serviceId, wanted.port));
  if (port === undefined) {
    return crashed(
      `'NoneType' object has no attribute '${open ? 'container_port' : 'is_outer_service'}'`,
      'AttributeError',
    );
  }
  if (!open) return port.outer ? undefined : plainRefusal('没有开启对外端口');
  if (!region.reachable) return clusterFailed();
  openOuterForRule(state, port);
  return undefined;
}

/**
 * Extended. An omitted field stays, except the certificate, which becomes 0, and `auto_ssl_config`, which becomes null.
 * The header and the configuration of a rule never change, and its domain may: the rule keeps its id, and the key that
 * it had is free again.
 */
export function updateRule(call: ApplicationCall): Answer {
  const { state, params, body, region } = call;
  const checked = checkFields(body, updateRules);
  if ('answer' in checked) return checked.answer;
  const { fields } = checked;
  const component = componentOfTeam(call, fields.text('service_id'));
  if (component === undefined) return plainRefusal('组件不存在');
  const rule = state.rules.get(params['rule_id'] ?? '');
  if (rule === undefined) return refused(404, 'no found', '');
  const updated = updatedRule(rule, component, fields);
  const wrong = checkDomain(call, updated.domain);
  if (wrong !== undefined) return wrong;
  if (!region.reachable) return clusterFailed();
  // The real server finds these two too late: it has sent the rest of the update to the cluster by then.
  const unknown = ['domain_header', 'whether_open'].filter((name) => fields.has(name)).map((name) => `'${name}'`);
  const misshapen = checkExtensions(call, updated.extensions);
  if (misshapen !== undefined) return misshapen;
  if (unknown.length > 0) {
    return crashed(`ServiceDomain() got unexpected keyword arguments: ${unknown.join(', ')}`, 'TypeError');
  }
  state.rules.put(updated);
  return bare(ruleRecord(state, updated, { rowId: false, extensions: null }));
}

/** The row an update asks for. Unlike a creation, it stores an unknown certificate as given. */
function updatedRule(rule: RuleRow, component: ComponentRow, fields: Fields): RuleRow {
  const certificateId = fields.integer('certificate_id') ?? 0;
  const path = (fields.text('domain_path') ?? rule.path) || '/';
  const cookie = fields.text('domain_cookie') ?? rule.cookie;
  return {
    ...rule,
    serviceId: component.id,
    appId: component.appId,
    port: fields.integer('container_port') ?? rule.port,
    domain: fields.text('domain_name') ?? rule.domain,
    path,
    protocol: certificateId === 0 ? 'http' : 'https',
    certificateId,
    cookie,
    weight: fields.integer('the_weight') ?? rule.weight,
    senior: rule.senior || isSenior(path, cookie, rule.header),
    autoSsl: fields.flag('auto_ssl') ?? rule.autoSsl,
    autoSslConfig: fields.text('auto_ssl_config') ?? null,
    extensions: fields.list('rule_extensions') ?? rule.extensions,
  };
}

/** Extended */
export function deleteRule({ state, team, params, region }: ApplicationCall): Answer {
  const rule = state.rules.get(params['rule_id'] ?? '');
  if (rule === undefined || rule.teamId !== team.id) return refused(404, 'domain not found', '域名不存在', 1404);
  if (!region.reachable) return clusterFailed();
  state.rules.delete(rule.id);
  return bare(ruleRecord(state, rule, { rowId: false, extensions: [] }));
}
