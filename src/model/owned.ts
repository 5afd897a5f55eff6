import type { ResourceId, ScopeKey } from './ids.ts';
import type { Json, JsonObject } from './json.ts';
import type { EpochMs } from './time.ts';

/** `created` by us, `adopted` on an operator's word, or only `observed`: never deleted, closed or changed by ownership. */
export type Origin = 'created' | 'adopted' | 'observed';
/** `gone`: not there, such as a creation that was refused; the row only counts how often that was. */
export type ObjectState = 'present' | 'unverified' | 'hold' | 'deleting' | 'gone';

export interface OwnedObject {
  /** `<source>:<scope>:<kind>:<natural key>`, see `objectUid`. */
  readonly uid: string;
  readonly scope: ScopeKey;
  readonly platform: string;
  readonly source: string;
  readonly kind: string;
  /** The manifest it comes from. */
  readonly resource: ResourceId;
  /** Identity within (scope, kind): `port/<serviceId>/8080`. */
  readonly naturalKey: string;
  /** The platform's id, where it has one: `http_rule_id`, `service_id`, install group. */
  readonly remoteId: string | null;
  /** What else must be kept: former values, install group, component ids. */
  readonly remoteAux: JsonObject;
  readonly origin: Origin;
  readonly state: ObjectState;
  /** Fields last asserted by us. Attribution and write-only fields need it. Secrets are left out. */
  readonly lastApplied: JsonObject;
  /** A temporary change that must be restored, as field → value. */
  readonly obligation: JsonObject | null;
  /** How often in a row a write was accepted and did not take. */
  readonly failures: number;
  /** Snapshot in which the object was last wanted. */
  readonly lastSnapshot: string;
}

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

export type IntentState = 'open' | 'unknown' | 'applied' | 'rejected' | 'superseded' | 'resolved';

/**
 * What a write may do when it is repeated: `target-state` nothing more; `duplicate-rejecting` the server refuses the
 * second; `duplicate-accepting` there are two of it, so it is never sent again without proof.
 */
export type WriteClass = 'target-state' | 'duplicate-rejecting' | 'duplicate-accepting';

export interface Intent {
  readonly id: string;
  readonly uid: string;
  readonly scope: ScopeKey;
  readonly resource: ResourceId;
  /** `addPort`, `updatePort`, `createRule`, `install`, … */
  readonly operation: string;
  readonly idempotence: WriteClass;
  /** The action it carries out, as in the plan: what resolution and people need. */
  readonly action: JsonObject;
  readonly epoch: number;
  readonly requestHash: string;
  readonly preimage: Json;
  readonly state: IntentState;
  readonly createdMs: EpochMs;
  readonly sendDeadlineMs: EpochMs;
  /** Until then nobody may conclude from an observation. 0 while open. */
  readonly settleMs: EpochMs;
  /** The same moment as time since boot, `<boot> <milliseconds>`: a wall clock may jump. `''` where that is not known. */
  readonly settleMark: string;
  /** Answer in safe words, once there is one. */
  readonly outcome: Json;
  readonly resolvedBy: string | null;
}

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

export interface HistoryRow {
  readonly serial: number;
  readonly scope: ScopeKey;
  readonly atMs: EpochMs;
  readonly actor: string;
  readonly event: string;
  readonly uid: string | null;
  readonly detail: Json;
  readonly previousHash: string;
  readonly hash: string;
}

export function objectUid(source: string, scope: ScopeKey, kind: string, naturalKey: string): string {
  return `${source}:${scope}:${kind}:${naturalKey}`;
}
