import { ruleFields, summaryFields } from './openapi-fields.ts';
import { flag, id, integer, list, record, reference, request, type Schema, text, textOrNull } from './openapi-terms.ts';

const installed = record({
  market_name: text,
  app_model_id: text,
  app_model_name: text,
  current_version: { type: 'string', description: 'the version it was installed with; an upgrade does not change it' },
  enterprise_id: text,
  can_upgrade: flag,
  upgrade_versions: list(text),
  source: text,
});

const upgradeRequest = request(
  {
    update_versions: list(
      request(
        {
          market_name: { type: ['string', 'null'], maxLength: 64, description: 'must be there; may be null' },
          app_model_id: { type: 'string', maxLength: 32 },
          app_model_version: { type: 'string', maxLength: 64 },
        },
        ['market_name', 'app_model_id', 'app_model_version'],
      ),
    ),
  },
  ['update_versions'],
);

const tcpRule = record({
  ID: integer,
  tcp_rule_id: text,
  region_id: text,
  tenant_id: text,
  service_id: text,
  service_name: { type: 'string', description: "the component's alias" },
  end_point: { type: 'string', description: 'domain of the region, and a port of its nodes' },
  protocol: { type: 'string', description: 'of the port when outer access was opened last' },
  container_port: integer,
  service_alias: { type: 'string', description: "the component's display name" },
  type: integer,
  rule_extensions: textOrNull,
  is_outer_service: flag,
});

const teamRegion = record({
  region_id: text,
  region_name: text,
  region_alias: text,
  tenant_name: text,
  url: text,
  wsurl: text,
  httpdomain: text,
  tcpdomain: text,
  token: { type: 'string', description: 'a secret' },
  status: text,
  desc: text,
  scope: text,
});

const certificate = record({
  has_expired: flag,
  issued_to: list(text),
  alias: text,
  certificate_type: text,
  end_data: { type: 'string', description: 'YYYY-MM-DD HH:MM:SS, UTC+8' },
  id: integer,
  issued_by: text,
});

const event = record({
  event_id: id,
  user_name: text,
  end_time: { type: 'string', description: 'empty while it runs' },
  target: text,
  opt_type: text,
  target_id: text,
  service_id: text,
  status: { type: 'string', description: 'success, failure, or empty while it runs' },
  request_body: text,
  create_time: text,
  final_status: { type: 'string', description: 'complete, or empty while it runs' },
  start_time: text,
  syn_type: text,
  message: text,
  tenant_id: text,
});

const sample: Schema = { type: 'array', prefixItems: [{ type: 'number' }, text], minItems: 2, maxItems: 2 };

const componentMonitorNow = record({
  monitors: list(
    record({
      data: record({ resultType: text, result: list(record({ value: list(text) })) }),
      monitor_item: text,
      status: text,
    }),
  ),
  service_id: id,
  service_cname: text,
  service_alias: text,
});

/** Schemas of the operations that only the extended dialect has. */
export function extendedSchemas(
  envelope: Readonly<Record<string, Schema>>,
  ruleRequest: Schema,
): Readonly<Record<string, Schema>> {
  const page = { page: integer, page_size: integer, total: integer };
  const innerPort = record({ port: integer, service_name: text, namespace: text, component_name: text });
  return {
    ApplicationSummary: record({ ID: integer, ...summaryFields }),
    EnterpriseRule: record({
      ID: integer,
      rule_extensions: {
        type: 'string',
        description: 'key:value pairs with commas between them; the only place that shows them',
      },
      ...ruleFields,
      region_name: text,
      team_name: text,
      app_id: integer,
    }),
    CreateApplicationRequest: request(
      { app_name: { type: 'string', maxLength: 128 }, app_note: text, k8s_app: { type: 'string', maxLength: 63 } },
      ['app_name'],
    ),
    RuleUpdateRequest: { ...ruleRequest, required: ['service_id'] },
    InstalledModel: installed,
    UpgradeRequest: upgradeRequest,
    PortEnvelope: record({ ...envelope, data: record({ bean: reference('Port'), list: list({ type: 'object' }) }) }),
    PortListEnvelope: record({
      ...envelope,
      data: record({ bean: { type: 'object' }, list: list(reference('Port')) }),
    }),
    Domains: record({ http: list(reference('Rule')), tcp: list(tcpRule) }, ['http', 'tcp']),
    TeamRegions: record({ total: integer, regions: list(teamRegion) }),
    Certificates: record({ list: list(certificate), ...page }),
    InnerPortsEnvelope: record({
      ...envelope,
      data: record({ bean: record({ namespace: text, ports: list(innerPort) }), list: list({ type: 'object' }) }),
    }),
    BuildRequest: request({}, []),
    Build: record({ event_id: id }),
    Events: record({ ...page, events: list(event) }),
    Logs: record({ logs: list(record({ message: text, time: text, utime: integer })) }),
    Matrix: record({
      status: text,
      data: record({
        resultType: text,
        result: list(record({ metric: { type: 'object', additionalProperties: text }, values: list(sample) })),
      }),
    }),
    ComponentMonitorNow: componentMonitorNow,
  };
}
