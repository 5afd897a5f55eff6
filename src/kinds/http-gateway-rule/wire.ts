import { recordOf, recordsOf } from '../../platform/envelope.ts';
import type { Fields } from '../../platform/fields.ts';
import { type Decoded, decides, type RecordField, recordReader, shown } from '../../platform/record-fields.ts';
import { checkedId, checkedInteger, checkedPort, checkedText, CONTROL, refuse } from '../../platform/request-values.ts';
import type { WireJson, WireObject } from '../../platform/transport.ts';
import type { ExtensionEncoding } from '../../platform/writes.ts';

export type { CertificateRecord } from '../../platform/records.ts';

/** One entry of `rule_extensions`. */
export interface RuleExtension {
  readonly key: string;
  readonly value: string;
}

/** `Configuration` of a gateway rule, in our words; see `platform-api` section 2.4. */
export interface RuleConfiguration {
  readonly proxyBodySize?: number;
  readonly proxyBufferNumbers?: number;
  readonly proxyBufferSize?: number;
  readonly proxyBuffering?: string;
  readonly proxyConnectTimeout?: number;
  readonly proxyReadTimeout?: number;
  readonly proxySendTimeout?: number;
  readonly setHeaders?: readonly { readonly key: string; readonly value: string }[];
}

const DOMAIN_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const EXTENSION = /^[A-Za-z0-9_.-]{1,32}$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

/** A host name of ASCII labels, with a leading `*.` allowed: other scripts must come as punycode. */
function checkedDomain(value: string): string {
  const host = value.startsWith('*.') ? value.slice(2) : value;
  if (value.length <= 128 && host.split('.').every((label) => DOMAIN_LABEL.test(label))) return value;
  return refuse('domain', 'a host name of 128 characters at most (other scripts as punycode, xn--…)', value);
}

function checkedRulePath(value: string): string {
  if (value.startsWith('/') && value.length <= 1024 && !CONTROL.test(value) && !/\s/.test(value)) return value;
  return refuse('domain path', 'a path that starts with / and holds no white space', value);
}

function checkedExtension(value: string, what: string): string {
  return EXTENSION.test(value) ? value : refuse(what, '1 to 32 letters, digits, _, . or -', value);
}

function checkedHeaderName(value: string): string {
  return HEADER_NAME.test(value) ? value : refuse('header name', 'an HTTP header name', value);
}

/** How a body says one field of a rule. */
interface Sent<Value> {
  /** Name in the body. */
  readonly as: string;
  /** Checks the value; undefined: it means "none", which is what leaving the field out gives. */
  encode(value: Value, extensions: ExtensionEncoding): WireJson | undefined;
  /** A real server answers 500 to these in a PUT, so they are never in one. */
  readonly onlyOn?: 'create';
}

function sent<Shown, Value>(
  field: RecordField<Shown>,
  encode: (value: Value) => WireJson | undefined,
  changes: Partial<Pick<Sent<Value>, 'as' | 'onlyOn'>> = {},
): RecordField<Shown> & Sent<Value> {
  return { ...field, as: field.wire[0], encode, ...changes };
}

const textOrNone = (what: string, lengthMax: number) => (value: string) =>
  value === '' ? undefined : checkedText(value, what, lengthMax);

/** Fields that a body says and an answer shows: each is declared here, for both directions. */
const settable = {
  serviceId: sent(decides('service_id', 'id'), (value: string) => checkedId(value, 'component id')),
  port: sent(decides('container_port', 'port'), (value: number) => checkedPort(value)),
  domain: sent(decides('domain_name', 'text'), checkedDomain),
  path: sent(decides('domain_path', 'text', ''), checkedRulePath),
  certificateId: sent(decides('certificate_id', 'integer', null), (value: number) =>
    value === 0 ? undefined : checkedInteger(value, 'certificate id', 1),
  ),
  weight: sent(decides('the_weight', 'integer', null), (value: number) => checkedInteger(value, 'weight')),
  cookie: sent(decides('domain_cookie', 'text', ''), textOrNone('cookie condition', 1024)),
  header: sent(decides('domain_heander', 'text', ''), textOrNone('header condition', 1024), {
    as: 'domain_header',
    onlyOn: 'create',
  }),
  autoSsl: sent(decides('auto_ssl', 'flag', false), (value: boolean) => value),
  autoSslConfig: sent(
    decides('auto_ssl_config', 'text', null),
    textOrNone('certificate distribution configuration', 128),
  ),
};

/** Fields that a body says, and that no answer or only another listing shows. */
const unseen = {
  /** The contract says array of string, the real server wants `{key,value}`: encoded by dialect. */
  extensions: {
    as: 'rule_extensions',
    encode: (value: readonly RuleExtension[], encoding: ExtensionEncoding) => extensionList(value, encoding),
  },
  configuration: { as: 'configuration', encode: (value: RuleConfiguration) => configurationBody(value) },
  open: { as: 'whether_open', encode: (value: boolean) => value, onlyOn: 'create' },
} as const;

type Wire = typeof settable & typeof unseen;
type ValueOf<Field> = Field extends { encode(value: infer Value, extensions: ExtensionEncoding): unknown }
  ? Value
  : never;
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

/** The body of a POST or PUT. @throws PortolanError `invalid` when a value is not a documented one. */
export function ruleBody(rule: RuleFields, of: 'create' | 'update', extensions: ExtensionEncoding): WireObject {
  const values = rule as Readonly<Record<string, unknown>>;
  const fields = Object.entries({ ...settable, ...unseen }) as readonly [string, Sent<unknown>][];
  return Object.fromEntries(
    fields.flatMap(([name, { as, encode, onlyOn = of }]): [string, WireJson][] => {
      const value = values[name];
      const said = value === undefined || onlyOn !== of ? undefined : encode(value, extensions);
      return said === undefined ? [] : [[as, said]];
    }),
  );
}

function extensionList(extensions: readonly RuleExtension[], encoding: ExtensionEncoding): WireJson {
  const checked = extensions.map(({ key, value }) => ({
    key: checkedExtension(key, 'extension key'),
    value: checkedExtension(value, 'extension value'),
  }));
  return encoding === 'objects' ? checked : checked.map(({ key, value }) => `${key}:${value}`);
}

function configurationBody(configuration: RuleConfiguration): WireObject {
  const { proxyBuffering, setHeaders } = configuration;
  const numbers = {
    proxy_body_size: configuration.proxyBodySize,
    proxy_buffer_numbers: configuration.proxyBufferNumbers,
    proxy_buffer_size: configuration.proxyBufferSize,
    proxy_connect_timeout: configuration.proxyConnectTimeout,
    proxy_read_timeout: configuration.proxyReadTimeout,
    proxy_send_timeout: configuration.proxySendTimeout,
  };
  const present = Object.entries(numbers).filter((entry): entry is [string, number] => entry[1] !== undefined);
  if (proxyBuffering !== undefined && proxyBuffering !== 'on' && proxyBuffering !== 'off') {
    refuse('proxy_buffering', 'on or off', proxyBuffering);
  }
  return {
    ...Object.fromEntries(present.map(([name, value]) => [name, checkedInteger(value, name)])),
    ...(proxyBuffering === undefined ? {} : { proxy_buffering: proxyBuffering }),
    ...(setHeaders === undefined
      ? {}
      : {
          set_headers: setHeaders.map(({ key, value }) => ({
            key: checkedHeaderName(key),
            value: checkedText(value, `value of header ${key}`, 1024),
          })),
        }),
  };
}
