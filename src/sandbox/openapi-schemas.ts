import { extendedSchemas } from './openapi-extended.ts';
import { ruleFields, summaryFields } from './openapi-fields.ts';
import {
  flag,
  id,
  integer,
  integerOrNull,
  list,
  protocol,
  record,
  reference,
  request,
  type Schema,
  text,
  textOrNull,
} from './openapi-terms.ts';
import type { Dialect } from './wire.ts';

const region = record(
  {
    region_id: text,
    region_name: text,
    region_alias: text,
    url: text,
    wsurl: text,
    httpdomain: text,
    tcpdomain: text,
    status: { type: 'string', description: '0 editing, 1 enabled, 2 disabled, 3 under maintenance' },
    desc: text,
    scope: { type: 'string', const: 'private' },
    ssl_ca_cert: textOrNull,
    cert_file: textOrNull,
    key_file: textOrNull,
  },
  ['wsurl', 'httpdomain', 'tcpdomain'],
);

function application(dialect: Dialect): Schema {
  return record({
    ...(dialect === 'documented' ? { ID: integer } : {}),
    enterprise_id: text,
    service_count: integer,
    running_service_count: integer,
    used_momory: { type: 'integer', description: 'MiB' },
    used_cpu: {
      type: dialect === 'documented' ? 'integer' : 'number',
      description: dialect === 'documented' ? '1000 = one core' : '30 per 128 MiB; may be a fraction',
    },
    app_id:
      dialect === 'documented'
        ? integer
        : { type: ['integer', 'string'], description: 'a string when used_cpu is a fraction' },
    team_name: text,
    status: {
      type: 'string',
      enum: ['running', 'part_running', 'closed'],
      description: 'closed also where the cluster cannot be asked',
    },
    ...summaryFields,
  });
}

function port(dialect: Dialect): Schema {
  return record({
    container_port: integer,
    ...(dialect === 'extended' ? { mapping_port: integer, lb_mapping_port: integer } : {}),
    protocol,
    port_alias: text,
    is_inner_service: flag,
    is_outer_service: flag,
    k8s_service_name: text,
  });
}

function rule(dialect: Dialect): Schema {
  const extensions = { rule_extensions: list(dialect === 'documented' ? text : {}) };
  const fields = { ID: integer, ...extensions, ...ruleFields };
  return dialect === 'documented' ? record(fields) : record(fields, ['ID', 'rule_extensions']);
}

function component(dialect: Dialect): Schema {
  return record({
    status: { type: ['string', 'null'], description: 'null where the cluster cannot be asked' },
    access_infos: list(text),
    service_id: id,
    tenant_id: text,
    service_key: text,
    service_alias: text,
    service_cname: text,
    service_region: text,
    desc: textOrNull,
    category: text,
    version: text,
    update_version: integer,
    image: text,
    cmd: textOrNull,
    min_node: integer,
    min_cpu: integer,
    container_gpu: integer,
    min_memory: integer,
    extend_method: text,
    code_from: textOrNull,
    git_url: textOrNull,
    git_project_id: integer,
    code_version: textOrNull,
    service_type: textOrNull,
    creater: integer,
    language: textOrNull,
    total_memory: integer,
    is_service: flag,
    service_origin: text,
    tenant_service_group_id: { type: 'integer', description: 'the install it came with; 0 for none' },
    open_webhooks: flag,
    service_source: textOrNull,
    create_status: textOrNull,
    check_uuid: textOrNull,
    check_event_id: textOrNull,
    docker_cmd: textOrNull,
    server_type: text,
    is_upgrate: flag,
    build_upgrade: flag,
    oauth_service_id: integerOrNull,
    k8s_component_name: text,
    ...(dialect === 'extended' ? { build_strategy: text, job_strategy: text, arch: text, dockerfile: text } : {}),
  });
}

function monitor(dialect: Dialect): Schema {
  const pair = { type: 'array', prefixItems: [{ type: 'number' }, text], minItems: 2, maxItems: 2 };
  const value =
    dialect === 'extended'
      ? { ...list(pair), description: '[epoch seconds, value], all samples of the range' }
      : { ...list(text), description: '[epoch seconds, value], one sample per result; empty for none' };
  return record({
    monitors: list(
      record({
        data: record({ resultType: text, result: list(record({ value })) }),
        monitor_item: text,
        status: text,
      }),
    ),
    service_id: id,
    service_cname: text,
    service_alias: text,
  });
}

