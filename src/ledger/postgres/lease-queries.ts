import { CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import { type Executor, prepare } from '../queries.ts';
import { literalOf } from './pool.ts';
import { databaseNow, type LeaseTable, type PostgresTables } from './tables.ts';

type Held = Pick<LeaseTable, 'scope' | 'holder' | 'epoch'> & {
  /** The serials that the row may have: with any other one, the database has lost transactions of this process. */
  readonly serials: readonly number[];
};

/** Values, or SQL in their place. */
type Given<Values> = { readonly [Name in keyof Values]: Values[Name] | RawBuilder<Values[Name]> };

type OwnLease = Omit<Held, 'serials'> & { readonly leaseMs: number };

/** The statements of a process that has a lease. */
export function leaseQueries(db: Kysely<PostgresTables>, lease: OwnLease) {
  const release = prepare((holes: Held) => ownRow(db, holes).set({ expires_ms: 0 }).returning('scope'));
  const current = prepare(({ scope }: Pick<LeaseTable, 'scope'>) =>
    db.selectFrom('lease').select(['holder', 'epoch', 'serial', 'expires_ms']).where('scope', '=', scope),
  );
  const fence = fenceText(db, lease);
  return {
    /**
     * Raises the serial of the ledger and renews the lease, in one message without values, so that a transaction may begin with it.
     * Each of its statements sees what others have committed while the one before it waited. Returns no row if the lease is lost.
     */
    fence: (executor: Executor, serials: readonly number[]) =>
      executor.executeQuery(CompiledQuery.raw(fence(serials)) as CompiledQuery<{ readonly serial: number }>),
    release: (executor: Executor, serials: readonly number[]) => release(executor, { ...lease, serials }),
    current: (executor: Executor) => current(executor, lease),
  };
}

function ownRow(db: Kysely<PostgresTables>, { scope, holder, epoch, serials }: Given<Held>) {
  return (
    db
      .updateTable('lease')
      .where('scope', '=', scope)
      .where('holder', '=', holder)
      .where('epoch', '=', epoch)
      // A statement that arrives after the release must not bring the lease back.
      .where('expires_ms', '>', sql.lit(0))
      .where('serial', '=', sql<number>`any(${serials}::bigint[])`)
  );
}

/** Stands for the serials. No text of PostgreSQL contains it, and so neither does a scope or a holder, which its table has. */
const SERIALS = '\0';

/**
 * Time to wait for the row of the lease, twice at most: in a queue, and for its holder. With the waits for the serial, which have the limit of
 * the transaction, the message ends before this process gives the connection up.
 */
const HOLD_LOCK_MS_MAX = 2_000;

function fenceText(
  db: Kysely<PostgresTables>,
  { scope, holder, epoch, leaseMs }: OwnLease,
): (serials: readonly number[]) => string {
  const serial = db.selectFrom('meta').where('k', '=', sql.lit('serial'));
  const raise = db
    .updateTable('meta')
    .set({ v: sql<string>`(v::bigint + 1)::text` })
    .where('k', '=', sql.lit('serial'));
  const hold = ownRow(db, {
    scope: sql.raw(literalOf(scope)),
    holder: sql.raw(literalOf(holder)),
    epoch: sql.lit(epoch),
    serials: sql.raw(`'{${SERIALS}}'`),
  })
    .set({
      // One that is missing is damage, as is one that is not a number.
      serial: sql<number>`coalesce(${serial.select('v')}, '')::bigint`,
      expires_ms: sql<number>`${databaseNow} + ${sql.lit(leaseMs)}::bigint`,
    })
    .returning('serial');
  const [start, end] = sql`${raise}; set local lock_timeout = ${sql.lit(HOLD_LOCK_MS_MAX)}; ${hold}`
    .compile(db)
    .sql.split(SERIALS);
  return (serials) => `${start}${serials.join()}${end}`;
}
