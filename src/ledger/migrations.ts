import { renameRules } from '../kinds/http-gateway-rule/former-keys.ts';
import type { DatabaseSync } from 'node:sqlite';
import { isPostgres } from './address.ts';
import { corrupt } from './errors.ts';
import { coveredSince, coverObjects } from './inventory.ts';
import { inTransaction } from './open-database.ts';
import { type Retirement, retired, retirementOf } from './retirement.ts';
import { sharedTables } from './shared-tables.ts';

/** One step of the schema; steps are applied in order, each in a transaction of its own, and never edited once released. */
export interface Migration {
  /** The schema version after it, counted from 1. */
  readonly to: number;
  readonly sql: string;
  /** Changes that SQL cannot express. */
  readonly run?: (database: DatabaseSync) => void;
  /** Replaces `run` in PostgreSQL, where every ledger began with schema 3 or later. */
  readonly postgres?: string;
  /** Readers understand the rows from before it as well: reading alone needs no migration. */
  readonly readsBefore?: true;
  /** Files keep the schema from before it. */
  readonly only?: 'postgres';
  /**
   * The version of Portolan before it works with the tables from after it, so processes of that version may hold leases while a newer
   * one migrates. A later step, in the version after that, may remove what only they need.
   */
  readonly expands?: true;
}

export const migrations: readonly Migration[] = [
  {
    to: 1,
    sql: `
CREATE TABLE fact (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE chain (scope TEXT PRIMARY KEY, lines INTEGER NOT NULL, hash TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE snapshot (
  id TEXT NOT NULL, source TEXT NOT NULL, commit_sha TEXT NOT NULL, manifest_hash TEXT NOT NULL,
  objects INTEGER NOT NULL CHECK (objects >= 0), prune_ok INTEGER NOT NULL CHECK (prune_ok IN (0, 1)),
  accepted_ms INTEGER NOT NULL, serial INTEGER NOT NULL,
  PRIMARY KEY (source, id)) STRICT;
CREATE INDEX snapshot_newest ON snapshot (source, serial);
CREATE TABLE object (
  uid TEXT PRIMARY KEY, scope TEXT NOT NULL, platform TEXT NOT NULL, source TEXT NOT NULL,
  kind TEXT NOT NULL, resource TEXT NOT NULL, natural_key TEXT NOT NULL,
  remote_id TEXT, remote_aux TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('created', 'adopted', 'observed')),
  state TEXT NOT NULL CHECK (state IN ('present', 'unverified', 'hold', 'deleting', 'gone')),
  last_applied TEXT NOT NULL, obligation TEXT, failures INTEGER NOT NULL, last_snapshot TEXT NOT NULL,
  serial INTEGER NOT NULL) STRICT;
CREATE INDEX object_scope ON object (scope);
CREATE INDEX object_source ON object (source, state);
-- What is only observed, or gone, belongs to nobody.
CREATE UNIQUE INDEX object_one_owner ON object (scope, kind, natural_key) WHERE origin <> 'observed' AND state <> 'gone';
CREATE TABLE intent (
  id TEXT PRIMARY KEY, uid TEXT NOT NULL, scope TEXT NOT NULL, resource TEXT NOT NULL, operation TEXT NOT NULL,
  idempotence TEXT NOT NULL CHECK (idempotence IN ('target-state', 'duplicate-rejecting', 'duplicate-accepting')),
  action TEXT NOT NULL, epoch INTEGER NOT NULL, request_hash TEXT NOT NULL, preimage TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'unknown', 'applied', 'rejected', 'superseded', 'resolved')),
  created_ms INTEGER NOT NULL, send_deadline_ms INTEGER NOT NULL, settle_ms INTEGER NOT NULL,
  settle_mark TEXT NOT NULL, outcome TEXT NOT NULL, resolved_by TEXT, serial INTEGER NOT NULL,
  CHECK (state <> 'resolved' OR resolved_by IS NOT NULL)) STRICT;
CREATE UNIQUE INDEX intent_one_pending ON intent (uid) WHERE state IN ('open', 'unknown');
CREATE UNIQUE INDEX intent_one_install ON intent (scope)
  WHERE operation IN ('install', 'upgrade') AND state IN ('open', 'unknown');
CREATE INDEX intent_scope ON intent (scope, state);
CREATE TABLE history (
  scope TEXT NOT NULL, line INTEGER NOT NULL CHECK (line > 0), serial INTEGER NOT NULL, at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL, event TEXT NOT NULL, uid TEXT, detail TEXT NOT NULL,
  prev_hash TEXT NOT NULL, hash TEXT NOT NULL,
  PRIMARY KEY (scope, line)) STRICT, WITHOUT ROWID;
CREATE INDEX history_serial ON history (serial, line);
CREATE INDEX history_uid ON history (uid, serial) WHERE uid IS NOT NULL;
`,
  },
  // The schema is what it was; the number keeps versions out that would not find rules by these keys.
  { to: 2, sql: '', run: renameRules, postgres: '', readsBefore: true },
  // A later step that changes rows of objects must cover them again, as this one does.
  {
    to: 3,
    sql: 'ALTER TABLE history ADD COLUMN objects TEXT',
    run: coverObjects,
    postgres: `INSERT INTO meta (k, v) VALUES ('${coveredSince}', '0')`,
    readsBefore: true,
  },
  { to: 4, sql: '', postgres: sharedTables, readsBefore: true, only: 'postgres', expands: true },
];

