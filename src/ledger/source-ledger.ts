import type { Clock } from '../runtime/clock.ts';
import type { Ledger, LedgerOperation } from './ledger.ts';

/** The ledger as one source of manifests uses it. */
export interface SourceLedger {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Name of the source. */
  readonly source: string;
  /** Who acts, for the history. */
  readonly actor: string;
}

/** Records operations of the source in one transaction. @param scope what they concern; default: the source as a whole. */
export async function recordOfSource(
  { ledger, clock, source, actor }: SourceLedger,
  operations: readonly LedgerOperation[],
  scope = `source:${source}`,
): Promise<void> {
  await ledger.commit({ scope, actor, atMs: clock.now(), operations });
}