function ruleRequest(dialect: Dialect): Schema {
  const pair = record({ key: text, value: text });
  return request(
    {
      service_id: id,
      container_port: integer,
      certificate_id: { type: 'integer', description: 'given: https. Unknown ids are stored as 0' },
      domain_name: { type: 'string', maxLength: 128 },
      domain_cookie: text,
      domain_header: text,
      the_weight: { type: 'integer', default: 100 },
      domain_path: { type: 'string', default: '/' },
      rule_extensions: list(dialect === 'documented' ? text : pair),
      whether_open: { type: 'boolean', default: false },
      auto_ssl: { type: 'boolean', default: false },
      auto_ssl_config: text,
      configuration: reference('Configuration'),
    },
    ['service_id', 'container_port', 'domain_name'],
  );
}

const configuration = request(
  {
    proxy_body_size: integer,
    proxy_buffer_numbers: integer,
    proxy_buffer_size: integer,
    proxy_buffering: text,
    proxy_connect_timeout: integer,
    proxy_read_timeout: integer,
    proxy_send_timeout: integer,
    set_headers: list(record({ key: text, value: text })),
  },
  [],
);

function addPortRequest(dialect: Dialect): Schema {
  const number: Schema = { type: ['integer', 'string'], description: 'a number or a numeric string, 1 to 65535' };
  const fields = { port: number, protocol, port_alias: textOrNull, is_inner_service: flag };
  return request(fields, dialect === 'documented' ? ['port', 'protocol'] : ['port', 'is_inner_service']);
}

const updatePortRequest = request(
  {
    action: {
      type: 'string',
      enum: ['open_outer', 'close_outer', 'open_inner', 'close_inner', 'change_protocol', 'change_port_alias'],
    },
    protocol: { ...protocol, description: 'for change_protocol; left out it becomes http' },
    port_alias: textOrNull,
    k8s_service_name: { type: ['string', 'null'], description: 'with change_port_alias; left out it is a 500' },
  },
  ['action'],
);

const installRequest = request(
  {
    market_url: { type: 'string', maxLength: 255 },
    market_domain: { type: 'string', maxLength: 64 },
    market_type: { type: 'string', maxLength: 64 },
    market_access_key: { type: ['string', 'null'], maxLength: 64, writeOnly: true },
    app_model_id: { type: 'string', maxLength: 64 },
    app_model_version: { type: 'string', maxLength: 64 },
  },
  ['market_url', 'market_domain', 'market_type', 'market_access_key', 'app_model_id', 'app_model_version'],
);

const data = record({ bean: { type: 'object' }, list: { type: 'array', items: { type: 'object' } } });

/** Errors of every shape. The members of an answer determine its shape, not its status. */
const errors: Readonly<Record<string, Schema>> = {
  Refusal: record({ code: integer, msg: textOrNull, msg_show: text, data }),
  InvalidBody: record({
    detail: text,
    err: { type: 'object', additionalProperties: list(text) },
    code: { type: 'integer', const: 20400 },
    error_type: text,
  }),
  FrameworkError: record({ detail: text, code: integer, msg: text, msg_show: text, error_type: text }),
  PlainRefusal: record({ msg: text }),
  ClusterFailure: record({ code: integer, msg: { type: 'object' }, msg_show: text }),
  Crash: record({ code: integer, msg: text, msg_show: text, error_type: text }),
};

export const errorNames = Object.keys(errors);

/** Every named schema of a dialect's document. */
export function schemasOf(dialect: Dialect): Readonly<Record<string, Schema>> {
  const envelope = { code: { type: 'integer', const: 200 }, msg: text, msg_show: text };
  const documented = {
    ...errors,
    Region: region,
    Application: application(dialect),
    Port: port(dialect),
    Rule: rule(dialect),
    Component: component(dialect),
    ComponentMonitor: monitor(dialect),
    RuleRequest: ruleRequest(dialect),
    Configuration: configuration,
    AddPortRequest: addPortRequest(dialect),
    UpdatePortRequest: updatePortRequest,
    InstallRequest: installRequest,
    InstallResult: record({
      enterprise_id: text,
      team_id: text,
      note: text,
      ID: integer,
      region_name: text,
      service_list: list(reference('Component')),
    }),
  };
  if (dialect === 'documented') return documented;
  return { ...documented, ...extendedSchemas(envelope, ruleRequest('extended')) };
}
