import { resourceIdSchema as resource, type ScopeKey } from './ids.ts';
import type { JsonObject } from './json.ts';
import type { EpochMs } from './time.ts';
import { count, json, jsonObject, literal, nullable, objectOf, text, time, type TypeOf } from './schema-words.ts';

const origin = literal('created', 'adopted', 'observed');
/** `created` by us, `adopted` on an operator's word, or only `observed`: never deleted, closed or changed by ownership. */
export type Origin = TypeOf<typeof origin>;

const objectState = literal('present', 'unverified', 'hold', 'deleting', 'gone');
/** `gone`: not there, such as a creation that was refused; the row only counts how often that was. */
export type ObjectState = TypeOf<typeof objectState>;

const ownedObjectSchema = objectOf('An object on record in the ledger.', {
  // `<source>:<scope>:<kind>:<natural key>`, see `objectUid`.
  uid: text,
  scope: text,
  platform: text,
  source: text,
  kind: text,
  // The manifest it comes from.
  resource,
  // Identity within (scope, kind): `port/<serviceId>/8080`.
  naturalKey: text,
  // The platform's id, where it has one: `http_rule_id`, `service_id`, install group.
  remoteId: nullable(text),
  // What else must be kept: former values, install group, component ids.
  remoteAux: jsonObject,
  origin,
  state: objectState,
  // Fields last asserted by us. Attribution and write-only fields need it. Secrets are left out.
  lastApplied: jsonObject,
  // A temporary change that must be restored, as field → value.
  obligation: nullable(jsonObject),
  // How often in a row a write was accepted and did not take.
  failures: count,
  // Snapshot in which the object was last wanted.
  lastSnapshot: text,
});
export type OwnedObject = TypeOf<typeof ownedObjectSchema>;

/** Name in `remoteAux` of the platform's refusal of the last write. */
export const REFUSAL = 'refusal';

/** How the platform refused a write. */
export interface Refused extends JsonObject {
  readonly reason: string;
  /** The platform's message, with its HTTP status and code. */
  readonly message: string;
}

/** The platform's last refusal of an object; undefined where there is none on record. */
export function refusalOf({ remoteAux }: Pick<OwnedObject, 'remoteAux'>): Refused | undefined {
  return remoteAux[REFUSAL] as Refused | undefined;
}

const intentState = literal('open', 'unknown', 'applied', 'rejected', 'superseded', 'resolved');
export type IntentState = TypeOf<typeof intentState>;

const writeClass = literal('target-state', 'duplicate-rejecting', 'duplicate-accepting');
/**
 * What a write may do when it is repeated: `target-state` nothing more; `duplicate-rejecting` the server refuses the
 * second; `duplicate-accepting` there are two of it, so it is never sent again without proof.
 */
export type WriteClass = TypeOf<typeof writeClass>;

const intentSchema = objectOf('A request that was about to be sent, and what became of it.', {
  id: text,
  uid: text,
  scope: text,
  resource,
  // `addPort`, `updatePort`, `createRule`, `install`, …
  operation: text,
  idempotence: writeClass,
  // The action it carries out, as in the plan: what resolution and people need.
  action: jsonObject,
  epoch: count,
  requestHash: text,
  preimage: json(),
  state: intentState,
  createdMs: time,
  sendDeadlineMs: time,
  // Until then nobody may conclude from an observation. 0 while open.
  settleMs: time,
  // The same moment as time since boot, `<boot> <milliseconds>`: a wall clock may jump. `''` where that is not known.
  settleMark: text,
  // Answer in safe words, once there is one.
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

/** Those that the API refers to. */
export const ledgerSchemas = { HistoryRow: historyRowSchema, OwnedObject: ownedObjectSchema, Intent: intentSchema };

export function objectUid(source: string, scope: ScopeKey, kind: string, naturalKey: string): string {
  return `${source}:${scope}:${kind}:${naturalKey}`;
}
