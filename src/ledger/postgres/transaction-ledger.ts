import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../runtime/clock.ts';
import { epochFence } from '../epoch-fence.ts';
import type { Standing } from '../migrations.ts';
import { commitQueries } from '../queries.ts';
import type { LedgerTables } from '../schema.ts';
import { SqlLedger } from '../sql-ledger.ts';
import type { PostgresTables } from './tables.ts';

/** Returns a ledger that is written in a transaction, which keeps other processes from it by its locks. */
export function ledgerIn(
  transaction: Transaction<PostgresTables>,
  location: string,
  { lineage, epoch }: Pick<Standing, 'lineage' | 'epoch'>,
  { clock }: { readonly clock: Clock },
): SqlLedger {
  const db = transaction as unknown as Kysely<LedgerTables>;
  return new SqlLedger({
    db,
    location,
    lineage,
    epoch,
    writable: true,
    clock,
    // No statement is repeated: an error ends the transaction.
    faultOf: () => 'unknown',
    explain: (error) => error,
    fence: epochFence({ queries: commitQueries(db), location, epoch }),
    transact: (work) => work(transaction as unknown as Transaction<LedgerTables>),
    shrink: () => {},
    committed: () => {},
    guard: undefined,
    facts: new Map(),
    release: async () => {},
  });
}
