import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { inDatabase, sqliteCode } from './open-database.ts';
import type { Holder } from './errors.ts';
import { fileExists } from './files.ts';

/** Held until released, or until the process ends in whatever way: the kernel drops it. */
export interface LedgerLock {
  release(): void;
}

const busyCode = 5;

/**
 * Takes the one writer's lock: an exclusive transaction, never committed, on a database of its own.
 *
 * While it is held nothing in this process may open and close that file by other means, not even to copy it: POSIX drops
 * all of a process's locks on a file when the process closes any descriptor of it. SQLite itself takes care of that.
 * @returns undefined when another process, or another ledger of this one, holds it.
 */
export function acquireLock(path: string): LedgerLock | undefined {
  createPrivately(path);
  const database = new DatabaseSync(path, { timeout: 0, allowExtension: false });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (sqliteCode(error) === busyCode) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}

/** An empty file that only its owner may read. One that exists already is not opened, see above. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Who wrote down last that it opened the ledger; read beside it, without touching the lock. */
export function holderOf(path: string): Holder | undefined {
  try {
    if (!fileExists(path)) return undefined;
    return inDatabase(path, { readOnly: true }, (database) => {
      const row = database.prepare("SELECT v FROM meta WHERE k = 'holder'").get() as { v: string } | undefined;
      return row === undefined ? undefined : (JSON.parse(row.v) as Holder);
    });
  } catch {
    return undefined; // The name is a courtesy; that the lock is held is the fact.
  }
}
