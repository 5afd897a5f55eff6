import { sql, type Transaction } from 'kysely';
import type { RestoreReport } from '../backup.ts';
import type { OpenCommand } from '../commands.ts';
import { recordRestored } from '../confirmation.ts';
import { type ContentStanding, copyContents, mustBeNewest } from '../copy.ts';
import { contentTables, type LedgerContents } from '../contents.ts';
import { backupPlace } from '../file-place.ts';
import { remove } from '../files.ts';
import { migrations, newestSchema, type Standing } from '../migrations.ts';
import { retired } from '../retirement.ts';
import type { SqlLedger } from '../sql-ledger.ts';
import { withSqliteContents } from '../sqlite-contents.ts';
import { contentsIn } from './contents.ts';
import { endLeases } from './lease.ts';
import { type PostgresLedgerOptions, withDatabase } from './open.ts';
import { fillingOf, setStanding, surely } from './place.ts';
import type { PostgresAccess } from './pool.ts';
import { blockLedger, whenUnused } from './presence.ts';
import { openCommands } from './shared-commands.ts';
import { createTablesIn, type PostgresTables, readPostgresStanding } from './tables.ts';
import { ledgerIn } from './transaction-ledger.ts';

interface Restore {
  readonly access: PostgresAccess;
  /** Path of the backup. */
  readonly backup: string;
  /** Path of the file for the former ledger. */
  readonly kept: string;
  readonly options: Omit<PostgresLedgerOptions, 'readOnly'>;
}

/**
 * Replaces a ledger with a backup, in one transaction. The former ledger is kept in a file; the restored one starts at a higher
 * epoch and serial than either, and every scope's installs wait for confirmation (`awaitsConfirmation`).
 * @throws PortolanError `ledger/locked` while a process holds the ledger or a replica lives, `ledger/missing`, `ledger/newer` and
 * `ledger/older` of the backup, `ledger/bad-copy` if it is damaged.
 */
export async function restorePostgresLedger(restore: Restore): Promise<RestoreReport> {
  const { access, backup, options } = restore;
  const { location, schema } = access.address;
  return withSqliteContents(backup, (contents) =>
    withDatabase(access, async (db) => {
      const former = await readPostgresStanding(db, schema);
      if (former !== undefined) {
        mustBeNewest(location, former);
        await whenUnused(db, access, options.clock);
      }
      return surely(db, access, options.clock, {
        // The serial is higher than the former one, so it shows that the commit took place.
        expected: (report) => report,
        work: (transaction) => replaceIn(transaction, contents, restore),
      });
    }),
  );
}

async function replaceIn(
  transaction: Transaction<PostgresTables>,
  contents: LedgerContents,
  restore: Restore,
): Promise<RestoreReport> {
  const { access, kept, options } = restore;
  const former = await formerIn(transaction, access);
  if (former.serial === 0) return restoreIn(transaction, contents, former, restore);
  await copyContents(await contentsIn(transaction, access), backupPlace(kept, options.random), 'damaged');
  try {
    return { ...(await restoreIn(transaction, contents, former, restore)), replaced: kept };
  } catch (error) {
    // The transaction does not take place, so the ledger in the database is still this one.
    remove(kept);
    throw error;
  }
}

async function restoreIn(
  transaction: Transaction<PostgresTables>,
  contents: LedgerContents,
  former: Pick<Standing, 'serial' | 'epoch'>,
  { access, backup, options }: Restore,
): Promise<RestoreReport> {
  const { location, schema } = access.address;
  const refused = await openCommands(transaction, schema);
  for (const table of contentTables) await transaction.deleteFrom(table).execute();
  await transaction.deleteFrom('meta').where('k', '=', retired).execute();
  // Commands were given for the former state.
  await transaction.deleteFrom('command').execute();
  await endLeases(transaction);
  await copyContents(contents, {
    location,
    filling: async (standing, fill) => {
      await setStanding(transaction, standing);
      return fill(fillingOf(transaction, access));
    },
  });
  const raised = raisedAbove(contents, former);
  await setStanding(transaction, raised);
  // A trigger numbers each fact with the new serial, so that replicas read it.
  await transaction.updateTable('fact').set({ value: sql`value` }).execute();
  const ledger = ledgerIn(transaction, location, raised, options);
  await recordRestored(ledger, backup, options);
  await recordRefused(ledger, refused, options);
  const serial = (await readPostgresStanding(transaction, schema))?.serial ?? raised.serial;
  const report = { path: location, lineage: raised.lineage, schema: newestSchema(migrations), serial };
  return { ...report, epoch: raised.epoch, refused };
}

/** Returns the standing of the ledger that is replaced, which no other process can use until the transaction ends. */
async function formerIn(
  transaction: Transaction<PostgresTables>,
  access: PostgresAccess,
): Promise<Pick<Standing, 'serial' | 'epoch'>> {
  const { location, schema } = access.address;
  const found = await readPostgresStanding(transaction, schema);
  if (found === undefined) {
    await createTablesIn(transaction, schema, '', migrations);
    return { serial: 0, epoch: 0 };
  }
  mustBeNewest(location, found);
  await blockLedger(transaction, access);
  // Another process may have written until then.
  return (await readPostgresStanding(transaction, schema)) ?? found;
}

/** Serial and epoch never decrease within a lineage, and the restore is a new process with the ledger. */
function raisedAbove(
  { standing, coveredSince }: LedgerContents,
  former: Pick<Standing, 'serial' | 'epoch'>,
): ContentStanding {
  return {
    ...standing,
    coveredSince,
    serial: Math.max(standing.serial, former.serial) + 1,
    epoch: Math.max(standing.epoch, former.epoch) + 1,
  };
}

/** Records which commands nothing carries out any more. */
async function recordRefused(
  ledger: SqlLedger,
  refused: readonly OpenCommand[],
  { actor, clock }: Pick<PostgresLedgerOptions, 'actor' | 'clock'>,
): Promise<void> {
  for (const { unit, method, subject, by, addedMs } of refused) {
    const record = { op: 'record', event: 'command.refused', detail: { method, subject, by, addedMs } } as const;
    await ledger.commit({ scope: unit, actor, atMs: clock.now(), operations: [record] });
  }
}
