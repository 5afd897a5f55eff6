import { Kysely, PostgresDialect, sql } from 'kysely';
import { missing, newer, older, retiredLedger } from '../errors.ts';
import { PortolanError } from '../../model/errors.ts';
import { type Migration, migrations, newestSchema, type Standing } from '../migrations.ts';
import type { OnRetired } from '../retirement.ts';
import type { LedgerTables } from '../schema.ts';
import { SqlLedger, type SqlLedgerParts } from '../sql-ledger.ts';
import { explainPostgres, otherEncoding, postgresFault, readOnlyDatabase } from './faults.ts';
import { acquireLease, type Lease, LEASE_MS } from './lease.ts';
import { type RenewalParts, Renewals } from './renewals.ts';
import { openPool, type PoolLimits, type PostgresAccess } from './pool.ts';
import { createTables, migrateTables, type PostgresTables, readPostgresStanding, WHOLE_LEDGER } from './tables.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';

export interface PostgresLedgerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Names the process that opens it, for errors of other processes: `portolan run on host-1, pid 4711`. */
  readonly actor: string;
  /** Needs no lease and works beside a writer. Never creates, migrates or writes. */
  readonly readOnly?: boolean;
  /** Never creates the tables. */
  readonly mustExist?: boolean;
  /** Called when a ledger that is only read was copied to another place. */
  readonly onRetired?: OnRetired;
  /** Time after which another process may take the ledger over from one that gives no sign. */
  readonly leaseMs?: number;
  /** The schema's steps; only tests of migration pass others. */
  readonly migrations?: readonly Migration[];
}

/** Time for a statement that creates or changes tables, or reads all of a ledger. */
export const LONG_STATEMENT_MS = 600_000;

/**
 * Time that a step which other processes allow waits for a table, shorter than the time after which PostgreSQL looks for deadlocks: this
 * process gives way, and not a replica. Then it pauses, and tries again until the longest time has passed.
 */
const EXPANDING_LOCK_MS = 500;
const EXPANDING_PAUSE_MS = 1_000;
const EXPANDING_MS_MAX = 120_000;

/** Time for one renewal. */
const ATTEMPT_MS_MAX = 5_000;
const ATTEMPT_MS_MIN = 500;
/** Limits of a pause in a transaction. */
const IDLE_MS_MAX = 5_000;
const IDLE_MS_MIN = 500;

/** The tables of a ledger as Kysely sees them. No connection is opened yet. */
export async function databaseOf(access: PostgresAccess, limits: PoolLimits = {}): Promise<Kysely<PostgresTables>> {
  const pool = openPool(access, limits);
  return new Kysely<PostgresTables>({ dialect: new PostgresDialect({ pool }) }).withSchema(access.address.schema);
}

/**
 * Opens the ledger in a database. For writing it creates or migrates the tables, and takes the lease, which raises the epoch.
 * @throws PortolanError `ledger/locked`, `ledger/missing` (reading), `ledger/newer`, `ledger/older` (reading),
 * `ledger/unreachable`, `ledger/refused`, `ledger/busy`, `ledger/full`.
 */
export async function openPostgresLedger(access: PostgresAccess, options: PostgresLedgerOptions): Promise<SqlLedger> {
  const db = await databaseOf(access, { idleMsMax: idleWithin(options.leaseMs) });
  try {
    return options.readOnly === true
      ? await openForReading(db, access, options)
      : await openForWriting(db, access, options);
  } catch (error) {
    await db.destroy();
    throw explainPostgres(error, access.address.location);
  }
}

async function openForReading(
  db: Kysely<PostgresTables>,
  { address: { location, schema } }: PostgresAccess,
  options: PostgresLedgerOptions,
): Promise<SqlLedger> {
  const standing = await readPostgresStanding(db, schema);
  if (standing === undefined) throw missing(location);
  mustBeKnown(location, standing, options);
  const steps = options.migrations ?? migrations;
  const isReadable = steps.every(({ to, readsBefore }) => to <= standing.schema || readsBefore === true);
  if (!isReadable) throw older(location, standing.schema, newestSchema(steps));
  if (standing.retired !== undefined) options.onRetired?.(location, standing.retired);
  return ledgerOf(db, location, standing, options, undefined);
}

