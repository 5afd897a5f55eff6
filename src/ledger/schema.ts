import type { HistoryRow, Intent, OwnedObject, Snapshot } from '../model/owned.ts';
import { currentIntent, currentObject } from '../kinds/http-gateway-rule/former-keys.ts';
import { canonicalJson, type Json } from '../model/json.ts';

/** The columns of an object, in the order in which the history seals them, each with the field that it holds. */
export const objectColumns = {
  uid: 'uid',
  scope: 'scope',
  platform: 'platform',
  source: 'source',
  kind: 'kind',
  resource: 'resource',
  natural_key: 'naturalKey',
  remote_id: 'remoteId',
  remote_aux: 'remoteAux',
  origin: 'origin',
  state: 'state',
  last_applied: 'lastApplied',
  obligation: 'obligation',
  failures: 'failures',
  last_snapshot: 'lastSnapshot',
} as const satisfies Columns<OwnedObject>;

export const intentColumns = {
  id: 'id',
  uid: 'uid',
  scope: 'scope',
  resource: 'resource',
  operation: 'operation',
  idempotence: 'idempotence',
  action: 'action',
  epoch: 'epoch',
  request_hash: 'requestHash',
  preimage: 'preimage',
  state: 'state',
  created_ms: 'createdMs',
  send_deadline_ms: 'sendDeadlineMs',
  settle_ms: 'settleMs',
  settle_mark: 'settleMark',
  outcome: 'outcome',
  resolved_by: 'resolvedBy',
} as const satisfies Columns<Intent>;

export const snapshotColumns = {
  id: 'id',
  source: 'source',
  commit_sha: 'commit',
  manifest_hash: 'manifestHash',
  objects: 'objects',
  prune_ok: 'pruneOk',
  accepted_ms: 'acceptedMs',
} as const satisfies Columns<Snapshot>;

export const historyColumns = {
  serial: 'serial',
  scope: 'scope',
  at_ms: 'atMs',
  actor: 'actor',
  event: 'event',
  uid: 'uid',
  detail: 'detail',
  prev_hash: 'previousHash',
  hash: 'hash',
} as const satisfies Columns<HistoryRow>;

/** The tables as SQL sees them: JSON is text, truth is 0 or 1. PostgreSQL gives 64-bit integers as text. */
export interface LedgerTables {
  /** `lineage`, `schema`, `serial`, `epoch`, `holder`. */
  readonly meta: { readonly k: string; readonly v: string };
  readonly fact: { readonly key: string; readonly value: string };
  /** The head of each scope's history: how many lines it ever had, and the last one's hash. */
  readonly chain: { readonly scope: string; readonly lines: number; readonly hash: string };
  readonly snapshot: Row<Snapshot, typeof snapshotColumns> & Serial;
  readonly object: ObjectTable;
  readonly intent: Row<Intent, typeof intentColumns> & Serial;
  readonly history: HistoryTable;
}

export type ObjectTable = Row<OwnedObject, typeof objectColumns> & Serial;

export type HistoryTable = Row<HistoryRow, typeof historyColumns> & {
  /** Place in the scope's chain, from 1. */
  readonly line: number;
  /** Changes of objects that the line seals: see `inventory.ts`. Rows of an older schema have no such column. */
  readonly objects: string | null;
};

type Columns<Model> = Readonly<Record<string, keyof Model>>;

/** Holds the serial of the transaction that wrote the row last. */
interface Serial {
  readonly serial: number;
}

/** Columns of JSON text. */
const JSON_COLUMNS = ['remote_aux', 'last_applied', 'action', 'preimage', 'outcome', 'detail'] as const;

/** Columns of integers. */
const NUMBER_COLUMNS = {
  failures: true,
  epoch: true,
  created_ms: true,
  send_deadline_ms: true,
  settle_ms: true,
  objects: true,
  accepted_ms: true,
  serial: true,
  at_ms: true,
} as const satisfies Readonly<
  Record<
    | NumberColumn<OwnedObject, typeof objectColumns>
    | NumberColumn<Intent, typeof intentColumns>
    | NumberColumn<Snapshot, typeof snapshotColumns>
    | NumberColumn<HistoryRow, typeof historyColumns>,
    true
  >
>;

type NumberColumn<Model, C extends Columns<Model>> = {
  [Column in keyof C]: Model[C[Column]] extends number ? Column : never;
}[keyof C];

type Row<Model, C extends Columns<Model>> = { readonly [Column in keyof C]: Stored<Column, Model[C[Column]]> };

type Stored<Column, Value> = Column extends (typeof JSON_COLUMNS)[number]
  ? string
  : Value extends boolean
    ? number
    : Value extends string | number | null
      ? Value
      : string;

const isJson: ReadonlySet<string> = new Set(JSON_COLUMNS);

function rowOf<Model, C extends Columns<Model>>(columns: C, model: Model): Row<Model, C> {
  const row: Record<string, unknown> = {};
  for (const column in columns) {
    const value: unknown = model[columns[column] as keyof Model];
    if (isJson.has(column) || (typeof value === 'object' && value !== null)) row[column] = canonicalJson(value as Json);
    else row[column] = typeof value === 'boolean' ? Number(value) : value;
  }
  return row as Row<Model, C>;
}

function modelOf<Model, C extends Columns<Model>>(columns: C, row: Row<Model, C>): Model {
  const model: Record<string, unknown> = {};
  for (const column in columns) {
    const value: unknown = row[column];
    const field = columns[column] as string;
    if (isJson.has(column) || (column === 'obligation' && value !== null)) model[field] = JSON.parse(value as string);
    else model[field] = Object.hasOwn(NUMBER_COLUMNS, column) ? Number(value) : value;
  }
  return model as Model;
}

export function objectRow(object: OwnedObject, serial: number): ObjectTable {
  return { ...rowOf<OwnedObject, typeof objectColumns>(objectColumns, object), serial };
}

export function objectOf(row: ObjectTable): OwnedObject {
  return modelOf<OwnedObject, typeof objectColumns>(objectColumns, currentObject(row));
}

export function intentRow(intent: Intent, serial: number): LedgerTables['intent'] {
  return { ...rowOf<Intent, typeof intentColumns>(intentColumns, intent), serial };
}

export function intentOf(row: LedgerTables['intent']): Intent {
  return modelOf<Intent, typeof intentColumns>(intentColumns, currentIntent(row));
}

export function snapshotRow(snapshot: Snapshot, serial: number): LedgerTables['snapshot'] {
  return { ...rowOf<Snapshot, typeof snapshotColumns>(snapshotColumns, snapshot), serial };
}

export function snapshotOf(row: LedgerTables['snapshot']): Snapshot {
  const snapshot = modelOf<Snapshot, typeof snapshotColumns>(snapshotColumns, row);
  return { ...snapshot, pruneOk: Number(row.prune_ok) === 1 };
}

export function historyOf(row: HistoryTable): HistoryRow {
  return modelOf<HistoryRow, typeof historyColumns>(historyColumns, row);
}
