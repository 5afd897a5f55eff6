import type { Ledger, LedgerOperation } from './ledger.ts';
import type { ScopeKey } from '../model/ids.ts';

/**
 * After a restore the platform may hold installs that the ledger forgot. So a restored ledger remembers the epoch it was
 * restored at, and every scope waits with installs until a person has confirmed it at that epoch or later.
 */
export const restoredFact = 'ledger/restored';
const confirmedFact = (scope: ScopeKey) => `ledger/confirmed/${scope}`;

/** To be committed by the restore itself. */
export function markRestored(epoch: number): LedgerOperation {
  return { op: 'set-fact', key: restoredFact, value: String(epoch) };
}

/** To be committed, with a `record` of who said so, when a person confirms that a scope's installs are as the ledger has them. */
export function confirmScope(scope: ScopeKey, epoch: number): LedgerOperation {
  return { op: 'set-fact', key: confirmedFact(scope), value: String(epoch) };
}

/** Whether installs and upgrades in the scope must wait for `portolan ledger confirm SCOPE`. */
export async function awaitsConfirmation(ledger: Ledger, scope: ScopeKey): Promise<boolean> {
  const restored = await ledger.fact(restoredFact);
  if (restored === undefined) return false;
  return Number((await ledger.fact(confirmedFact(scope))) ?? 0) < Number(restored);
}
