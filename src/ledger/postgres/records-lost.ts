import { type Kysely, sql, type Transaction } from 'kysely';
import type { Clock } from '../../runtime/clock.ts';
import { awaitConfirmations } from '../confirmation.ts';
import { type Standing, standingIn } from '../migrations.ts';
import { whileBusy } from '../patience.ts';
import { postgresFault } from './faults.ts';
import type { PostgresTables } from './tables.ts';
import { ledgerIn } from './transaction-ledger.ts';

/** The database lacks what this process has recorded: it was restored, or a standby without the last transactions took its place. */
export class RecordsLost extends Error {
  /** Whether the database has forgotten the lease too. */
  readonly isLeaseLost: boolean;

  constructor(what: string, isLeaseLost: boolean) {
    super(what);
    this.isLeaseLost = isLeaseLost;
  }
}

export interface LossParts {
  readonly db: Kysely<PostgresTables>;
  readonly location: string;
  readonly clock: Clock;
  readonly actor: string;
}

/**
 * Makes the installs of every application wait until a person has confirmed it, whichever process continues, and records why. One
 * transaction, repeated for about 5 s while the database is busy or out of reach; a repetition changes nothing but the epoch.
 * @param lacks decides by what the primary server has whether records are lost: a standby may only be late.
 * @throws the error of the database, if nothing was recorded.
 */
export async function recordLoss(
  { db, location, clock, actor }: LossParts,
  what: string,
  lacks: (standing: Standing, transaction: Transaction<PostgresTables>) => Promise<boolean> = async () => true,
): Promise<void> {
  const attempt = () =>
    db.transaction().execute(async (transaction) => {
      // Takeovers wait for this row. No confirmation that the database still has is of the new epoch.
      await transaction
        .updateTable('meta')
        .set({ v: sql<string>`(v::bigint + 1)::text` })
        .where('k', '=', 'epoch')
        .execute();
      // Transactions of other leaders wait for this one. Whatever else locks both rows locks them in this order, too.
      await transaction.updateTable('meta').set({ v: sql`v` }).where('k', '=', 'serial').execute();
      const standing = standingIn(await transaction.selectFrom('meta').select(['k', 'v']).execute());
      if (standing === undefined || !(await lacks(standing, transaction))) return;
      const { epoch } = standing;
      const record = { op: 'record', event: 'ledger.restored', detail: { lost: what, epoch } } as const;
      await ledgerIn(transaction, location, standing, { clock }).commit({
        scope: '-',
        actor,
        atMs: clock.now(),
        operations: [record, awaitConfirmations(epoch)],
      });
    });
  await whileBusy(attempt, postgresFault, clock);
}
