import { recordOf, recordsOf } from '../../platform/envelope.ts';
import type { Fields } from '../../platform/fields.ts';
import { type Decoded, decides, type RecordField, recordReader, shown } from '../../platform/record-fields.ts';
import {
  checked,
  checkedId,
  checkedInteger,
  checkedPort,
  checkedText,
  CONTROL,
} from '../../platform/request-values.ts';
import type { WireJson, WireObject } from '../../platform/transport.ts';
import type { Json } from '../../model/json.ts';
import type { ChangeEffect, ReadBack } from '../field-effects.ts';
import type { HttpGatewayRuleSpec, RuleConfiguration } from './spec.ts';

export type { CertificateRecord } from '../../platform/records.ts';

type RuleExtension = NonNullable<HttpGatewayRuleSpec['extensions']>[number];

const DOMAIN_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const EXTENSION = /^[A-Za-z0-9_.-]{1,32}$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

/** A host name of ASCII labels, with a leading `*.` allowed: other scripts must come as punycode. */
function domainText(value: string): string {
  const host = value.startsWith('*.') ? value.slice(2) : value;
  const isHost = value.length <= 128 && host.split('.').every((label) => DOMAIN_LABEL.test(label));
  return checked(value, isHost, 'domain', 'a host name of 128 characters at most (other scripts as punycode, xn--…)');
}

function pathText(value: string): string {
  const isPath = value.startsWith('/') && value.length <= 1024 && !CONTROL.test(value) && !/\s/.test(value);
  return checked(value, isPath, 'domain path', 'a path that starts with / and holds no white space');
}

/** Returns the check of a text that a body leaves out where it is empty. */
function textOrNone(what: string, lengthMax: number): (value: string) => string | undefined {
  return (value) => (value === '' ? undefined : checkedText(value, what, lengthMax));
}

/** Returns the extensions as a body has them. The documents say a list of strings; the real server takes objects only. */
function extensionList(extensions: readonly RuleExtension[], takesObjects: boolean): WireJson {
  const text = (value: string, what: string): string =>
    checked(value, EXTENSION.test(value), what, '1 to 32 letters, digits, _, . or -');
  const entries = extensions.map(({ key, value }) => ({
    key: text(key, 'extension key'),
    value: text(value, 'extension value'),
  }));
  return takesObjects ? entries : entries.map(({ key, value }) => `${key}:${value}`);
}

/** Returns a configuration as a body has it, each field under its name in snake case. */
function configurationBody(configuration: RuleConfiguration): WireObject {
  const entries = Object.entries(configuration).map(([name, value]): [string, WireJson] => {
    const as = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (typeof value === 'number') return [as, checkedInteger(value, as)];
    if (typeof value === 'string') return [as, checked(value, value === 'on' || value === 'off', as, 'on or off')];
    return [as, value.map(headerOf)];
  });
  return Object.fromEntries(entries);
}

function headerOf({ key, value }: NonNullable<RuleConfiguration['setHeaders']>[number]): WireObject {
  return {
    key: checked(key, HEADER_NAME.test(key), 'header name', 'an HTTP header name'),
    value: checkedText(value, `value of header ${key}`, 1024),
  };
}

/** How a request says one field of a rule. */
interface SentField<Value> {
  /** Name in the body. */
  readonly as: string;
  /** Checks the value; undefined: it means "none", which is what leaving the field out gives. */
  encode(value: Value, takesObjects: boolean): WireJson | undefined;
  /** A real server answers 500 to these in a PUT, so they are never in one. */
  readonly onlyOn?: 'create';
}

/** How a manifest manages one field of a rule. */
export interface ManagedField {
  /** Place in the manifest's spec; absent: the name of the field. */
  readonly path?: string;
  /** What the server does with a change. `recreate-or-hold`: an update ignores it, so only creating the rule again changes it. */
  readonly change: Extract<ChangeEffect, 'update' | 'update-not-clear' | 'recreate-or-hold'>;
  /** Absent: the listing of the application shows it. */
  readonly readBack?: Extract<ReadBack, 'listing of all rules' | 'never'>;
  /** The value of a rule whose answer says null. */
  readonly assumed?: Json;
  /** How a server says "none", besides an empty text. */
  readonly none?: Json;
}

function field<Shown, Value, Rules extends Partial<ManagedField & Pick<SentField<Value>, 'as' | 'onlyOn'>>>(
  shown: RecordField<Shown>,
  encode: (value: Value) => WireJson | undefined,
  rules?: Rules,
): RecordField<Shown> & SentField<Value> & Partial<ManagedField> {
  return { ...shown, as: shown.wire[0], encode, ...rules };
}

/** The weight that the platform gives to a rule without one. */
export const WEIGHT_DEFAULT = 100;

/**
 * Fields that a body says and an answer shows: each is declared here, for both directions and for the manifest. What a
 * server does with a change was observed on a real one. An update keeps each field that its body omits, except the
 * certificate and the automatic certificates' configuration, which it then resets.
 */
const settable = {
  serviceId: field(decides('service_id', 'id'), (value: string) => checkedId(value, 'component id')),
  port: field(decides('container_port', 'port'), (value: number) => checkedPort(value)),
  domain: field(decides('domain_name', 'text'), domainText),
  path: field(decides('domain_path', 'text', ''), pathText),
  weight: field(decides('the_weight', 'integer', null), (value: number) => checkedInteger(value, 'weight'), {
    change: 'update',
    assumed: WEIGHT_DEFAULT,
  }),
  cookie: field(decides('domain_cookie', 'text', ''), textOrNone('cookie condition', 1024), {
    change: 'update-not-clear',
  }),
  header: field(decides('domain_heander', 'text', ''), textOrNone('header condition', 1024), {
    as: 'domain_header',
    onlyOn: 'create',
    change: 'recreate-or-hold',
  }),
  certificateId: field(
    decides('certificate_id', 'integer', null),
    (value: number) => (value === 0 ? undefined : checkedInteger(value, 'certificate id', 1)),
    { change: 'update', assumed: 0, none: 0 },
  ),
  autoSsl: field(decides('auto_ssl', 'flag', false), (value: boolean) => value, {
    path: 'autoSsl.enabled',
    change: 'update',
  }),
  autoSslConfig: field(
    decides('auto_ssl_config', 'text', null),
    textOrNone('certificate distribution configuration', 128),
    { path: 'autoSsl.config', change: 'update', assumed: '' },
  ),
};

/** Fields that a body says, and that no answer or only another listing shows. */
const unseen = {
  extensions: {
    as: 'rule_extensions',
    encode: (value: readonly RuleExtension[], takesObjects: boolean) => extensionList(value, takesObjects),
    change: 'update',
    readBack: 'listing of all rules',
  },
  configuration: {
    as: 'configuration',
    encode: (value: RuleConfiguration) => configurationBody(value),
    change: 'recreate-or-hold',
    readBack: 'never',
  },
  open: { as: 'whether_open', encode: (value: boolean) => value, onlyOn: 'create' },
} as const;

/** Every field that a body may have. */
export const sentFields = Object.entries({ ...settable, ...unseen }) as readonly (readonly [
  string,
  SentField<unknown> & Partial<ManagedField>,
])[];

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
