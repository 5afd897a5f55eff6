import { type Kysely, sql, type Transaction } from 'kysely';
import { locked } from '../errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { blockLease, holderIn, LEASE_MS, type Sign, whenExpired } from './lease.ts';
import type { PostgresAccess } from './pool.ts';
import { databaseNow, isPastHeartbeat, type PostgresTables } from './tables.ts';

/** Returns the heartbeat that expires last. A replica without a lease still reads the ledger, and takes commands for it. */
async function readHeartbeat(db: Kysely<PostgresTables>, schema: string): Promise<Sign | undefined> {
  const { rows } = await sql<Sign & { readonly name: string; readonly address: string | null }>`
    select name, address, started_ms as since_ms, seen_ms + ${LEASE_MS}::bigint as expires_ms,
      seen_ms + ${LEASE_MS}::bigint - ${databaseNow} as left_ms
    from ${sql.id(schema, 'replica')} where ${isPastHeartbeat} order by seen_ms desc limit 1`.execute(db);
  const [found] = rows;
  if (found === undefined) return undefined;
  const api = found.address === null ? '' : `, API at ${found.address}`;
  return { ...found, actor: `portolan run as replica ${found.name}${api}` };
}

/**
 * Waits until no process has a lease of the ledger, and no replica lives. The ledger has the tables of this version.
 * @throws PortolanError `ledger/locked` once a process has given another sign of life.
 */
export async function whenUnused(
  db: Kysely<PostgresTables>,
  { address: { location, schema } }: Pick<PostgresAccess, 'address'>,
  clock: Clock,
): Promise<void> {
  await whenExpired({ db, location, clock });
  await whenExpired({ db, location, clock, read: () => readHeartbeat(db, schema) });
}

/**
 * Keeps other processes from taking a lease, and from recording a command or its result, until the transaction ends: a replica that starts
 * meanwhile would confirm a command that this transaction does not see.
 * @throws PortolanError `ledger/locked` if a process has one, or a replica lives.
 */
export async function blockLedger(
  transaction: Transaction<PostgresTables>,
  { address: { location, schema } }: Pick<PostgresAccess, 'address'>,
): Promise<void> {
  // Before any row: a statement that changes a command locks the table before the lease that it proves.
  await sql`lock table ${sql.id(schema, 'command')} in exclusive mode`.execute(transaction);
  await blockLease(transaction, location);
  const found = await readHeartbeat(transaction, schema);
  if (found !== undefined && found.left_ms > 0) throw locked(location, holderIn(found));
}
