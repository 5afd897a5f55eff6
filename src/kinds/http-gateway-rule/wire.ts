import { recordOf, recordsOf } from '../../platform/envelope.ts';
import type { Fields } from '../../platform/fields.ts';
import { type Decoded, decides, recordReader, shown } from '../../platform/record-fields.ts';
import type { WireJson, WireObject } from '../../platform/transport.ts';
import { sentFields, settable, type unseen } from './fields.ts';
import type { RuleExtension } from './request-values.ts';

export type { CertificateRecord } from '../../platform/records.ts';

type Wire = typeof settable & typeof unseen;
type ValueOf<Field> = Field extends { encode(value: infer Value, takesObjects: boolean): unknown } ? Value : never;
type Key = 'serviceId' | 'port' | 'domain';

/** Every field of the `Http` request (section 2.4). Absent fields are left out of the body, never sent as null or "". */
export type RuleFields = { readonly [Name in Key]: ValueOf<Wire[Name]> } & {
  readonly [Name in Exclude<keyof Wire, Key>]?: ValueOf<Wire[Name]>;
};

/** How an answer's rule is read. */
export const ruleTable = {
  ruleId: decides('http_rule_id', 'id'),
  ...settable,
  protocol: decides('protocol', 'text', ''),
  type: decides('type', 'integer', null),
  outer: decides('is_outer_service', 'flag', false),
  rowId: shown('ID', 'number', null),
  isSenior: shown('is_senior', 'flag', null),
  domainType: shown('domain_type', 'text', null),
  pathRewrite: shown('path_rewrite', 'flag', null),
  rewrites: shown('rewrites', 'rewrites', null),
  regionId: shown('region_id', 'id', null),
  tenantId: shown('tenant_id', 'id', null),
  componentAlias: shown('service_name', 'text', null),
  componentName: shown('service_alias', 'text', null),
  team: shown('team_name', 'text', null),
  region: shown('region_name', 'text', null),
  appId: shown('app_id', 'number', null),
};

/** A rule; never without an id: a blank record decodes to "absent". `type` 0: made by the platform when outer was opened. */
export type RuleRecord = Decoded<typeof ruleTable> & {
  /** Absent where the answer does not show them: only the listing of all rules does. */
  readonly extensions?: readonly RuleExtension[];
};

/** Where a rule of the listing of all rules is; the rule itself is read by its own table. */
export const placeTable = {
  team: decides('team_name', 'text'),
  region: decides('region_name', 'text'),
  appId: decides('app_id', 'decimal'),
};

/** A rule of the listing of all rules, with the application that it belongs to. */
export type PlacedRule = Decoded<typeof placeTable> & { readonly rule: RuleRecord };

const presentRuleOf = recordReader(ruleTable);
const placeOf = recordReader(placeTable);

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
    return rule === undefined
      ? []
      : [{ ...placeOf(fields), rule: withExtensions(rule, fields.raw('rule_extensions')) }];
  });
}

/**
 * The listing of all rules shows extensions as text, `lb-type:round-robin,retries:3`. Text of another form shows nothing: the
 * extensions then count as unknown.
 */
function withExtensions(rule: RuleRecord, text: unknown): RuleRecord {
  if (typeof text !== 'string') return rule;
  const entries = text.split(',').filter((entry) => entry !== '');
  const extensions = entries.flatMap((entry) => {
    const [key, value, ...rest] = entry.split(':');
    return key === undefined || key === '' || value === undefined || rest.length > 0 ? [] : [{ key, value }];
  });
  return extensions.length === entries.length ? { ...rule, extensions } : rule;
}

/** Blank as a whole means absent; a rule without an id is something that we do not understand. */
function ruleOf(fields: Fields): RuleRecord | undefined {
  const isBlank =
    fields.idOrNull('http_rule_id') === null &&
    ['service_id', 'domain_name'].every((name) => (fields.raw(name) ?? '') === '') &&
    (fields.raw('container_port') ?? null) === null;
  return isBlank ? undefined : presentRuleOf(fields);
}

/**
 * Returns the body of a POST or PUT.
 * @param takesObjects whether extensions travel as objects.
 * @throws PortolanError `invalid` when a value is not a documented one.
 */
export function ruleBody(rule: RuleFields, of: 'create' | 'update', takesObjects: boolean): WireObject {
  const values = rule as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    sentFields.flatMap(([name, { as, encode, onlyOn = of }]): [string, WireJson][] => {
      const value = values[name];
      const said = value === undefined || onlyOn !== of ? undefined : encode(value, takesObjects);
      return said === undefined ? [] : [[as, said]];
    }),
  );
}
