import { type Kysely, sql, type Transaction } from 'kysely';
import type { LedgerTables } from '../schema.ts';
import { type Migration, newestSchema, type Standing, standingIn } from '../migrations.ts';
import { ForeignTables, isServerError, LedgerNotCreated } from './faults.ts';
import { UNLIMITED } from './pool.ts';

/** The tables in PostgreSQL: those of every ledger, and the leases of the processes that write. */
export interface PostgresTables extends LedgerTables {
  readonly lease: LeaseTable;
  /** The heartbeat of each process, by its id. `shared-tables.ts` has the other columns, and the other tables. */
  readonly replica: { readonly holder: string };
  readonly command: { readonly id: string };
}

/** A process may write what a lease covers, until another process takes the lease over. Times are of the database. */
export interface LeaseTable {
  /** Names the part of the ledger that may be written: `*` is all of it. */
  readonly scope: string;
  /** Text of `lease-holder.ts`; empty: it was never taken, or a lease that excludes it ended it. */
  readonly holder: string;
  /** Names the holder, for errors of other processes. */
  readonly actor: string;
  /** The epoch of the ledger when the holder took it. */
  readonly epoch: number;
  readonly since_ms: number;
  /** Another process may take the lease over from then on. */
  readonly expires_ms: number;
  /** The serial of the holder's last transaction. It shows whether a commit took place that was not answered. */
  readonly serial: number;
}

/** The scope of the lease on a whole ledger. It excludes every other lease. */
export const WHOLE_LEDGER = '*';

/** The current time of the database, in milliseconds. No transaction freezes it. */
export const databaseNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** A heartbeat may be later than `databaseNow` by this, where the clock of the database is corrected in small steps. */
const AHEAD_MS_MAX = 1_000;

/**
 * The condition that a heartbeat is not from the future, where the clock of the database was set back. Such a one says nothing: a live
 * replica replaces it within seconds, and that of a dead one would look new once the clock comes to it.
 */
export const isPastHeartbeat = sql<boolean>`seen_ms <= ${databaseNow} + ${sql.lit(AHEAD_MS_MAX)}`;

/**
 * Makes a single statement durable, as an item of its FROM clause: a pooler may have given it a session without the settings of `pool.ts`.
 * Transactions of several statements set it when they begin.
 */
export const durably = sql`set_config('synchronous_commit', 'on', true)`;

/** Tables that come before every schema of the ledger. */
const FIRST_TABLES = `
CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL);
CREATE TABLE lease (
  scope TEXT PRIMARY KEY, holder TEXT NOT NULL, actor TEXT NOT NULL, epoch INTEGER NOT NULL, since_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL, serial INTEGER NOT NULL);
INSERT INTO lease VALUES ('${WHOLE_LEDGER}', '', '', 0, 0, 0, 0);
INSERT INTO meta VALUES ('schema', '0'), ('serial', '0'), ('epoch', '0');
`;

/**
 * Returns statements of SQLite in the dialect of PostgreSQL. All differences are here: integers have 64 bits, text sorts by its
 * bytes, and SQLite's options of tables have no counterpart.
 */
export function inPostgres(statements: string): string {
  return statements
    .replace(/\) STRICT(?:, WITHOUT ROWID)?;/g, ');')
    .replace(/\bINTEGER\b/g, 'BIGINT')
    .replace(/\bTEXT\b/g, 'TEXT COLLATE "C"');
}

/** Returns the statements that make an empty ledger of a schema version, without its lineage. */
export function tablesOf(steps: readonly Migration[]): string {
  return inPostgres([FIRST_TABLES, ...steps.map(statementsOf)].join(';\n'));
}

function statementsOf({ to, sql: statements, run, postgres }: Migration): string {
  if (run !== undefined && postgres === undefined) throw new Error(`step ${to} of the schema has no counterpart`);
  return `${statements};\n${postgres ?? ''};\nUPDATE meta SET v = '${to}' WHERE k = 'schema'`;
}

