import type { DatabaseSync } from 'node:sqlite';
import { replaced } from './errors.ts';
import { type FileIdentity, fileIdentity } from './files.ts';

/**
 * Watches over the files of a ledger that is open for writing. A process that holds a ledger writes to the files that it
 * opened; if others take their places, what it records is lost, and another process may believe that the ledger is free.
 * Only `stat` is used: to open and close one of these files would drop the locks that SQLite holds on it.
 */
export interface FileGuard {
  /** Costs some microseconds. Once it has thrown, it always throws. @throws PortolanError `ledger/replaced` */
  check(): void;
  /** Around each write of this process, which may move pages of the log into the ledger. */
  writing(): void;
  written(): void;
  /**
   * Closes the database. If the files changed, whatever is in their places stays as it is.
   * @param rescue saves what this process knows, where the files in place do not have it.
   */
  close(rescue: () => void): void;
}

/** Classes of changes to the files, each of which is closed in another way. */
export type Loss =
  /** Another file, or none, is in the ledger's place. The files that this process holds are complete. */
  | 'replaced'
  /** Another program wrote into the ledger: its pages and those of its log belong to different ledgers. */
  | 'overwritten'
  /** The files are this process's own; only something beside the ledger changed. */
  | 'beside';

export interface GuardedFiles {
  /** The path that the operator wrote: a change of a symbolic link in it is noticed. */
  readonly given: string;
  /** Without links; the names of the log and the lock derive from it. */
  readonly path: string;
  readonly database: DatabaseSync;
}

interface FileFault {
  readonly loss: Loss;
  readonly what: string;
}

/** Watches over a ledger from now on; its files are those that are there now. */
export function guardFiles({ given, path, database }: GuardedFiles): FileGuard {
  const companions = [
    { name: `${path}.lock`, what: 'its lock file', linked: true },
    { name: `${path}-wal`, what: 'its write-ahead log', linked: false },
    { name: `${path}-shm`, what: 'the index of its write-ahead log', linked: false },
  ].map((one) => ({ ...one, held: fileIdentity(one.name) }));
  const held = fileIdentity(given);
  let known: FileIdentity | undefined = held;
  let writes = 0;
  let lost: { readonly fault: FileFault; readonly error: Error } | undefined;

  function fault(): FileFault | undefined {
    const now = fileIdentity(given);
    if (now === undefined) return { loss: 'replaced', what: 'the file was removed' };
    if (!isSame(now, held)) return { loss: 'replaced', what: 'another file is in its place' };
    if (now.links > 1n) return { loss: 'beside', what: 'the file has a second name (a hard link)' };
    for (const { name, what, linked, held: before } of companions) {
      const found = fileIdentity(name);
      if (found === undefined) return { loss: 'beside', what: `${what} ${name} was removed` };
      if (!isSame(found, before)) return { loss: 'beside', what: `another file is in the place of ${what} ${name}` };
      if (linked && found.links > 1n)
        return { loss: 'beside', what: `${what} ${name} has a second name (a hard link)` };
    }
    // While a write of this process is under way, the file may change at any moment.
    if (writes > 0 || (now.changedNs === known?.changedNs && now.bytes === known.bytes)) return undefined;
    return { loss: 'overwritten', what: 'something else wrote into the file' };
  }

  return {
    check() {
      if (lost === undefined) {
        const found = fault();
        if (found !== undefined) lost = { fault: found, error: replaced(path, found.what, found.loss) };
      }
      if (lost !== undefined) throw lost.error;
    },
    writing() {
      writes += 1;
    },
    written() {
      writes -= 1;
      known = fileIdentity(given) ?? known;
    },
    close(rescue) {
      if (lost?.fault.loss === 'overwritten') return; // Closing would move pages of the log into the other ledger.
      if (lost?.fault.loss === 'replaced') {
        rescue();
        // A log that outlives its ledger would be replayed into the next one.
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      }
      database.close();
    },
  };
}

function isSame(now: FileIdentity, before: FileIdentity | undefined): boolean {
  return before !== undefined && now.device === before.device && now.inode === before.inode;
}
