import { type Json, sameJson } from '../../model/json.ts';
import type { RuleRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { SECRET_MASK } from '../../model/secret.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';

/** One managed field of a rule: how the manifest says it, how a server shows it, and whether an update changes it. */
export interface RuleField {
  /** Name in `lastApplied` and in a step. */
  readonly name: string;
  /** Place in the manifest's spec. */
  readonly path: string;
  /** undefined: absent in the manifest, so not managed. */
  want(spec: HttpGatewayRuleSpec): Json | undefined;
  /**
   * Missing: no answer shows it, so it is compared with what was last applied. undefined: the answer at hand does not show
   * it. Server defaults are normalised here, and only here.
   */
  readonly read?: (rule: RuleRecord) => Json | undefined;
  /** How a server says "none", besides an empty text. */
  readonly none?: Json;
  /** What shows it: the listing of the application, only that of all rules, or nothing. */
  readonly shownBy: 'own-listing' | 'all-rules' | 'never';
  /**
   * What an update (PUT) does. `changes`: sets and clears it. `sets`: sets it, and cannot clear it. `keeps`: ignores it, so
   * only creating the rule again changes it.
   */
  readonly update: 'changes' | 'sets' | 'keeps';
}

/** The weight that the platform gives to a rule without one. */
export const WEIGHT_DEFAULT = 100;

/**
 * Observed on a real server. An update keeps each field that its body omits, except the certificate and the automatic
 * certificates' configuration, which it then resets.
 */
export const ruleFields: readonly RuleField[] = [
  {
    name: 'weight',
    path: 'weight',
    want: (spec) => spec.weight,
    read: (rule) => rule.weight ?? WEIGHT_DEFAULT,
    shownBy: 'own-listing',
    update: 'changes',
  },
  {
    name: 'cookie',
    path: 'cookie',
    want: (spec) => spec.cookie,
    read: (rule) => rule.cookie,
    shownBy: 'own-listing',
    update: 'sets',
  },
  {
    name: 'header',
    path: 'header',
    want: (spec) => spec.header,
    read: (rule) => rule.header,
    shownBy: 'own-listing',
    update: 'keeps',
  },
  {
    name: 'certificateId',
    path: 'certificateId',
    want: (spec) => spec.certificateId,
    read: (rule) => rule.certificateId ?? 0,
    none: 0,
    shownBy: 'own-listing',
    update: 'changes',
  },
  {
    name: 'autoSsl',
    path: 'autoSsl.enabled',
    want: (spec) => spec.autoSsl?.enabled,
    read: (rule) => rule.autoSsl,
    shownBy: 'own-listing',
    update: 'changes',
  },
  {
    name: 'autoSslConfig',
    path: 'autoSsl.config',
    want: (spec) => spec.autoSsl?.config,
    read: (rule) => rule.autoSslConfig ?? '',
    shownBy: 'own-listing',
    update: 'changes',
  },
  {
    name: 'extensions',
    path: 'extensions',
    want: (spec) => json(spec.extensions),
    // A masked text is no value to compare with.
    read: (rule) => (isMasked(json(rule.extensions)) ? undefined : json(rule.extensions)),
    shownBy: 'all-rules',
    update: 'changes',
  },
  {
    name: 'configuration',
    path: 'configuration',
    want: (spec) => json(spec.configuration),
    shownBy: 'never',
    update: 'keeps',
  },
];

/** The present value of a field: as the platform shows it, or as last applied where it does not show it. */
export function presentValue(
  field: RuleField,
  present: RuleRecord,
  mine: Pick<OwnedObject, 'lastApplied'> | undefined,
): Json | undefined {
  return field.read?.(present) ?? (field.shownBy === 'own-listing' ? undefined : mine?.lastApplied[field.name]);
}

/** Whether only creating the rule again takes a field from one value to another. */
export function needsRecreation({ update }: RuleField, before: Json | undefined, after: Json | undefined): boolean {
  if (update === 'keeps') return !sameJson(before ?? '', after ?? '');
  return update === 'sets' && isEmpty(after) && !isEmpty(before);
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