async function openForWriting(
  db: Kysely<PostgresTables>,
  access: PostgresAccess,
  options: PostgresLedgerOptions,
): Promise<SqlLedger> {
  const { location } = access.address;
  const { clock, random, actor, leaseMs = LEASE_MS } = options;
  await mustBeWritable(db, location);
  await ensureTables(db, access, options);
  const holder = random.hex(16);
  const renewals = await renewalsOf(access, { clock, random, holder, leaseMs });
  let lease: Lease | undefined;
  try {
    const known = newestSchema(options.migrations ?? migrations);
    lease = await acquireLease({ db, renewals, location, clock, holder, actor, leaseMs, scope: WHOLE_LEDGER, known });
    const standing = await upgradeTables(db, access, options);
    return ledgerOf(db, location, { ...standing, epoch: lease.epoch }, options, lease, async () => {
      await renewals.close();
      await db.destroy();
    });
  } catch (error) {
    await lease?.release();
    await renewals.close();
    throw error;
  }
}

/**
 * Creates the tables of a ledger, or migrates them to this version. Steps that the version before understands are made beside processes
 * that hold leases.
 * @throws PortolanError as `openPostgresLedger`; `ledger/locked` only for a step that excludes other processes.
 */
export async function migratePostgresLedger(
  access: PostgresAccess,
  options: PostgresLedgerOptions,
): Promise<Pick<Standing, 'lineage' | 'epoch'> & { readonly location: string }> {
  const { location, schema } = access.address;
  const db = await databaseOf(access);
  try {
    await mustBeWritable(db, location);
    await ensureTables(db, access, options);
    await migrateBeside(db, access, options);
    const standing = await readPostgresStanding(db, schema);
    if (standing === undefined) throw missing(location);
    mustBeKnown(location, standing, options);
    return { location, lineage: standing.lineage, epoch: standing.epoch };
  } catch (error) {
    throw explainPostgres(error, location);
  } finally {
    await db.destroy();
  }
}

/** Opens the connection for the leases of a process when the first of them is renewed. */
export async function renewalsOf(
  access: PostgresAccess,
  parts: Omit<RenewalParts, 'control' | 'schema'>,
): Promise<Renewals> {
  // A connection that is cut must not cost more than one renewal.
  const attemptMs = Math.min(ATTEMPT_MS_MAX, Math.max(ATTEMPT_MS_MIN, parts.leaseMs / 3));
  const control = await databaseOf(access, { connections: 1, statementMsMax: attemptMs, connectMsMax: attemptMs });
  return new Renewals({ ...parts, control, schema: access.address.schema });
}

/** Returns the time for which a process may pause in a transaction: a takeover waits for it. */
export function idleWithin(leaseMs = LEASE_MS): number {
  return Math.min(IDLE_MS_MAX, Math.max(IDLE_MS_MIN, Math.floor(leaseMs / 2)));
}

/** Creates the tables where there are none. @throws PortolanError `ledger/newer`, `ledger/retired`, before any lease is taken. */
export async function ensureTables(
  db: Kysely<PostgresTables>,
  access: PostgresAccess,
  options: PostgresLedgerOptions,
): Promise<void> {
  const { location, schema } = access.address;
  const { random, migrations: steps = migrations } = options;
  const standing = await readPostgresStanding(db, schema);
  if (standing?.retired !== undefined) throw retiredLedger(location, standing.retired);
  if (standing !== undefined) return mustBeKnown(location, standing, options);
  if (options.mustExist === true) throw missing(location);
  await withDatabase(access, (longer) => createTables(longer, schema, random.hex(16), steps));
}

/**
 * Migrates the tables of a ledger that several processes use. Steps that the version before understands are made beside its
 * processes; for others, no process may hold a lease.
 */
export async function migrateBeside(
  db: Kysely<PostgresTables>,
  access: PostgresAccess,
  options: PostgresLedgerOptions,
): Promise<void> {
  const { migrations: steps = migrations } = options;
  const found = (await readPostgresStanding(db, access.address.schema))?.schema ?? 0;
  const missingSteps = steps.filter(({ to }) => to > found);
  if (missingSteps.length === 0) return;
  if (missingSteps.every(({ expands }) => expands === true)) await expandTables(db, access, options);
  else await (await openPostgresLedger(access, options)).close();
}

