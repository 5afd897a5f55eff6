import type { Kysely, Transaction } from 'kysely';
import { CONTENT_TABLES, type ContentTable, contentTables } from '../contents.ts';
import type { ContentStanding, Filling, LedgerPlace } from '../copy.ts';
import { missing, newer, notEmpty, notRetired, older, retiredLedger } from '../errors.ts';
import { coveredSince } from '../inventory.ts';
import { migrations, newestSchema } from '../migrations.ts';
import { type Retirement, retired, retirementText } from '../retirement.ts';
import type { Clock } from '../../runtime/clock.ts';
import { contentsIn } from './contents.ts';
import { CommitUnanswered } from './faults.ts';
import { blockLease, endLeases, whenExpired } from './lease.ts';
import { withDatabase } from './open.ts';
import type { PostgresAccess } from './pool.ts';
import { createTablesIn, locking, type PostgresTables, readPostgresStanding } from './tables.ts';

/** Waits before an unanswered commit is looked up. */
const ASKING_MS = [100, 300, 1_000, 3_000, 5_000] as const;

/** A database as the source or target of a copy. */
export function postgresPlace(access: PostgresAccess, clock: Clock): LedgerPlace {
  const { location, schema } = access.address;
  return {
    location,
    retiring: (retirement, work) =>
      withDatabase(access, async (db) => {
        if ((await readPostgresStanding(db, schema)) === undefined) throw missing(location);
        await whenExpired({ db, location, clock });
        let isCopied = false;
        try {
          return await db
            .transaction()
            .setIsolationLevel('repeatable read')
            .execute(async (transaction) => {
              await blockLease(transaction, location);
              const contents = await contentsIn(transaction, access);
              if (contents.standing.retired !== undefined) throw retiredLedger(location, contents.standing.retired);
              // First, so that a role without the privilege copies nothing.
              await retire(transaction, retirement);
              const result = await work(contents);
              isCopied = true;
              return result;
            });
        } catch (error) {
          throw isCopied ? notRetired(location, retirement.copy, error) : error;
        }
      }),
    filling: (standing, fill) =>
      withDatabase(access, async (db) => {
        await whenFree(db, access, clock);
        return surely(db, access, clock, standing, async (transaction) => {
          const former = await makeEmpty(transaction, access);
          await setStanding(transaction, standing);
          const result = await fill(fillingOf(transaction, access));
          if (former > standing.epoch) await setStanding(transaction, { ...standing, epoch: former });
          return result;
        });
      }),
  };
}

async function retire(transaction: Transaction<PostgresTables>, retirement: Retirement): Promise<void> {
  await transaction
    .insertInto('meta')
    .values({ k: retired, v: retirementText(retirement) })
    .execute();
  await endLeases(transaction);
}

/**
 * Waits until no process has the ledger, where there is one. It may be the one that is copied, by another URL: then no lock would ever
 * be free, so its records are looked for before.
 * @throws PortolanError `ledger/not-empty`.
 */
async function whenFree(db: Kysely<PostgresTables>, { address }: PostgresAccess, clock: Clock): Promise<void> {
  const { location, schema } = address;
  if ((await readPostgresStanding(db, schema)) === undefined) return;
  await mustHaveNoRecords(db, location);
  await whenExpired({ db, location, clock });
}

/** Runs work in one transaction. If its commit is not answered, the content says whether it took place. */
export async function surely<Result>(
  db: Kysely<PostgresTables>,
  { address: { schema } }: PostgresAccess,
  clock: Clock,
  expected: Pick<ContentStanding, 'lineage' | 'serial'>,
  work: (transaction: Transaction<PostgresTables>) => Promise<Result>,
): Promise<Result> {
  let result: { readonly value: Result } | undefined;
  try {
    await locking(db, schema, async (transaction) => {
      result = { value: await work(transaction) };
    });
  } catch (error) {
    if (!(error instanceof CommitUnanswered) || result === undefined) throw error;
    if (!(await wasCommitted(db, schema, clock, expected, error))) throw error.cause;
  }
  return (result as { readonly value: Result }).value;
}

async function wasCommitted(
  db: Kysely<PostgresTables>,
  schema: string,
  clock: Clock,
  expected: Pick<ContentStanding, 'lineage' | 'serial'>,
  unanswered: CommitUnanswered,
): Promise<boolean> {
  for (const waitMs of ASKING_MS) {
    await clock.sleep(waitMs);
    try {
      let found: boolean | undefined;
      // The lock waits until the server has ended the transaction.
      await locking(db, schema, async (transaction) => {
        const standing = await readPostgresStanding(transaction, schema);
        found = standing?.lineage === expected.lineage && standing.serial >= expected.serial;
      });
      if (found !== undefined) return found;
    } catch {
      // The database may be back at the next attempt.
    }
  }
  throw unanswered;
}

/**
 * Makes sure that there are tables without content, and that no process continues with them.
 * @returns the epoch of the ledger that was there, which the new one must not go below.
 * @throws PortolanError `ledger/not-empty`.
 */
async function makeEmpty(transaction: Transaction<PostgresTables>, { address }: PostgresAccess): Promise<number> {
  const { location, schema } = address;
  const standing = await readPostgresStanding(transaction, schema);
  if (standing === undefined) {
    await createTablesIn(transaction, schema, '', migrations);
    return 0;
  }
  const known = newestSchema(migrations);
  if (standing.schema > known) throw newer(location, standing.schema, known);
  if (standing.schema < known) throw older(location, standing.schema, known);
  await blockLease(transaction, location);
  await mustHaveNoRecords(transaction, location);
  await endLeases(transaction);
  return standing.epoch;
}

async function mustHaveNoRecords(db: Kysely<PostgresTables>, location: string): Promise<void> {
  for (const table of contentTables) {
    const row = await db.selectFrom(table).selectAll().limit(1).executeTakeFirst();
    if (row !== undefined) throw notEmpty(location, 'the schema contains a ledger with records');
  }
}

export async function setStanding(
  transaction: Transaction<PostgresTables>,
  { lineage, serial, epoch, coveredSince: since }: ContentStanding,
): Promise<void> {
  const meta = {
    lineage,
    serial: String(serial),
    epoch: String(epoch),
    [coveredSince]: since === undefined ? undefined : String(since),
  };
  for (const [k, v] of Object.entries(meta))
    if (v === undefined) await transaction.deleteFrom('meta').where('k', '=', k).execute();
    else
      await transaction
        .insertInto('meta')
        .values({ k, v })
        .onConflict((on) => on.column('k').doUpdateSet({ v }))
        .execute();
}

export function fillingOf(transaction: Transaction<PostgresTables>, access: PostgresAccess): Filling {
  return {
    add: async (table, rows) => insert(transaction, table, rows),
    contents: () => contentsIn(transaction, access),
  };
}

async function insert(
  transaction: Transaction<PostgresTables>,
  table: ContentTable,
  rows: readonly object[],
): Promise<void> {
  const { columns } = CONTENT_TABLES[table];
  const values = rows.map((row) =>
    Object.fromEntries(columns.map((column) => [column, (row as Record<string, unknown>)[column] ?? null])),
  );
  await transaction
    .insertInto(table)
    .values(values as never)
    .execute();
}
