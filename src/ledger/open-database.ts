import { DatabaseSync } from 'node:sqlite';
import { type DatabaseFault, explained } from './errors.ts';
import { createEmpty, isDiskFull, remove } from './files.ts';

/** Time for which opening waits for a lock, for example of a reader that recovers the log. */
const openingWaitMs = 5000;

/**
 * Opens a file as a database, protected against foreign schemas and extensions in it. The caller closes it.
 * @throws the errors of `node:sqlite`; `sqliteFault` says what they mean.
 */
export function openDatabase(path: string, { readOnly }: { readonly readOnly: boolean }): DatabaseSync {
  return new DatabaseSync(path, {
    readOnly,
    timeout: openingWaitMs,
    enableForeignKeyConstraints: true,
    allowExtension: false,
    defensive: true,
  });
}

/** Opens a file as a database for as long as some work on it takes. */
export function inDatabase<Result>(
  path: string,
  options: { readonly readOnly: boolean },
  work: (database: DatabaseSync) => Result,
): Result {
  const database = openDatabase(path, options);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Does some work in a transaction of its own, which commits as a whole or not at all. */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Copies a database, as one transaction sees it, to a new file that only its owner may read. */
export function copyInto(database: DatabaseSync, destination: string): void {
  remove(destination);
  createEmpty(destination); // VACUUM INTO takes an empty file, and keeps its mode.
  database.prepare('VACUUM INTO ?').run(destination);
}

/** The primary result code of an error that `node:sqlite` threw (https://sqlite.org/rescode.html), or undefined. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}

const uniqueCodes = [2067, 1555];

/** Returns the class of an error of `node:sqlite` or of the file system below it. */
export function sqliteFault(error: unknown): DatabaseFault {
  if (error instanceof Error && 'syscall' in error) return 'code' in error && error.code === 'ENOSPC' ? 'full' : 'io';
  switch (sqliteCode(error)) {
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
      return 'busy';
    case 13:
      return 'full';
    case 3: // SQLITE_PERM
    case 8: // SQLITE_READONLY: the file system was mounted read only, or the file lost its permissions
    case 10: // SQLITE_IOERR
    case 14: // SQLITE_CANTOPEN
      return 'io';
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return 'corrupt';
    case 19:
      return uniqueCodes.includes((error as Error & { errcode: number }).errcode) ? 'unique' : 'unknown';
    default:
      return 'unknown';
  }
}

/**
 * Returns the error to throw for one that a ledger in a file threw; an unknown one stays what it is. On a full disk, SQLite mostly
 * reports a fault of input and output, because the files beside the ledger cannot grow.
 */
export function explainedFile(path: string, error: unknown): unknown {
  const fault = sqliteFault(error);
  return explained(fault === 'io' && isDiskFull(path) ? 'full' : fault, path, error);
}