/** Waits for the locks of other processes for a short time only, because replicas wait behind a step that waits. */
async function expandTables(
  db: Kysely<PostgresTables>,
  access: PostgresAccess,
  options: PostgresLedgerOptions,
): Promise<void> {
  const { clock } = options;
  const untilMs = clock.monotonic() + EXPANDING_MS_MAX;
  for (;;) {
    try {
      await upgradeTables(db, access, options, EXPANDING_LOCK_MS);
      return;
    } catch (error) {
      const isBusy = error instanceof PortolanError && error.code === 'ledger/busy';
      if (!isBusy || clock.monotonic() >= untilMs) throw error;
      await clock.sleep(EXPANDING_PAUSE_MS);
    }
  }
}

/**
 * Migrates the tables of a ledger whose lease this process holds, or beside others.
 * @param lockMs time that each statement waits for a table; by default, no limit.
 */
async function upgradeTables(
  db: Kysely<PostgresTables>,
  access: PostgresAccess,
  options: PostgresLedgerOptions,
  lockMs = 0,
): Promise<Standing> {
  const { location, schema } = access.address;
  const { migrations: steps = migrations } = options;
  const standing = await readPostgresStanding(db, schema);
  if (standing === undefined) throw missing(location);
  mustBeKnown(location, standing, options);
  if (standing.schema < newestSchema(steps))
    await withDatabase(access, (longer) => migrateTables(longer, schema, steps, lockMs));
  return standing;
}

/** Opens a database for work that may take long, with one connection. */
export async function withDatabase<Result>(
  access: PostgresAccess,
  work: (db: Kysely<PostgresTables>) => Promise<Result>,
): Promise<Result> {
  const db = await databaseOf(access, { connections: 1, statementMsMax: LONG_STATEMENT_MS });
  try {
    return await work(db);
  } catch (error) {
    throw explainPostgres(error, access.address.location);
  } finally {
    await db.destroy();
  }
}

function mustBeKnown(location: string, { schema }: Standing, options: Pick<PostgresLedgerOptions, 'migrations'>): void {
  const known = newestSchema(options.migrations ?? migrations);
  if (schema > known) throw newer(location, schema, known);
}

/** @throws PortolanError `ledger/refused` if the database accepts no writes, as a standby, or cannot store every text. */
export async function mustBeWritable(db: Kysely<PostgresTables>, location: string): Promise<void> {
  const { rows } = await sql<{ encoding: string; standby: string }>`
    select current_setting('server_encoding') as encoding, current_setting('transaction_read_only') as standby`.execute(
    db,
  );
  const { encoding = '', standby } = rows[0] ?? {};
  if (standby === 'on') throw readOnlyDatabase(location);
  if (encoding !== 'UTF8') throw otherEncoding(location, encoding);
}

/** @param close what else ends with the ledger; by default, its connections. */
export function ledgerOf(
  db: Kysely<PostgresTables>,
  location: string,
  { lineage, epoch }: Pick<Standing, 'lineage' | 'epoch'>,
  { clock }: Pick<PostgresLedgerOptions, 'clock'>,
  lease: Lease | undefined,
  close = () => db.destroy(),
): SqlLedger {
  const parts: SqlLedgerParts = {
    db: db as unknown as Kysely<LedgerTables>,
    location,
    lineage,
    epoch,
    writable: lease !== undefined,
    sendUntilMs: lease && (() => lease.sendUntilMs),
    clock,
    faultOf: postgresFault,
    explain: (error) => explainPostgres(error, location),
    // A ledger that is only read never begins a transaction.
    fence: async (executor) => (lease as Lease).fence(executor),
    transact: (work) => (lease as Lease).transact(work),
    shrink: () => {}, // The database does it by itself.
    committed: () => {},
    guard: undefined,
    facts: new Map(),
    release: async () => {
      try {
        await lease?.release();
      } finally {
        await close();
      }
    },
  };
  return new SqlLedger(parts);
}
