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

/** Returns a checked host name of ASCII labels, with an optional leading `*.`. Other scripts must be written as punycode. */
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

/** The form of one field of a rule in a request. */
interface SentField<Value> {
  /** Name in the body. */
  readonly as: string;
  /** Returns the checked value; undefined: it means "none", and the field is left out. */
  encode(value: Value, takesObjects: boolean): WireJson | undefined;
  /** Only a POST has the field: a real server answers 500 to it in a PUT. */
  readonly onlyOn?: 'create';
}

/** The management of one field of a rule by manifests. */
export interface ManagedField {
  /** Path in the manifest's spec; absent: the name of the field. */
  readonly path?: string;
  /** The effect of a change. `recreate-or-hold`: an update ignores it, so that only recreating the rule changes it. */
  readonly change: Extract<ChangeEffect, 'update' | 'update-not-clear' | 'recreate-or-hold'>;
  /** The source of the present value; absent: the listing of the application. */
  readonly readBack?: Extract<ReadBack, 'listing of all rules' | 'never'>;
  /** The value of a rule whose answer says null. */
  readonly assumed?: Json;
  /** The value that means "none" on a server, besides an empty text. */
  readonly none?: Json;
}

function field<Shown, Value, Rules extends Partial<ManagedField & Pick<SentField<Value>, 'as' | 'onlyOn'>>>(
  shown: RecordField<Shown>,
  encode: (value: Value) => WireJson | undefined,
  rules?: Rules,
): RecordField<Shown> & SentField<Value> & Partial<ManagedField> {
  return { ...shown, as: shown.wire[0], encode, ...rules };
}

/** The platform's weight of a rule without one. */
export const WEIGHT_DEFAULT = 100;

/**
 * Fields that a request has and an answer shows. Each is declared here for both directions and for the manifest. The effects of
 * changes were observed on a real server. An update keeps each field that its body omits, except the certificate and the
 * configuration of automatic certificates, which it resets.
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

/** Fields that a request has, and that no answer or only another listing shows. */
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

/** The fields of a rule in an answer. */
export const ruleTable = {
  ruleId: decides('http_rule_id', 'id'),
  ...settable,
  protocol: decides('protocol', 'text', ''),
  type: decides('type', 'integer', null),
  outer: decides('is_outer_service', 'flag', false),
  pathRewrite: shown('path_rewrite', 'flag', null),
  rewrites: shown('rewrites', 'rewrites', null),
  componentAlias: shown('service_name', 'text', null),
};

/** A rule; never without an id: a blank record decodes to "absent". `type` 0: made by the platform when outer was opened. */
export type RuleRecord = Decoded<typeof ruleTable> & {
  /** Absent where the answer does not show them: only the listing of all rules does. */
  readonly extensions?: readonly RuleExtension[];
};

/** The fields of a rule's application, in the listing of all rules. */
export const placeTable = {
  team: decides('team_name', 'text'),
  region: decides('region_name', 'text'),
  appId: decides('app_id', 'decimal'),
};

/** A rule of the listing of all rules, with the application that it belongs to. */
export type PlacedRule = Decoded<typeof placeTable> & { readonly rule: RuleRecord };

export function hasRewrites({ rewrites }: RuleRecord): boolean {
  return rewrites !== null && rewrites !== '' && rewrites !== '[]';
}

const presentRuleOf = recordReader(ruleTable);
const placeOf = recordReader(placeTable);

/** Decodes one rule; undefined: the record is blank, because no rule has that id. */
export function decodeRule(json: unknown, where: string): RuleRecord | undefined {
  return ruleOf(recordOf(json, where));
}

/** Decodes a listing of rules, without blank rows. */
export function decodeRules(json: unknown, where: string): readonly RuleRecord[] {
  return recordsOf(json, where).flatMap((fields) => ruleOf(fields) ?? []);
}

/** Decodes the listing of all rules, each with its application. */
export function decodePlacedRules(json: unknown, where: string): readonly PlacedRule[] {
  return recordsOf(json, where).flatMap((fields) => {
    const rule = ruleOf(fields);
    return rule === undefined
      ? []
      : [{ ...placeOf(fields), rule: withExtensions(rule, fields.raw('rule_extensions')) }];
  });
}

/**
 * Adds the extensions of a rule, which the listing of all rules has as text: `lb-type:round-robin,retries:3`. If the text has
 * another form, they stay unknown.
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

/** Decodes a record; undefined: it is blank. A rule without an id is schema drift. */
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
