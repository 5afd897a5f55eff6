import { fenced } from './errors.ts';
import type { CommitQueries } from './queries.ts';
import type { SqlLedgerParts } from './sql-ledger.ts';

interface FencedEpoch {
  readonly queries: CommitQueries;
  readonly location: string;
  readonly epoch: number;
}

/** Compares the epoch of the ledger with the epoch of this process: each process that opens the ledger raises it. */
export function epochFence({ queries, location, epoch }: FencedEpoch): SqlLedgerParts['fence'] {
  return async (executor) => {
    const { rows } = await queries.standing(executor, {});
    const standing = new Map(rows.map(({ k, v }) => [k, Number(v)]));
    const current = standing.get('epoch') ?? 0;
    if (current !== epoch) throw fenced(location, epoch, current);
    const serial = (standing.get('serial') ?? 0) + 1;
    await queries.setMeta(executor, { k: 'serial', v: String(serial) });
    return serial;
  };
}
