import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { type HistoryTable, type LedgerTables, objectColumns, type ObjectTable } from './schema.ts';
import type { ScopeKey } from '../model/ids.ts';
import type { EpochMs } from '../model/time.ts';

/**
 * Seals the objects of a ledger with its history. A line of the history carries the hash of each object that its
 * transaction wrote, and null for one that it dropped. The hash of the line covers them, so the objects that a ledger
 * must have follow from the chain of its history.
 */
export type ObjectChanges = ReadonlyMap<string, string | null>;

/** The event of a line that carries objects and says nothing else. People do not see such lines. */
export const inventoryEvent = 'ledger.inventory';

/** The serial after which the history covers every object, in `meta`; 0 for a ledger that began with it. */
export const coveredSince = 'inventory_since';

/**
 * SHA-256, in hex, over an object as it is stored, without its serial. Another column changes every hash: its migration
 * covers the objects again.
 */
export function objectHash(row: ObjectTable): string {
  return hash('sha256', JSON.stringify(sealedColumns.map((column) => row[column])));
}

const sealedColumns = Object.keys(objectColumns) as (keyof typeof objectColumns)[];

/** The changes as a line of the history stores them; null for none. */
export function changesText(changes: ObjectChanges): string | null {
  if (changes.size === 0) return null;
  return JSON.stringify([...changes].sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Returns the changes in such a text; none if its form is wrong, which the hash of its line shows. */
function changesIn(text: string): readonly (readonly [uid: string, hash: string | null])[] {
  try {
    const changes: unknown = JSON.parse(text);
    return Array.isArray(changes) ? changes.filter(isChange) : [];
  } catch {
    return [];
  }
}

function isChange(value: unknown): value is readonly [uid: string, hash: string | null] {
  return Array.isArray(value) && typeof value[0] === 'string' && (value[1] === null || typeof value[1] === 'string');
}

type Line = Pick<HistoryTable, 'line' | 'objects'>;

/** The last change of each object, with its line. @param lines of one scope, in order. */
function lastChanges(lines: readonly Line[]): Map<string, { readonly line: number; readonly hash: string | null }> {
  const last = new Map<string, { readonly line: number; readonly hash: string | null }>();
  for (const { line, objects } of lines)
    if (objects !== null && objects !== undefined)
      for (const [uid, hash] of changesIn(objects)) last.set(uid, { line, hash });
  return last;
}

/**
 * Returns what the line that stands for removed lines must carry, so that the history still covers every object.
 * @param lines of one scope, in order, before the removal.
 */
export function carriedOver(lines: readonly Line[], isRemoved: (line: number) => boolean): ObjectChanges {
  const stays = new Set(lastChanges(lines.filter(({ line }) => !isRemoved(line))).keys());
  return new Map(
    [...lastChanges(lines)]
      // A dropped object needs no line once every line that recorded it is removed.
      .filter(([uid, { line, hash }]) => isRemoved(line) && (hash !== null || stays.has(uid)))
      .map(([uid, { hash }]) => [uid, hash]),
  );
}

/**
 * Says in which objects a scope differs from its history, in sentences.
 * @param lines of its history, in order.
 * @param rows of its objects.
 */
export function inventoryFaults(lines: readonly Line[], rows: readonly ObjectTable[]): readonly string[] {
  const expected = lastChanges(lines);
  const present = new Map(rows.map((row) => [row.uid, row]));
  const faults: string[] = [];
  for (const [uid, { line, hash }] of expected) {
    const row = present.get(uid);
    if (hash !== null && row === undefined) faults.push(`${uid}, recorded in line ${line}, is missing`);
    if (hash === null && row !== undefined) faults.push(`${uid} is there, but line ${line} dropped it`);
    if (hash !== null && row !== undefined && objectHash(row) !== hash)
      faults.push(
        `${uid} is not as line ${line} recorded it (origin ${row.origin}, id ${row.remote_id ?? 'none'} now)`,
      );
  }
  for (const uid of present.keys()) if (!expected.has(uid)) faults.push(`${uid} is in no line of the history`);
  return faults;
}

/** Covers the objects of a ledger from before by the history: one line for each scope. Part of a migration. */
export function coverObjects(database: DatabaseSync): void {
  const rows = database.prepare('SELECT * FROM object ORDER BY scope, uid').all() as unknown as readonly ObjectTable[];
  const meta = database.prepare("SELECT v FROM meta WHERE k = 'serial'").get() as { readonly v: string };
  const serial = Number(meta.v) + (rows.length > 0 ? 1 : 0);
  database.prepare("UPDATE meta SET v = ? WHERE k = 'serial'").run(String(serial));
  const since = database.prepare('INSERT INTO meta (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v');
  since.run(coveredSince, String(rows.length > 0 ? serial : 0));
  for (const [scope, ofScope] of Map.groupBy(rows, (row) => row.scope)) appendCover(database, scope, ofScope, serial);
}

function appendCover(database: DatabaseSync, scope: ScopeKey, rows: readonly ObjectTable[], serial: number): void {
  const head = database.prepare('SELECT lines, hash FROM chain WHERE scope = ?').get(scope) as
    | Pick<LedgerTables['chain'], 'lines' | 'hash'>
    | undefined;
  const last = database.prepare('SELECT max(at_ms) AS at FROM history WHERE scope = ?').get(scope);
  const previous = head?.hash ?? chainStart;
  const objects = changesText(new Map(rows.map((row) => [row.uid, objectHash(row)])));
  const line = {
    scope,
    line: (head?.lines ?? 0) + 1,
    serial,
    atMs: Number(last?.['at'] ?? 0),
    actor: 'portolan',
    event: inventoryEvent,
    uid: null,
    detail: '{}',
    objects,
  };
  const lineHash = chainHash(previous, line);
  database
    .prepare(
      'INSERT INTO history (scope, line, serial, at_ms, actor, event, uid, detail, prev_hash, hash, objects) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    )
    .run(scope, line.line, serial, line.atMs, line.actor, line.event, null, line.detail, previous, lineHash, objects);
  database
    .prepare(
      'INSERT INTO chain (scope, lines, hash) VALUES (?, ?, ?) ON CONFLICT (scope) DO UPDATE SET lines = excluded.lines, hash = excluded.hash',
    )
    .run(scope, line.line, lineHash);
}

/** The hash that stands for the line before the first one. */
export const chainStart = '0'.repeat(64);

/** One line of a scope's history as it is hashed: `detail` is JSON text, exactly as stored. */
export interface ChainLine {
  readonly scope: ScopeKey;
  /** Place in the scope's chain, from 1. */
  readonly line: number;
  readonly serial: number;
  readonly atMs: EpochMs;
  readonly actor: string;
  readonly event: string;
  readonly uid: string | null;
  readonly detail: string;
  /** Changes of objects, as `inventory.ts` stores them; null or absent for none. */
  readonly objects?: string | null | undefined;
}

/** SHA-256, in hex, over the previous line's hash and this line: changing any line changes every later hash. */
export function chainHash(previousHash: string, line: ChainLine): string {
  const { scope, serial, atMs, actor, event, uid, detail, objects = null } = line;
  const fields = [scope, line.line, serial, atMs, actor, event, uid, detail];
  // Lines from before objects were sealed keep their hash.
  return hash('sha256', `${previousHash}${JSON.stringify(objects === null ? fields : [...fields, objects])}`);
}
