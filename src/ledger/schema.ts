import type {
  HistoryRow,
  WriteClass,
  Intent,
  IntentState,
  ObjectState,
  Origin,
  OwnedObject,
  Snapshot,
} from '../model/owned.ts';
import type { ResourceId } from '../model/ids.ts';
import { currentIntent, currentObject } from './rule-keys.ts';
import { canonicalJson, type Json, type JsonObject } from '../model/json.ts';

/** The tables as SQL sees them: JSON is text, truth is 0 or 1. PostgreSQL gives 64-bit integers as text, hence `Number()`. */
export interface LedgerTables {
  /** `lineage`, `schema`, `serial`, `epoch`, `holder`. */
  readonly meta: { readonly k: string; readonly v: string };
  readonly fact: { readonly key: string; readonly value: string };
  /** The head of each scope's history: how many lines it ever had, and the last one's hash. */
  readonly chain: { readonly scope: string; readonly lines: number; readonly hash: string };
  readonly snapshot: SnapshotTable;
  readonly object: ObjectTable;
  readonly intent: IntentTable;
  readonly history: HistoryTable;
}

export interface SnapshotTable {
  readonly id: string;
  readonly source: string;
  readonly commit_sha: string;
  readonly manifest_hash: string;
  readonly objects: number;
  readonly prune_ok: number;
  readonly accepted_ms: number;
  readonly serial: number;
}

export interface ObjectTable {
  readonly uid: string;
  readonly scope: string;
  readonly platform: string;
  readonly source: string;
  readonly kind: string;
  readonly resource: string;
  readonly natural_key: string;
  readonly remote_id: string | null;
  readonly remote_aux: string;
  readonly origin: Origin;
  readonly state: ObjectState;
  readonly last_applied: string;
  readonly obligation: string | null;
  readonly failures: number;
  readonly last_snapshot: string;
  readonly serial: number;
}

export interface IntentTable {
  readonly id: string;
  readonly uid: string;
  readonly scope: string;
  readonly resource: string;
  readonly operation: string;
  readonly idempotence: WriteClass;
  readonly action: string;
  readonly epoch: number;
  readonly request_hash: string;
  readonly preimage: string;
  readonly state: IntentState;
  readonly created_ms: number;
  readonly send_deadline_ms: number;
  readonly settle_ms: number;
  readonly settle_mark: string;
  readonly outcome: string;
  readonly resolved_by: string | null;
  readonly serial: number;
}

export interface HistoryTable {
  readonly scope: string;
  /** Place in the scope's chain, from 1. */
  readonly line: number;
  readonly serial: number;
  readonly at_ms: number;
  readonly actor: string;
  readonly event: string;
  readonly uid: string | null;
  readonly detail: string;
  readonly prev_hash: string;
  readonly hash: string;
  /** Changes of objects that the line seals: see `inventory.ts`. Rows of an older schema have no such column. */
  readonly objects: string | null;
}

export function objectRow(object: OwnedObject, serial: number): ObjectTable {
  return {
    uid: object.uid,
    scope: object.scope,
    platform: object.platform,
    source: object.source,
    kind: object.kind,
    resource: object.resource,
    natural_key: object.naturalKey,
    remote_id: object.remoteId,
    remote_aux: canonicalJson(object.remoteAux),
    origin: object.origin,
    state: object.state,
    last_applied: canonicalJson(object.lastApplied),
    obligation: object.obligation === null ? null : canonicalJson(object.obligation),
    failures: object.failures,
    last_snapshot: object.lastSnapshot,
    serial,
  };
}

export function objectOf(stored: ObjectTable): OwnedObject {
  const row = currentObject(stored);
  return {
    uid: row.uid,
    scope: row.scope,
    platform: row.platform,
    source: row.source,
    kind: row.kind,
    resource: row.resource as ResourceId,
    naturalKey: row.natural_key,
    remoteId: row.remote_id,
    remoteAux: JSON.parse(row.remote_aux) as JsonObject,
    origin: row.origin,
    state: row.state,
    lastApplied: JSON.parse(row.last_applied) as JsonObject,
    obligation: row.obligation === null ? null : (JSON.parse(row.obligation) as JsonObject),
    failures: Number(row.failures),
    lastSnapshot: row.last_snapshot,
  };
}

export function intentRow(intent: Intent, serial: number): IntentTable {
  return {
    id: intent.id,
    uid: intent.uid,
    scope: intent.scope,
    resource: intent.resource,
    operation: intent.operation,
    idempotence: intent.idempotence,
    action: canonicalJson(intent.action),
    epoch: intent.epoch,
    request_hash: intent.requestHash,
    preimage: canonicalJson(intent.preimage),
    state: intent.state,
    created_ms: intent.createdMs,
    send_deadline_ms: intent.sendDeadlineMs,
    settle_ms: intent.settleMs,
    settle_mark: intent.settleMark,
    outcome: canonicalJson(intent.outcome),
    resolved_by: intent.resolvedBy,
    serial,
  };
}

export function intentOf(stored: IntentTable): Intent {
  const row = currentIntent(stored);
  return {
    id: row.id,
    uid: row.uid,
    scope: row.scope,
    resource: row.resource as ResourceId,
    operation: row.operation,
    idempotence: row.idempotence,
    action: JSON.parse(row.action) as JsonObject,
    epoch: Number(row.epoch),
    requestHash: row.request_hash,
    preimage: JSON.parse(row.preimage) as Json,
    state: row.state,
    createdMs: Number(row.created_ms),
    sendDeadlineMs: Number(row.send_deadline_ms),
    settleMs: Number(row.settle_ms),
    settleMark: row.settle_mark,
    outcome: JSON.parse(row.outcome) as Json,
    resolvedBy: row.resolved_by,
  };
}

export function snapshotRow(snapshot: Snapshot, serial: number): SnapshotTable {
  return {
    id: snapshot.id,
    source: snapshot.source,
    commit_sha: snapshot.commit,
    manifest_hash: snapshot.manifestHash,
    objects: snapshot.objects,
    prune_ok: snapshot.pruneOk ? 1 : 0,
    accepted_ms: snapshot.acceptedMs,
    serial,
  };
}

export function snapshotOf(row: SnapshotTable): Snapshot {
  return {
    id: row.id,
    source: row.source,
    commit: row.commit_sha,
    manifestHash: row.manifest_hash,
    objects: Number(row.objects),
    pruneOk: Number(row.prune_ok) === 1,
    acceptedMs: Number(row.accepted_ms),
  };
}

export function historyOf(row: HistoryTable): HistoryRow {
  return {
    serial: Number(row.serial),
    scope: row.scope,
    atMs: Number(row.at_ms),
    actor: row.actor,
    event: row.event,
    uid: row.uid,
    detail: JSON.parse(row.detail) as Json,
    previousHash: row.prev_hash,
    hash: row.hash,
  };
}
