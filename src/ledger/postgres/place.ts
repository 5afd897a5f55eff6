import { type Kysely, sql, type Transaction } from 'kysely';
import { CONTENT_TABLES, type ContentTable, contentTables, type LedgerContents } from '../contents.ts';
import { commandsOpen } from '../commands.ts';
import { type ContentStanding, type Filling, type LedgerPlace, mustBeNewest } from '../copy.ts';
import { missing, notEmpty, notRetired, retiredLedger } from '../errors.ts';
import { coveredSince } from '../inventory.ts';
import { migrations } from '../migrations.ts';
import { type Retirement, retired, retirementText } from '../retirement.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { contentsIn } from './contents.ts';
import { CommitUnanswered } from './faults.ts';
import { endLeases } from './lease.ts';
import { withDatabase } from './open.ts';
import { type PostgresAccess, UNLIMITED, UNLIMITED_LOCK } from './pool.ts';
import { blockLedger, whenUnused } from './presence.ts';
import { openCommands } from './shared-commands.ts';
import { createTablesIn, locking, type PostgresTables, readPostgresStanding } from './tables.ts';

/** Waits before an unanswered commit is looked up. */
const ASKING_MS = [100, 300, 1_000, 3_000, 5_000] as const;

/** A database as the source or target of a copy. */
export function postgresPlace(access: PostgresAccess, clock: Clock): LedgerPlace {
  const { location } = access.address;
  return {
    location,
    retiring: (retirement, work) => withDatabase(access, (db) => retiring(db, access, clock, retirement, work)),
    filling: (standing, fill) =>
      withDatabase(access, async (db) => {
        await whenFree(db, access, clock);
        return surely(db, access, clock, {
          expected: () => standing,
          async work(transaction) {
            const former = await makeEmpty(transaction, access);
            await setStanding(transaction, standing);
            const result = await fill(fillingOf(transaction, access));
            if (former > standing.epoch) await setStanding(transaction, { ...standing, epoch: former });
            return result;
          },
        });
      }),
  };
}

