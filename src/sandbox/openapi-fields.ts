import { flag, integer, integerOrNull, type Schema, text, textOrNull } from './openapi-terms.ts';

/** The fields that the listing of a team and the detail share. */
export const summaryFields: Readonly<Record<string, Schema>> = {
  tenant_id: text,
  group_name: text,
  region_name: text,
  is_default: flag,
  order_index: integer,
  note: textOrNull,
  username: textOrNull,
  governance_mode: textOrNull,
  create_time: { type: 'string', description: 'ISO 8601; without a zone in the extended dialect' },
  update_time: text,
  app_type: text,
  app_store_name: textOrNull,
  app_store_url: textOrNull,
  app_template_name: textOrNull,
  version: textOrNull,
  logo: textOrNull,
  k8s_app: text,
};

/** The fields of every record of a rule. */
export const ruleFields: Readonly<Record<string, Schema>> = {
  http_rule_id: text,
  region_id: text,
  tenant_id: text,
  service_id: text,
  service_name: { type: 'string', description: "the component's alias" },
  domain_name: text,
  container_port: integerOrNull,
  protocol: text,
  certificate_id: integerOrNull,
  domain_type: text,
  service_alias: { type: 'string', description: "the component's display name" },
  is_senior: flag,
  domain_path: { type: 'string', description: 'empty for the default rule' },
  domain_cookie: text,
  domain_heander: text,
  type: { type: ['integer', 'null'], description: '0 made by the platform, 1 made by someone' },
  the_weight: integerOrNull,
  is_outer_service: flag,
  auto_ssl: flag,
  auto_ssl_config: textOrNull,
  path_rewrite: flag,
  rewrites: { type: ['string', 'array'], items: {} },
};
