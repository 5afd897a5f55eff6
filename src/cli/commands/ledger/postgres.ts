import { dirname, join } from 'node:path';
import type { BackupReport, RestoreReport } from '../../../ledger/backup.ts';
import { copyContents, type LedgerPlace } from '../../../ledger/copy.ts';
import { exportLines } from '../../../ledger/export.ts';
import { isPostgres } from '../../../ledger/address.ts';
import type { LedgerContents } from '../../../ledger/contents.ts';
import { backupPlace, filePlace } from '../../../ledger/file-place.ts';
import { withPostgresContents } from '../../../ledger/postgres/contents.ts';
import { migratePostgresLedger } from '../../../ledger/postgres/open.ts';
import type { PostgresAccess } from '../../../ledger/postgres/pool.ts';
import { postgresPlace } from '../../../ledger/postgres/place.ts';
import { restorePostgresLedger } from '../../../ledger/postgres/restore.ts';
import { verifyPostgresLedger } from '../../../ledger/postgres/verify.ts';
import type { Retirement } from '../../../ledger/retirement.ts';
import type { Surroundings } from '../../session/command.ts';
import { writePrivateLinesFrom } from '../../session/files.ts';
import { ledgerWarnings } from '../../session/ledger-warnings.ts';
import { postgresAccess } from '../../session/postgres.ts';
import { actorOf } from './opening.ts';

/** Commands on a ledger in PostgreSQL, where they differ from those on a file. Loaded only for such a ledger, or for a copy. */

/** Copies the ledger to a file that `ledger restore` takes. */
export async function backUpDatabase(url: string, file: string, surroundings: Surroundings): Promise<BackupReport> {
  const { lineage, schema, serial } = await withContents(url, surroundings, (contents) =>
    copyContents(contents, backupPlace(file, surroundings.random), 'damaged'),
  );
  return { path: file, lineage, schema, serial };
}

/** Works on one consistent state, also of a ledger that was copied: with a warning, for it knows nothing that was done since. */
function withContents<Result>(
  url: string,
  surroundings: Surroundings,
  work: (contents: LedgerContents) => Promise<Result>,
): Promise<Result> {
  const access = postgresAccess(url, surroundings);
  return withPostgresContents(access, (contents) => {
    warnIfCopied(access, contents.standing.retired, surroundings);
    return work(contents);
  });
}

function warnIfCopied({ address }: PostgresAccess, retired: Retirement | undefined, { terminal }: Surroundings): void {
  if (retired !== undefined) ledgerWarnings(terminal).onRetired(address.location, retired);
}

export async function restoreDatabase(url: string, backup: string, surroundings: Surroundings): Promise<RestoreReport> {
  const { clock, random } = surroundings;
  const access = postgresAccess(url, surroundings);
  const name = `${access.address.database}-${access.address.schema}.replaced-${clock.now()}.db`;
  const kept = join(dirname(backup), name);
  const actor = actorOf('ledger restore', surroundings);
  return restorePostgresLedger({ access, backup, kept, options: { clock, random, actor } });
}

/** @returns the number of lines in the file; undefined without a file. */
export async function exportDatabase(
  url: string,
  file: string | undefined,
  surroundings: Surroundings,
): Promise<number | undefined> {
  return withContents(url, surroundings, async (contents) => {
    const lines = exportLines(contents);
    if (file !== undefined) return writePrivateLinesFrom(file, lines);
    for await (const line of lines) surroundings.terminal.out.write(`${line}\n`);
    return undefined;
  });
}

/** Creates or migrates the tables, beside replicas where every missing step allows that. */
export async function migrateDatabase(url: string, surroundings: Surroundings) {
  const { clock, random } = surroundings;
  const actor = actorOf('ledger migrate', surroundings);
  return migratePostgresLedger(postgresAccess(url, surroundings), { clock, random, actor });
}

export async function verifyDatabase(url: string, surroundings: Surroundings) {
  const access = postgresAccess(url, surroundings);
  const verification = await verifyPostgresLedger(access);
  warnIfCopied(access, verification.retired, surroundings);
  return verification;
}

/** Returns the place that a word of the command line names. */
export function placeOf(named: string, surroundings: Surroundings): LedgerPlace {
  const { clock, random } = surroundings;
  return isPostgres(named) ? postgresPlace(postgresAccess(named, surroundings), clock) : filePlace(named, random);
}