async function retiring<Result>(
  db: Kysely<PostgresTables>,
  access: PostgresAccess,
  clock: Clock,
  retirement: Retirement,
  work: (contents: LedgerContents) => Promise<Result>,
): Promise<Result> {
  const { location, schema } = access.address;
  const standing = await readPostgresStanding(db, schema);
  if (standing === undefined) throw missing(location);
  mustBeNewest(location, standing);
  await whenUnused(db, access, clock);
  let copied: { readonly value: Result } | undefined;
  try {
    await db.transaction().execute(async (transaction) => {
      // It sees what was committed until its first query, so the lock of the commands comes before that.
      await sql.raw(`set transaction isolation level repeatable read; ${UNLIMITED_LOCK}`).execute(transaction);
      await blockLedger(transaction, access);
      await sql.raw(UNLIMITED).execute(transaction);
      const contents = await contentsIn(transaction, access);
      if (contents.standing.retired !== undefined) throw retiredLedger(location, contents.standing.retired);
      const open = await openCommands(transaction, schema);
      if (open.length > 0) throw commandsOpen(location, open);
      // First, so that a role without the privilege copies nothing.
      await retire(transaction, retirement);
      copied = { value: await work(contents) };
    });
  } catch (error) {
    if (copied === undefined) throw error;
    if (!(error instanceof CommitUnanswered)) throw notRetired(location, retirement.copy, error);
    const isRetired = await whenAnswering(db, schema, clock, wasRetired);
    if (isRetired === undefined) throw perhapsRetired(location, retirement.copy, error);
    if (!isRetired) throw notRetired(location, retirement.copy, error.cause);
  }
  return (copied as { readonly value: Result }).value;
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
async function whenFree(db: Kysely<PostgresTables>, access: PostgresAccess, clock: Clock): Promise<void> {
  const { location, schema } = access.address;
  const standing = await readPostgresStanding(db, schema);
  if (standing === undefined) return;
  mustBeNewest(location, standing);
  await mustHaveNoRecords(db, location);
  await whenUnused(db, access, clock);
}

/** The lock of the row waits until the server has ended the transaction that retires the ledger. */
async function wasRetired(transaction: Transaction<PostgresTables>): Promise<boolean> {
  await transaction.selectFrom('meta').select('v').where('k', '=', 'epoch').forUpdate().execute();
  const row = await transaction.selectFrom('meta').select('v').where('k', '=', retired).executeTakeFirst();
  return row !== undefined;
}

/** The copy is complete, and the database did not answer whether the ledger is retired. */
function perhapsRetired(location: string, copy: string, cause: unknown): PortolanError {
  return new PortolanError({
    code: 'ledger/unanswered',
    disposition: 'ask-human',
    message:
      `The ledger ${location} was copied to ${copy}, and every row is the same; but the database did not answer when the ledger ` +
      'was marked as retired, and could not be reached since. If processes wrote both, each could install what the other has installed.',
    remedy:
      `Run \`portolan ledger list --ledger URL\` with the URL of the ledger once the database answers. If it warns that the ledger was ` +
      `copied, use ${copy}. Otherwise remove ${copy}, and copy again.`,
    cause,
  });
}

interface Certain<Result> {
  work(transaction: Transaction<PostgresTables>): Promise<Result>;
  /** Returns the standing of the ledger once the work is done. */
  expected(result: Result): Pick<ContentStanding, 'lineage' | 'serial'>;
}

/** Runs work in one transaction. If its commit is not answered, the content says whether it took place. */
export async function surely<Result>(
  db: Kysely<PostgresTables>,
  { address: { schema } }: PostgresAccess,
  clock: Clock,
  { work, expected }: Certain<Result>,
): Promise<Result> {
  let result: { readonly value: Result } | undefined;
  try {
    await locking(db, schema, async (transaction) => {
      result = { value: await work(transaction) };
    });
  } catch (error) {
    if (!(error instanceof CommitUnanswered) || result === undefined) throw error;
    const { lineage, serial } = expected(result.value);
    const isDone = await whenAnswering(db, schema, clock, async (transaction) => {
      const standing = await readPostgresStanding(transaction, schema);
      return standing?.lineage === lineage && standing.serial >= serial;
    });
    if (isDone === undefined) throw error;
    if (!isDone) throw error.cause;
  }
  return (result as { readonly value: Result }).value;
}

/**
 * Asks the database once it answers again. The lock of `locking` waits until the server has ended a transaction that holds it.
 * @returns undefined if it did not answer for about 10 s.
 */
async function whenAnswering<Answer>(
  db: Kysely<PostgresTables>,
  schema: string,
  clock: Clock,
  ask: (transaction: Transaction<PostgresTables>) => Promise<Answer>,
): Promise<Answer | undefined> {
  for (const waitMs of ASKING_MS) {
    await clock.sleep(waitMs);
    try {
      let found: { readonly answer: Answer } | undefined;
      await locking(db, schema, async (transaction) => {
        found = { answer: await ask(transaction) };
      });
      if (found !== undefined) return found.answer;
    } catch {
      // The database may be back at the next attempt.
    }
  }
  return undefined;
}

/**
 * Makes sure that there are tables without content, and that no process continues with them.
 * @returns the epoch of the ledger that was there, which the new one must not go below.
 * @throws PortolanError `ledger/not-empty`.
 */
async function makeEmpty(transaction: Transaction<PostgresTables>, access: PostgresAccess): Promise<number> {
  const { location, schema } = access.address;
  const standing = await readPostgresStanding(transaction, schema);
  if (standing === undefined) {
    await createTablesIn(transaction, schema, '', migrations);
    return 0;
  }
  mustBeNewest(location, standing);
  await blockLedger(transaction, access);
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
