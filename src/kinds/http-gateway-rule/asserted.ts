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
 * Returns the row of a rule that matches its manifest.
 * @param held changes that are held: those fields keep the value that was last applied.
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

/** Returns the managed fields of the manifest, without those whose changes are held. */
export function assertedFields(spec: HttpGatewayRuleSpec, held: readonly RawChange[] = []): JsonObject {
  const wanted = asserted(spec).filter(({ name }) => !held.some(({ field }) => field === name));
  return Object.fromEntries(wanted.map((field) => [field.name, field.want(spec)]));
}

function formerFields(mine: OwnedObject | undefined, held: readonly RawChange[]): JsonObject {
  const former = held.map(({ field }): [string, Json | undefined] => [field, mine?.lastApplied[field]]);
  return Object.fromEntries(former.filter(([, value]) => value !== undefined));
}

/**
 * Returns the fields that no answer shows. The ledger keeps them even if the manifest does not manage them any more: recreating
 * the rule would lose them otherwise.
 */
export function hiddenFields(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    ruleFields.flatMap(({ name, readBack }) =>
      readBack === 'never' && fields[name] !== undefined ? [[name, fields[name]]] : [],
    ),
  );
}

/** Returns the mark of a rule whose creation opened its port. The port is closed after the rule if nothing else needs it. */
export function openedMark(row: OwnedObject | undefined): JsonObject {
  const opened = row?.remoteAux['opened'];
  return opened === undefined ? {} : { opened };
}

/**
 * Returns the mark with the fields that no answer shows, of a rule whose creation was in doubt: a matching rule exists, so their
 * values are assumed to be as sent.
 */
export function assumedMark(row: OwnedObject | undefined): JsonObject {
  const assumed = row?.remoteAux[ASSUMED];
  return assumed === undefined ? {} : { [ASSUMED]: assumed };
}

const ASSUMED = 'assumed';

/** Returns the mark of a rule that was found after its creation was in doubt. */
export function assuming(sent: RuleWish): JsonObject {
  const hidden = Object.keys(hiddenFields(sent));
  return hidden.length === 0 ? {} : { [ASSUMED]: hidden };
}

/** Returns the annotations about removal. The ledger keeps them, because they disappear together with the manifest. */
export function removalMarks(resource: Resource | undefined): JsonObject {
  return {
    ...(resource?.annotations['portolan/prune'] === 'keep' ? { prune: 'keep' } : {}),
    ...(resource?.annotations['portolan/on-removal'] === 'restore' ? { onRemoval: 'restore' } : {}),
  };
}

/** Returns the member of a step with the removal marks of its manifest. */
export function sentMarks(resource: Resource): { readonly marks?: JsonObject } {
  const marks = removalMarks(resource);
  return Object.keys(marks).length === 0 ? {} : { marks };
}

/**
 * Returns facts with the removal marks of a manifest that differs, is held or is suspended; undefined: they have them. A mark is
 * dropped only once the object is as its manifest says.
 */
export function withRemovalMarks(facts: JsonObject, resource: Resource): JsonObject | undefined {
  const news = Object.entries(removalMarks(resource)).filter(([mark, value]) => facts[mark] !== value);
  return news.length === 0 ? undefined : { ...facts, ...Object.fromEntries(news) };
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

/** Returns the paths of fields in which an existing rule differs from the sent one; hidden fields are not compared. */
export function unlikeSent(sent: RuleWish | JsonObject, found: RuleRecord): readonly string[] {
  return ruleFields.flatMap(({ name, path, read }) => {
    const wanted = sent[name] as Json | undefined;
    const shown = read?.(found);
    return wanted === undefined || shown === undefined || sameJson(shown, wanted) ? [] : [path];
  });
}

/**
 * Returns whether an existing rule is the recorded one. A row has no id after a manual resolution, or from a server that does not
 * list rules. A rule with its key may then be unmanaged, unless it is exactly as sent.
 */
export function isOnRecord({ remoteId, lastApplied }: OwnedObject, present: RuleRecord): boolean {
  return remoteId === null ? unlikeSent(lastApplied, present).length === 0 : remoteId === present.ruleId;
}

/** Returns the address in the natural key of a rule, in the form of `where`. */
export function nameOfKey(key: string): string {
  const address = addressOf(key);
  return address === undefined ? key : where(address);
}

/** Returns the address of a rule for messages: `www.example.com/` or `https://www.example.com/`. */
export function where(rule: Omit<Addressed, 'serviceId' | 'port'>): string {
  return `${protocolOf(rule) === 'https' ? 'https://' : ''}${rule.domain}${rule.path}`;
}

export function plain(value: unknown): JsonObject {
  return plainJson(value) as JsonObject;
}
