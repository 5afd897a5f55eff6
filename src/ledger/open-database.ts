import { DatabaseSync } from 'node:sqlite';

/** How long opening waits for a lock, of a reader that recovers the log for one. */
const openingWaitMs = 5000;

/**
 * Opens a file as a database, guarded against schemas and extensions that somebody may have put into it. The caller closes it.
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
