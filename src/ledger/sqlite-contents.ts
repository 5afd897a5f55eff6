import type { DatabaseSync } from 'node:sqlite';
import { CONTENT_TABLES, type ContentTable, coveredSinceIn, type LedgerContents } from './contents.ts';
import { missing } from './errors.ts';
import { fileExists } from './files.ts';
import { mustBeLedger } from './migrations.ts';
import { explainedFile, openDatabase } from './open-database.ts';
import type { LedgerTables } from './schema.ts';

/** Reads a ledger's file as of one moment; works beside a writer. @throws PortolanError `ledger/missing`, `ledger/corrupt`. */
export async function withSqliteContents<Result>(
  path: string,
  work: (contents: LedgerContents) => Promise<Result>,
): Promise<Result> {
  if (!fileExists(path)) throw missing(path);
  try {
    const database = openDatabase(path, { readOnly: true });
    try {
      database.exec('PRAGMA trusted_schema = OFF; BEGIN');
      return await work(contentsOf(database, path));
    } finally {
      database.close();
    }
  } catch (error) {
    throw explainedFile(path, error);
  }
}

/** Returns the ledger in a database that is open. */
export function contentsOf(database: DatabaseSync, location: string): LedgerContents {
  const standing = mustBeLedger(database, location);
  const meta = database.prepare('SELECT k, v FROM meta').all() as { k: string; v: string }[];
  return {
    location,
    standing,
    coveredSince: coveredSinceIn(meta),
    async *rows<Table extends ContentTable>(table: Table, order = CONTENT_TABLES[table].order) {
      const query = `SELECT * FROM ${table} ORDER BY ${order.join(', ')}`;
      yield* database.prepare(query).iterate() as Iterable<unknown> as Iterable<LedgerTables[Table]>;
    },
  };
}
