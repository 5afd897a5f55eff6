import { type Kysely, sql, type Transaction } from 'kysely';
import type { Clock } from '../../runtime/clock.ts';
import { newer, retiredLedger } from '../errors.ts';
import { type LeaseHolder, readHolder, wordOf } from '../lease-holder.ts';
import { retired, retirementOf } from '../retirement.ts';
import type { Renewals } from './renewals.ts';
import { databaseNow, type PostgresTables, WHOLE_LEDGER } from './tables.ts';

export interface LeaseParts {
  readonly db: Kysely<PostgresTables>;
  readonly renewals: Renewals;
  readonly location: string;
  readonly clock: Clock;
  /** Text of `lease-holder.ts`. */
  readonly holder: string;
  readonly actor: string;
  readonly leaseMs: number;
  /** The part of the ledger that it covers: `WHOLE_LEDGER`, or a platform (`platformLease`). */
  readonly scope: string;
  /** The newest schema that this process knows. */
  readonly known: number;
}

class NotExpired extends Error {}

/** A row of a lease that this process has taken. */
export interface Taken {
  readonly epoch: number;
  /** Serial of the last transaction of the former holder; 0: there was none. */
  readonly serial: number;
}

/** @returns undefined if another process was faster. */
export async function takeOver({
  db,
  location,
  holder,
  actor,
  leaseMs,
  scope,
  known,
}: LeaseParts): Promise<Taken | undefined> {
  try {
    return await db.transaction().execute(async (transaction) => {
      // All takeovers of a ledger wait for this row, so that none of them misses the lease of another.
      const raised = await transaction
        .updateTable('meta')
        .set({ v: sql<string>`(v::bigint + 1)::text` })
        .where('k', '=', 'epoch')
        .returning((row) => [
          'v',
          row.selectFrom('meta as other').select('other.v').where('other.k', '=', 'schema').as('schema'),
        ])
        .executeTakeFirstOrThrow();
      const epoch = Number(raised.v);
      if (Number(raised.schema) > known) throw newer(location, Number(raised.schema), known);
      await endRivals(transaction, scope, readHolder(holder));
      const row = {
        holder,
        actor,
        epoch,
        since_ms: databaseNow,
        expires_ms: sql<number>`${databaseNow} + ${leaseMs}::bigint`,
      };
      // Waits for a transaction of the former holder, which holds the row until it ends.
      const taken = await transaction
        .insertInto('lease')
        .values({ scope, ...row, serial: 0 })
        .onConflict((on) => on.column('scope').doUpdateSet(row).where('lease.expires_ms', '<=', databaseNow))
        // This statement sees what happened while the first one waited, such as a copy of the ledger.
        .returning((row) => [
          'lease.serial',
          row.selectFrom('meta').select('meta.v').where('meta.k', '=', retired).as('retirement'),
        ])
        .executeTakeFirst();
      if (taken === undefined) throw new NotExpired();
      if (taken.retirement !== null) throw retiredLedger(location, retirementOf(taken.retirement));
      return { epoch, serial: taken.serial };
    });
  } catch (error) {
    if (error instanceof NotExpired) return undefined;
    throw error;
  }
}

/**
 * Ends the leases that a lease excludes: of the whole ledger, or of units, and those of controllers of another source. One that has
 * expired stays valid until then. It is decided by one reading of the clock under the locks of their rows: a lease that expired between
 * two readings would be neither a rival nor ended.
 * @throws NotExpired if a process has one of them.
 */
async function endRivals(
  transaction: Transaction<PostgresTables>,
  scope: string,
  { source }: LeaseHolder,
): Promise<void> {
  const rivals = await transaction
    .selectFrom('lease')
    .select(['scope', sql<number>`expires_ms - ${databaseNow}`.as('left_ms')])
    .where((row) =>
      row.or([
        row('scope', scope === WHOLE_LEDGER ? '<>' : '=', WHOLE_LEDGER),
        ...(source === undefined ? [] : [sql<boolean>`split_part(holder, ' ', 3) not in ('', ${wordOf(source)})`]),
      ]),
    )
    .where('scope', '<>', scope)
    .where('holder', '<>', '')
    .forUpdate()
    .execute();
  if (rivals.some(({ left_ms: leftMs }) => leftMs > 0)) throw new NotExpired();
  if (rivals.length === 0) return;
  const scopes = rivals.map((rival) => rival.scope);
  await transaction.updateTable('lease').set({ holder: '' }).where('scope', 'in', scopes).execute();
}
