import { type Json, type JsonObject, plainJson, sameJson } from '../../model/json.ts';
import type { RuleRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Resource } from '../../model/resource.ts';
import type { RawChange, Recording } from '../reconciled.ts';
import { type RuleField, ruleFields } from './fields.ts';
import type { RuleContext } from './live.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import { type Addressed, addressOf, protocolOf, type RuleWish } from './steps.ts';

/**
 * The row of a rule that is as its manifest says.
 * @param held changes that the platform does not have: those fields keep what was last applied.
 */
export function recordingOf(
  { resource }: RuleContext,
  serviceId: string,
  key: string,
  ruleId: string | null,
  mine: OwnedObject | undefined,
  held: readonly RawChange[] = [],
): Recording {
  const { spec } = resource;
  return {
    naturalKey: key,
    remoteId: ruleId,
    remoteAux: { serviceId, ...removalMarks(resource), ...openedMark(mine), ...assumedMark(mine) },
    origin: 'created',
    state: 'present',
    lastApplied: {
      ...hiddenFields(mine?.lastApplied ?? {}),
      ...assertedFields(spec, held),
      ...formerFields(mine, held),
    },
    obligation: null,
  };
}

/** What the manifest says of the fields that it manages, without those whose changes are held. */
export function assertedFields(spec: HttpGatewayRuleSpec, held: readonly RawChange[] = []): JsonObject {
  const wanted = asserted(spec).filter(({ name }) => !held.some(({ field }) => field === name));
  return Object.fromEntries(wanted.map((field) => [field.name, field.want(spec)]));
}

function formerFields(mine: OwnedObject | undefined, held: readonly RawChange[]): JsonObject {
  const former = held.map(({ field }): [string, Json | undefined] => [field, mine?.lastApplied[field]]);
  return Object.fromEntries(former.filter(([, value]) => value !== undefined));
}

/**
 * The fields among these that no answer shows. They are remembered even when the manifest manages them no more: creating
 * the rule again would lose them otherwise.
 */
export function hiddenFields(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    ruleFields.flatMap(({ name, readBack }) =>
      readBack === 'never' && fields[name] !== undefined ? [[name, fields[name]]] : [],
    ),
  );
}

/** The rule opened outer access of its port by being created: closed again once it is gone and nothing else needs it. */
export function openedMark(row: OwnedObject | undefined): JsonObject {
  const opened = row?.remoteAux['opened'];
  return opened === undefined ? {} : { opened };
}

/**
 * Names of the fields that no answer shows, of a rule whose creation was in doubt: a rule like it exists, so they are
 * assumed to be as sent.
 */
export function assumedMark(row: OwnedObject | undefined): JsonObject {
  const assumed = row?.remoteAux[ASSUMED];
  return assumed === undefined ? {} : { [ASSUMED]: assumed };
}

const ASSUMED = 'assumed';

/** The mark of a rule that was found after its creation had been in doubt. */
export function assuming(sent: RuleWish): JsonObject {
  const hidden = Object.keys(hiddenFields(sent));
  return hidden.length === 0 ? {} : { [ASSUMED]: hidden };
}

/** What the annotations say about removal; remembered, because they go with the manifest that carried them. */
export function removalMarks(resource: Resource | undefined): JsonObject {
  return {
    ...(resource?.annotations['portolan/prune'] === 'keep' ? { prune: 'keep' } : {}),
    ...(resource?.annotations['portolan/on-removal'] === 'restore' ? { onRemoval: 'restore' } : {}),
  };
}

export function asserted(spec: HttpGatewayRuleSpec): readonly RuleField[] {
  return ruleFields.filter((field) => field.want(spec) !== undefined);
}

export function assertedChanges(
  spec: HttpGatewayRuleSpec,
  present: (field: RuleField) => Json | undefined,
): RawChange[] {
  return asserted(spec).flatMap((field) => {
    const before = present(field);
    const after = field.want(spec);
    return before !== undefined && sameJson(before, after) ? [] : [changeOf(field, before, after)];
  });
}

export function changeOf(field: RuleField, before: Json | undefined, after: Json | undefined): RawChange {
  return {
    field: field.name,
    path: field.path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}

export function readableFields(rule: RuleRecord): JsonObject {
  return Object.fromEntries(
    ruleFields.flatMap((field) => (field.read === undefined ? [] : [[field.name, field.read(rule)]])),
  );
}

/** The fields in which a rule that is there is not the one that was to be created; what no server shows cannot tell. */
export function unlikeSent(sent: RuleWish | JsonObject, found: RuleRecord): readonly string[] {
  return ruleFields.flatMap(({ name, path, read }) => {
    const wanted = sent[name] as Json | undefined;
    const shown = read?.(found);
    return wanted === undefined || shown === undefined || sameJson(shown, wanted) ? [] : [path];
  });
}

/**
 * Whether a rule that is there is the one on record. A row without an id was written on a person's word, or by a server that
 * shows no rules: a rule with its key may as well be somebody else's, unless it is just what was sent.
 */
export function isOnRecord({ remoteId, lastApplied }: OwnedObject, present: RuleRecord): boolean {
  return remoteId === null ? unlikeSent(lastApplied, present).length === 0 : remoteId === present.ruleId;
}

/** As `where`, of the natural key of a rule. */
export function nameOfKey(key: string): string {
  const address = addressOf(key);
  return address === undefined ? key : where(address);
}

/** For people: `www.example.com/`, or `https://www.example.com/`. */
export function where(rule: Omit<Addressed, 'serviceId' | 'port'>): string {
  return `${protocolOf(rule) === 'https' ? 'https://' : ''}${rule.domain}${rule.path}`;
}

export function plain(value: unknown): JsonObject {
  return plainJson(value) as JsonObject;
}
