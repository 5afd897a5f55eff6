import { resourceIdSchema as resource, type ScopeKey } from './ids.ts';
import type { JsonObject } from './json.ts';
import type { EpochMs } from './time.ts';
import { count, json, jsonObject, literal, nullable, objectOf, text, time, type TypeOf } from './schema-words.ts';

export const originSchema = literal('created', 'adopted', 'observed');
/** `created` by Portolan, `adopted` by an operator, or only `observed`: Portolan does not own it and never deletes or closes it. */
export type Origin = TypeOf<typeof originSchema>;

const objectState = literal('present', 'unverified', 'hold', 'deleting', 'gone');
/** `gone`: it does not exist, as after a refused creation. The row then only counts the refusals. */
export type ObjectState = TypeOf<typeof objectState>;

const ownedObjectSchema = objectOf('An object on record in the ledger.', {
  // `<source>:<scope>:<kind>:<natural key>`, see `objectUid`.
  uid: text,
  scope: text,
  platform: text,
  source: text,
  kind: text,
  // The manifest that declares it.
  resource,
  // Identity within (scope, kind): `port/<serviceId>/8080`.
  naturalKey: text,
  // The platform's id, where it has one: `http_rule_id`, `service_id`, install group.
  remoteId: nullable(text),
  // Further facts of the kind: former values, install group, component ids.
  remoteAux: jsonObject,
  origin: originSchema,
  state: objectState,
  // The fields that Portolan applied last, without secrets. Attribution and write-only fields need them.
  lastApplied: jsonObject,
  // A temporary change that must be reverted, as field → value.
  obligation: nullable(jsonObject),
  // The number of consecutive writes that were accepted and had no effect.
  failures: count,
  // The last snapshot that declares the object.
  lastSnapshot: text,
});
export type OwnedObject = TypeOf<typeof ownedObjectSchema>;

/** The key in `remoteAux` of the platform's refusal of the last write. */
export const REFUSAL = 'refusal';

/** A write that the platform refused. */
export interface Refused extends JsonObject {
  readonly reason: string;
  /** The platform's message, with its HTTP status and code. */
  readonly message: string;
}

/** Returns the last refusal of a write to an object; undefined where the ledger has none. */
export function refusalOf({ remoteAux }: Pick<OwnedObject, 'remoteAux'>): Refused | undefined {
  return remoteAux[REFUSAL] as Refused | undefined;
}

const intentState = literal('open', 'unknown', 'applied', 'rejected', 'superseded', 'resolved');
export type IntentState = TypeOf<typeof intentState>;

export const writeClassSchema = literal('target-state', 'duplicate-rejecting', 'duplicate-accepting');
/**
 * The effect of a repeated write: `target-state` has no further effect; `duplicate-rejecting` is refused by the server;
 * `duplicate-accepting` creates a second object, so it is never repeated without proof.
 */
export type WriteClass = TypeOf<typeof writeClassSchema>;

const intentSchema = objectOf('A request that was about to be sent, and what became of it.', {
  id: text,
  uid: text,
  scope: text,
  resource,
  // `addPort`, `updatePort`, `createRule`, `install`, …
  operation: text,
  idempotence: writeClassSchema,
  // The action of the plan that it carries out, for resolution and for people.
  action: jsonObject,
  epoch: count,
  requestHash: text,
  preimage: json(),
  state: intentState,
  createdMs: time,
  sendDeadlineMs: time,
  // The end of the settle window: before it, observations prove nothing. 0 while open.
  settleMs: time,
  // The same moment as time since boot, `<boot> <milliseconds>`, because a wall clock may jump. `''` where it is unknown.
  settleMark: text,
  // The answer without secrets, once there is one.
  outcome: json(),
  resolvedBy: nullable(text),
});
export type Intent = TypeOf<typeof intentSchema>;

export interface Snapshot {
  readonly id: string;
  readonly source: string;
  /** Commit id, or `-` for plain files. */
  readonly commit: string;
  readonly manifestHash: string;
  readonly objects: number;
  readonly pruneOk: boolean;
  readonly acceptedMs: EpochMs;
}

const historyRowSchema = objectOf('One line of the history, chained to the one before it.', {
  serial: count,
  scope: text,
  atMs: time,
  actor: text,
  event: text,
  uid: nullable(text),
  detail: json(),
  previousHash: text,
  hash: text,
});
export type HistoryRow = TypeOf<typeof historyRowSchema>;

/** The schemas that the API refers to. */
export const ledgerSchemas = { HistoryRow: historyRowSchema, OwnedObject: ownedObjectSchema, Intent: intentSchema };

export function objectUid(source: string, scope: ScopeKey, kind: string, naturalKey: string): string {
  return `${source}:${scope}:${kind}:${naturalKey}`;
}
