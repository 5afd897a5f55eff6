import type { DatabaseSync } from 'node:sqlite';
import { explained, missing } from './errors.ts';
import { fileExists } from './files.ts';
import { mustBeLedger } from './migrations.ts';
import { historyOf, intentOf, objectOf, snapshotOf } from './schema.ts';
import { openDatabase, sqliteFault } from './open-database.ts';

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
    throw explained(sqliteFault(error), path, error);
  }
}

function* linesOf(database: DatabaseSync, path: string): Generator<string, void, undefined> {
  yield JSON.stringify({ type: 'ledger', ...mustBeLedger(database, path) });
  const rowsOf = (table: string, order: string) =>
    database.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).iterate() as Iterable<never>;
  for (const row of rowsOf('snapshot', 'serial, source'))
    yield JSON.stringify({ type: 'snapshot', ...snapshotOf(row) });
  for (const { key, value } of rowsOf('fact', 'key')) yield JSON.stringify({ type: 'fact', key, value });
  for (const row of rowsOf('object', 'uid')) yield JSON.stringify({ type: 'object', ...objectOf(row) });
  for (const row of rowsOf('intent', 'serial, id')) yield JSON.stringify({ type: 'intent', ...intentOf(row) });
  for (const row of rowsOf('history', 'serial, line')) yield JSON.stringify({ type: 'history', ...historyOf(row) });
}
