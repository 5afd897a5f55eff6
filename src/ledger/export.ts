import type { DatabaseSync } from 'node:sqlite';
import { missing } from './errors.ts';
import { fileExists } from './files.ts';
import { mustBeLedger, type Standing } from './migrations.ts';
import { historyOf, intentOf, type LedgerTables, objectOf, snapshotOf } from './schema.ts';
import type { ContentTable, LedgerContents } from './contents.ts';
import { explainedFile, openDatabase } from './open-database.ts';

/**
 * The whole ledger as of one moment, as lines of JSON without their line ends: one with `type: "ledger"` first, then
 * one per snapshot, fact, object, intent and history row, in the model's own names. Works beside a writer.
 * @throws PortolanError `ledger/missing`, `ledger/corrupt`, `ledger/io`.
 */
export function* exportNdjson(path: string): Generator<string, void, undefined> {
  if (!fileExists(path)) throw missing(path);
  try {
    const database = openDatabase(path, { readOnly: true });
    try {
      database.exec('PRAGMA trusted_schema = OFF; BEGIN');
      yield* linesOf(database, path);
    } finally {
      database.close();
    }
  } catch (error) {
    throw explainedFile(path, error);
  }
}

function* linesOf(database: DatabaseSync, path: string): Generator<string, void, undefined> {
  yield headOf(mustBeLedger(database, path));
  for (const { table, order, line } of PARTS) {
    const rows = database.prepare(`SELECT * FROM ${table} ORDER BY ${order.join(', ')}`).iterate();
    for (const row of rows as Iterable<never>) yield line(row);
  }
}

/** Yields the same lines for a ledger in any database. */
export async function* exportLines(contents: LedgerContents): AsyncGenerator<string, void, undefined> {
  yield headOf(contents.standing);
  for (const { table, order, line } of PARTS)
    for await (const row of contents.rows(table, order)) yield line(row as never);
}

function headOf(standing: Standing): string {
  return JSON.stringify({ type: 'ledger', ...standing });
}

interface Part {
  readonly table: ContentTable;
  readonly order: readonly string[];
  line(row: never): string;
}

/** The tables in their order, each with the line of a row. */
const PARTS: readonly Part[] = [
  {
    table: 'snapshot',
    order: ['serial', 'source'],
    line: (row) => JSON.stringify({ type: 'snapshot', ...snapshotOf(row) }),
  },
  {
    table: 'fact',
    order: ['key'],
    line: ({ key, value }: LedgerTables['fact']) => JSON.stringify({ type: 'fact', key, value }),
  },
  { table: 'object', order: ['uid'], line: (row) => JSON.stringify({ type: 'object', ...objectOf(row) }) },
  { table: 'intent', order: ['serial', 'id'], line: (row) => JSON.stringify({ type: 'intent', ...intentOf(row) }) },
  {
    table: 'history',
    order: ['serial', 'line'],
    line: (row) => JSON.stringify({ type: 'history', ...historyOf(row) }),
  },
];