/** @returns undefined where there is no ledger. @throws ForeignTables if the table `meta` is of another application. */
export async function readPostgresStanding(db: Kysely<PostgresTables>, schema: string): Promise<Standing | undefined> {
  if (!(await hasTable(db, schema))) return undefined;
  return standingIn(await db.selectFrom('meta').select(['k', 'v']).execute());
}

async function hasTable(db: Kysely<PostgresTables>, schema: string): Promise<boolean> {
  const { rows } = await sql<{ columns: number }>`
    select count(f.attname) as columns from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join pg_catalog.pg_attribute f on f.attrelid = c.oid and f.attname in ('k', 'v') and not f.attisdropped
    where n.nspname = ${schema} and c.relname = 'meta' group by c.oid`.execute(db);
  if (rows[0] !== undefined && rows[0].columns !== 2)
    throw new ForeignTables(`the schema ${schema} contains a table meta that is not one of a ledger`);
  return rows.length > 0;
}

const NO_PRIVILEGE = '42501';
/** A table, index, type or function of this name exists. */
const NAME_IN_USE = /^(?:42P07|42710|42723)$/;

/** Creates the tables, unless another process has done so meanwhile. */
export async function createTables(
  db: Kysely<PostgresTables>,
  schema: string,
  lineage: string,
  steps: readonly Migration[],
): Promise<void> {
  await locking(db, schema, async (transaction) => {
    if (!(await hasTable(transaction, schema))) await createTablesIn(transaction, schema, lineage, steps);
  });
}

/** Creates the tables in a transaction that holds the lock of `locking`. @throws ForeignTables, LedgerNotCreated. */
export async function createTablesIn(
  transaction: Transaction<PostgresTables>,
  schema: string,
  lineage: string,
  steps: readonly Migration[],
): Promise<void> {
  const found = await sql`select 1 from pg_catalog.pg_namespace where nspname = ${schema}`.execute(transaction);
  try {
    // Even `if not exists` requires the privilege to create one.
    if (found.rows.length === 0) await sql`create schema ${sql.id(schema)}`.execute(transaction);
    await sql`set local search_path to ${sql.id(schema)}`.execute(transaction);
    await sql.raw(tablesOf(steps)).execute(transaction);
  } catch (error) {
    if (!isServerError(error)) throw error;
    if (error.code === NO_PRIVILEGE) throw new LedgerNotCreated(error.message, { cause: error });
    if (!NAME_IN_USE.test(error.code)) throw error;
    throw new ForeignTables(`the schema ${schema} contains tables, but no ledger (${error.message})`, { cause: error });
  }
  await transaction.insertInto('meta').values({ k: 'lineage', v: lineage }).execute();
}

/**
 * Brings the tables to the newest schema in one transaction.
 * @param lockMs time that each statement waits for a table; 0: no limit.
 */
export async function migrateTables(
  db: Kysely<PostgresTables>,
  schema: string,
  steps: readonly Migration[],
  lockMs: number,
): Promise<void> {
  await locking(db, schema, async (transaction) => {
    await sql.raw(`set local lock_timeout = ${lockMs}`).execute(transaction);
    const found = (await readPostgresStanding(transaction, schema))?.schema ?? newestSchema(steps);
    await sql`set local search_path to ${sql.id(schema)}`.execute(transaction);
    for (const step of steps) if (step.to > found) await sql.raw(inPostgres(statementsOf(step))).execute(transaction);
  });
}

/** Runs work, as long as it may take, while no other process creates or changes tables of the same ledger. */
export async function locking(
  db: Kysely<PostgresTables>,
  schema: string,
  work: (transaction: Transaction<PostgresTables>) => Promise<void>,
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await sql.raw(UNLIMITED).execute(transaction);
    await sql`select pg_advisory_xact_lock(hashtextextended(${`portolan ${schema}`}, 0))`.execute(transaction);
    await work(transaction);
  });
}
