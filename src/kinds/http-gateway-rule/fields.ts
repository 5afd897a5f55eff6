import { type Json, sameJson } from '../../model/json.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { SECRET_MASK } from '../../model/secret.ts';
import { decides, type RecordField } from '../../platform/record-fields.ts';
import { checkedId, checkedInteger, checkedPort } from '../../platform/request-values.ts';
import type { WireJson } from '../../platform/transport.ts';
import type { ChangeEffect, ReadBack } from '../field-effects.ts';
import {
  configurationBody,
  domainText,
  extensionList,
  pathText,
  type RuleExtension,
  textOrNone,
} from './request-values.ts';
import type { HttpGatewayRuleSpec, RuleConfiguration } from './spec.ts';
import type { RuleRecord } from './wire.ts';

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
interface ManagedField {
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
export const settable = {
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
export const unseen = {
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

/** A field that a manifest manages. */
export interface RuleField extends Required<Pick<ManagedField, 'path' | 'change'>> {
  /** Name in `lastApplied` and in a step. */
  readonly name: string;
  readonly readBack: ReadBack;
  readonly none: Json | undefined;
  /** Returns what the manifest asks for; undefined: it does not manage the field. */
  want(spec: HttpGatewayRuleSpec): Json | undefined;
  /** Missing: no answer shows it, so it is compared with what was last applied. undefined: the answer at hand does not show it. */
  readonly read?: (rule: RuleRecord) => Json | undefined;
}

export const ruleFields: readonly RuleField[] = sentFields.flatMap(([name, declared]): readonly RuleField[] => {
  const { change, path = name, readBack = 'own listing', assumed, none } = declared;
  if (change === undefined) return [];
  const read = (rule: RuleRecord): Json | undefined => {
    const value = json(valueAt(rule, name)) ?? assumed;
    // A masked text is no value to compare with; what the listing of the application shows is guarded where it is sent.
    return readBack === 'listing of all rules' && isMasked(value) ? undefined : value;
  };
  const want = (spec: HttpGatewayRuleSpec): Json | undefined => json(valueAt(spec, path));
  return [{ name, path, change, readBack, none, want, ...(readBack === 'never' ? {} : { read }) }];
});

function valueAt(record: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, step) => (value as Readonly<Record<string, unknown>> | undefined)?.[step], record);
}

/** Returns the present value of a field: as the platform shows it, or as last applied where it does not show it. */
export function presentValue(
  { name, read, readBack }: RuleField,
  present: RuleRecord,
  mine: Pick<OwnedObject, 'lastApplied'> | undefined,
): Json | undefined {
  return read?.(present) ?? (readBack === 'own listing' ? undefined : mine?.lastApplied[name]);
}

/** Whether only creating the rule again takes a field from one value to another. */
export function needsRecreation({ change }: RuleField, before: Json | undefined, after: Json | undefined): boolean {
  if (change === 'recreate-or-hold') return !sameJson(before ?? '', after ?? '');
  return change === 'update-not-clear' && isEmpty(after) && !isEmpty(before);
}

/** Whether a value holds the mask of one of Portolan's own secrets, so that the true value is not known. */
export function isMasked(value: Json | undefined): boolean {
  return JSON.stringify(value ?? '').includes(SECRET_MASK);
}

/** Whether a value is how a server says "none". */
export function isNone({ none }: RuleField, value: Json | undefined): boolean {
  return isEmpty(value) || value === none;
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === '' || value === null;
}

function json(value: unknown): Json | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as Json);
}
