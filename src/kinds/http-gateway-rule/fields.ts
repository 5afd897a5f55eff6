import { type Json, sameJson } from '../../model/json.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { SECRET_MASK } from '../../model/secret.ts';
import type { ReadBack } from '../field-effects.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import type { RuleAddress, RuleWish } from './steps.ts';
import { type ManagedField, type RuleRecord, sentFields } from './wire.ts';

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
    // A masked text cannot be compared. For the listing of the application, `cannotUpdate` checks that before sending.
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

/** Returns whether only recreating the rule changes a field from one value to another. */
export function needsRecreation({ change }: RuleField, before: Json | undefined, after: Json | undefined): boolean {
  if (change === 'recreate-or-hold') return !sameJson(before ?? '', after ?? '');
  return change === 'update-not-clear' && isEmpty(after) && !isEmpty(before);
}

/** Returns whether a value contains the mask of a secret of Portolan, so that the true value is unknown. */
export function isMasked(value: Json | undefined): boolean {
  return JSON.stringify(value ?? '').includes(SECRET_MASK);
}

/** Returns whether a value means "none" on a server. */
export function isNone({ none }: RuleField, value: Json | undefined): boolean {
  return isEmpty(value) || value === none;
}

/** Returns a whole record: the address of a rule, and the fields that have a value. */
export function wishWith(
  { serviceId, port, domain, path }: Omit<RuleAddress, 'protocol'>,
  fields: readonly RuleField[],
  valueOf: (field: RuleField) => Json | undefined,
): RuleWish {
  const values = fields.map((field) => [field.name, valueOf(field)] as const);
  return { serviceId, port, domain, path, ...Object.fromEntries(values.filter(([, value]) => value !== undefined)) };
}

/** The fields that an update sends: the server ignores the others, or answers with 500. */
export const updatedFields = ruleFields.filter(({ change }) => change !== 'recreate-or-hold');

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === '' || value === null;
}

function json(value: unknown): Json | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as Json);
}
