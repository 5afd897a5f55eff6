import type { Transaction } from 'kysely';
import type { RestoreReport } from '../backup.ts';
import { restoredFact } from '../confirmation.ts';
import { type ContentStanding, copyContents } from '../copy.ts';
import { contentTables, type LedgerContents } from '../contents.ts';
import { newer, older } from '../errors.ts';
import { backupPlace } from '../file-place.ts';
import { migrations, newestSchema, type Standing } from '../migrations.ts';
import { retired } from '../retirement.ts';
import { withSqliteContents } from '../sqlite-contents.ts';
import { contentsIn } from './contents.ts';
import { blockLease, whenExpired } from './lease.ts';
import { openPostgresLedger, type PostgresLedgerOptions, withDatabase } from './open.ts';
import { fillingOf, setStanding, surely } from './place.ts';
import type { PostgresAccess } from './pool.ts';
import { createTablesIn, type PostgresTables, readPostgresStanding } from './tables.ts';

/**
 * Replaces a ledger with a backup, in one transaction. The former ledger is kept in a file; the restored one starts at a higher
 * epoch and serial than either, and every scope's installs wait for confirmation (`awaitsConfirmation`).
 * @param kept path of the file for the former ledger.
 * @throws PortolanError `ledger/locked` while a process holds the ledger, `ledger/missing`, `ledger/newer` and `ledger/older` of
 * the backup, `ledger/bad-copy` if it is damaged.
 */
export async function restorePostgresLedger(
  access: PostgresAccess,
  backup: string,
  kept: string,
  options: Omit<PostgresLedgerOptions, 'readOnly'>,
): Promise<RestoreReport> {
  const { location, schema } = access.address;
  const { clock } = options;
  const isReplaced = await withSqliteContents(backup, (contents) =>
    withDatabase(access, async (db) => {
      const former = await readPostgresStanding(db, schema);
      if (former !== undefined) await whenExpired({ db, location, clock });
      const raised = raisedAbove(contents, former);
      return surely(db, access, clock, {
        expected: () => raised,
        work: (transaction) => replaceIn(transaction, { access, contents, raised, kept, random: options.random }),
      });
    }),
  );
  const ledger = await openPostgresLedger(access, options);
  try {
    const detail = { backup, epoch: ledger.epoch };
    for (const scope of await ledger.scopes()) {
      const record = { op: 'record', event: 'ledger.restored', detail } as const;
      await ledger.commit({ scope, actor: options.actor, atMs: clock.now(), operations: [record] });
    }
    const {
      lineage,
      schema: version,
      serial,
    } = await withDatabase(access, async (db) => {
      const standing = await readPostgresStanding(db, schema);
      return standing ?? { lineage: '', schema: 0, serial: 0 };
    });
    const report = { path: location, lineage, schema: version, serial, epoch: ledger.epoch };
    return isReplaced ? { ...report, replaced: kept } : report;
  } finally {
    await ledger.close();
  }
}

/** Serial and epoch never decrease within a lineage; a higher serial than the former one also shows that the commit took place. */
function raisedAbove({ standing, coveredSince }: LedgerContents, former: Standing | undefined): ContentStanding {
  return {
    ...standing,
    coveredSince,
    serial: Math.max(standing.serial, former?.serial ?? 0) + 1,
    epoch: Math.max(standing.epoch, former?.epoch ?? 0),
  };
}

interface Replacement {
  readonly access: PostgresAccess;
  readonly contents: LedgerContents;
  readonly raised: ContentStanding;
  readonly kept: string;
  readonly random: PostgresLedgerOptions['random'];
}

/** @returns whether there was a ledger with records, which is then in the file `kept`. */
async function replaceIn(
  transaction: Transaction<PostgresTables>,
  { access, contents, raised, kept, random }: Replacement,
): Promise<boolean> {
  const { location, schema } = access.address;
  const former = await readPostgresStanding(transaction, schema);
  const known = newestSchema(migrations);
  if (former === undefined) await createTablesIn(transaction, schema, '', migrations);
  else if (former.schema > known) throw newer(location, former.schema, known);
  else if (former.schema < known) throw older(location, former.schema, known);
  await blockLease(transaction, location);
  const isReplaced = former !== undefined && former.serial > 0;
  if (isReplaced) await copyContents(await contentsIn(transaction, access), backupPlace(kept, random), 'damaged');
  for (const table of contentTables) await transaction.deleteFrom(table).execute();
  await transaction.deleteFrom('meta').where('k', '=', retired).execute();
  // Commands without a result were given for the former state.
  await transaction.deleteFrom('command').execute();
  await copyContents(contents, {
    location,
    filling: async (standing, fill) => {
      await setStanding(transaction, standing);
      return fill(fillingOf(transaction, access));
    },
  });
  await setStanding(transaction, raised);
  // The epoch of the process that opens it next.
  const value = String(raised.epoch + 1);
  await transaction
    .insertInto('fact')
    .values({ key: restoredFact, value })
    .onConflict((on) => on.column('key').doUpdateSet({ value }))
    .execute();
  return isReplaced;
}
