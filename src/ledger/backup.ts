import type { OpenCommand } from './commands.ts';
import { recordRestored } from './confirmation.ts';
import { corrupt, missing, newer } from './errors.ts';
import { createDirectoryFor, fileExists, keepUnder, moveInto, realPath, remove } from './files.ts';
import { fileSteps, mustBeLedger, newestSchema, readStanding, type Standing } from './migrations.ts';
import { retired } from './retirement.ts';
import { readSerialMark, serialPath } from './serial-file.ts';
import { copyInto, explainedFile, inDatabase } from './open-database.ts';
import { lockOf, migrationBackup, openSqliteLedger, type SqliteLedgerOptions } from './sqlite.ts';
import { verifySqliteLedger } from './verify.ts';

type Progress = Pick<Standing, 'serial' | 'epoch'>;

/** Describes a backup or a restored ledger. */
export interface BackupReport {
  readonly path: string;
  readonly lineage: string;
  readonly schema: number;
  readonly serial: number;
}

/**
 * Copies a ledger, as of one moment, to a file that only its owner may read; works beside a writer.
 * @throws PortolanError `ledger/missing`, `ledger/corrupt`, `ledger/full`, `ledger/io`; an older file at `destination`
 * then still stands.
 */
export function backUpLedger(path: string, destination: string): BackupReport {
  if (!fileExists(path)) throw missing(path);
  return explaining(destination, () => {
    const unfinished = `${destination}.partial`;
    createDirectoryFor(destination);
    const standing = copyLedger(path, unfinished);
    moveInto(unfinished, destination);
    return { path: destination, lineage: standing.lineage, schema: standing.schema, serial: standing.serial };
  });
}

export interface RestoreReport extends BackupReport {
  readonly epoch: number;
  /** Path of the ledger that was replaced; absent if there was none. */
  readonly replaced?: string;
  /** Commands that users gave to the ledger that was replaced; absent for a file. Nothing carries them out. */
  readonly refused?: readonly OpenCommand[];
}

/**
 * Puts a backup in a ledger's place. The ledger that was there is kept beside it; the restored one starts at a higher
 * epoch and serial than either, and every scope's installs wait for confirmation (`awaitsConfirmation`).
 * Until the last step, one rename, the old ledger stands.
 * @throws PortolanError `ledger/locked` while a process has the ledger open, `ledger/missing` and `ledger/corrupt` of
 * the backup, `ledger/newer`, `ledger/full`, `ledger/io`.
 */
export async function restoreLedger(
  given: string,
  backup: string,
  options: Omit<SqliteLedgerOptions, 'readOnly'>,
): Promise<RestoreReport> {
  if (!fileExists(backup)) throw missing(backup);
  mustBeKnown(backup);
  const findings = verifySqliteLedger(backup);
  if (findings.length > 0) throw corrupt(backup, findings.map(({ message }) => message).join('; '));
  createDirectoryFor(given);
  const path = realPath(given);
  const lock = lockOf(path);
  try {
    // The ledger in this place, or, if it is damaged, the mark beside it.
    const current = [
      fileExists(path) ? standingIfReadable(path, { readOnly: false }) : undefined,
      readSerialMark(path),
    ];
    const restoring = `${path}.restoring`;
    const report = await prepareRestored(restoring, backup, current, options);
    const replaced = fileExists(path) ? `${path}.replaced-${options.clock.now()}` : undefined;
    explaining(path, () => {
      if (replaced !== undefined) keepUnder(path, replaced);
      moveInto(restoring, path);
    });
    return { ...report, path, ...(replaced === undefined ? {} : { replaced }) };
  } finally {
    lock.release();
  }
}

/** @throws PortolanError `ledger/newer`. Whatever else may be wrong with it, its verification says. */
function mustBeKnown(backup: string): void {
  const schema = standingIfReadable(backup, { readOnly: true })?.schema ?? 0;
  const known = newestSchema(fileSteps());
  if (schema > known) throw newer(backup, schema, known);
}

/** The restored ledger, complete and closed, but not yet in its place. */
async function prepareRestored(
  restoring: string,
  backup: string,
  current: readonly (Progress | undefined)[],
  options: SqliteLedgerOptions,
): Promise<RestoreReport> {
  for (const suffix of ['-wal', '-shm', '-journal']) remove(`${restoring}${suffix}`);
  const from = explaining(restoring, () => raiseAbove(restoring, copyLedger(backup, restoring), current));
  const ledger = await openSqliteLedger(restoring, options);
  try {
    await recordRestored(ledger, backup, options);
    const { lineage, schema, serial, epoch } = explaining(restoring, () => standingOf(restoring));
    return { path: restoring, lineage, schema, serial, epoch };
  } finally {
    await ledger.close();
    // Opening migrates an older backup and keeps a copy; the backup itself is that copy.
    for (const leftover of [`${restoring}.lock`, serialPath(restoring), migrationBackup(restoring, from)])
      remove(leftover);
  }
}

/** Raises serial and epoch above all of these, because they never decrease within a lineage. Who restores it wants to use it. */
function raiseAbove(path: string, from: Standing, current: readonly (Progress | undefined)[]): Standing {
  const epoch = Math.max(from.epoch, ...current.map((one) => one?.epoch ?? 0));
  const serial = Math.max(from.serial, ...current.map((one) => one?.serial ?? 0));
  return inDatabase(path, { readOnly: false }, (database) => {
    const set = database.prepare('UPDATE meta SET v = ? WHERE k = ?');
    set.run(String(epoch), 'epoch');
    set.run(String(serial), 'serial');
    database.prepare('DELETE FROM meta WHERE k = ?').run(retired);
    return { ...from, epoch, serial };
  });
}

/** Writes a copy to a fresh file. */
function copyLedger(path: string, destination: string): Standing {
  inDatabase(path, { readOnly: true }, (database) => {
    mustBeLedger(database, path);
    copyInto(database, destination);
  });
  return standingOf(destination);
}

function standingOf(path: string): Standing {
  return inDatabase(path, { readOnly: true }, (database) => mustBeLedger(database, path));
}

/** @returns undefined for a damaged ledger. One about to be replaced is opened for writing, so that its log is merged into it. */
export function standingIfReadable(path: string, options: { readonly readOnly: boolean }): Standing | undefined {
  try {
    return inDatabase(path, options, readStanding);
  } catch {
    return undefined;
  }
}

function explaining<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw explainedFile(path, error);
  }
}
