import type { Holder } from './errors.ts';
import { fileExists } from './files.ts';
import { openDatabase } from './open-database.ts';

/** Who wrote down last that it opened the ledger; read beside it, without touching the lock. */
export function holderOf(path: string): Holder | undefined {
  if (!fileExists(path)) return undefined;
  try {
    const database = openDatabase(path, { readOnly: true });
    try {
      const row = database.prepare("SELECT v FROM meta WHERE k = 'holder'").get() as { v: string } | undefined;
      return row === undefined ? undefined : (JSON.parse(row.v) as Holder);
    } finally {
      database.close();
    }
  } catch {
    return undefined; // The name is a courtesy; that the lock is held is the fact.
  }
}