/** Returns the steps of a ledger in a file. */
export function fileSteps(steps: readonly Migration[] = migrations): readonly Migration[] {
  return steps.filter(({ only }) => only === undefined);
}

/** Returns the newest schema of the place that a ledger is in. */
export function newestSchemaAt(location: string): number {
  return newestSchema(isPostgres(location) ? migrations : fileSteps());
}

/** The schema that this version of Portolan writes and reads. */
export function newestSchema(steps: readonly Migration[]): number {
  return steps.at(-1)?.to ?? 0;
}

/** Facts about a ledger as its `meta` table has them; a new ledger's are given by the caller. */
export interface Standing {
  readonly lineage: string;
  readonly schema: number;
  readonly serial: number;
  readonly epoch: number;
  /** Present once it was copied to another place, where it is used from then on. */
  readonly retired?: Retirement;
}

/** @returns undefined where there is no `meta` table with all of them: not a ledger. */
export function readStanding(database: DatabaseSync): Standing | undefined {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'").get();
  if (table === undefined) return undefined;
  return standingIn(database.prepare('SELECT k, v FROM meta').all() as { k: string; v: string }[]);
}

/** @param rows of the `meta` table. @returns undefined if one of the facts is missing. */
export function standingIn(rows: readonly { readonly k: string; readonly v: string }[]): Standing | undefined {
  const meta = new Map(rows.map(({ k, v }) => [k, v]));
  const lineage = meta.get('lineage');
  const [schema, serial, epoch] = ['schema', 'serial', 'epoch'].map((key) => Number.parseInt(meta.get(key) ?? '', 10));
  if (lineage === undefined || !isCount(schema) || !isCount(serial) || !isCount(epoch)) return undefined;
  const standing = { lineage, schema, serial, epoch };
  const retirement = meta.get(retired);
  return retirement === undefined ? standing : { ...standing, retired: retirementOf(retirement) };
}

/** @throws PortolanError `ledger/corrupt` for a database that is not a ledger. */
export function mustBeLedger(database: DatabaseSync, path: string): Standing {
  const standing = readStanding(database);
  if (standing === undefined) throw corrupt(path, 'it is a database, but not one of Portolan');
  return standing;
}

/** Brings a database with a `meta` table from its schema to the newest. Each step commits with its version, or not at all. */
export function migrate(database: DatabaseSync, from: number, steps: readonly Migration[]): void {
  for (const step of steps) {
    if (step.to <= from) continue;
    inTransaction(database, () => {
      database.exec(step.sql);
      step.run?.(database);
      database.prepare("UPDATE meta SET v = ? WHERE k = 'schema'").run(String(step.to));
    });
  }
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0;
}
