import { type ScopeKey } from '../model/ids.ts';
import type { Action } from '../model/plan.ts';
import type { GuardLimits, Refusal } from '../plan/guard.ts';
import { SHARE_FROM_OBJECTS } from '../plan/guard.ts';

/**
 * What one accepted snapshot may change and remove over all applications together. A run of a command sees all plans at
 * once; the daemon sees them one by one, so what was let through before counts.
 */
export interface Account {
  /**
   * Whether these actions fit, and then their places are taken, until `settle`.
   * @returns refusals: none of them may be sent.
   */
  reserve(scope: ScopeKey, actions: readonly Action[], limits: GuardLimits): Reservation | readonly Refusal[];
  /** For the ledger. */
  readonly state: AccountState;
}

export interface Reservation {
  /** Keeps the places of what was sent; those of the rest are free again. */
  settle(sent: ReadonlySet<string>): void;
}

/** JSON: how much of a snapshot's allowance is spent. */
export type AccountState = {
  readonly snapshot: string;
  /** Objects on record when the snapshot was accepted: what a share is a share of. */
  readonly owned: number;
  readonly changed: number;
  readonly removed: number;
};

/** @param spent of an earlier process with the same snapshot. */
export function createAccount(spent: AccountState): Account {
  // Objects that this process knows of, so that a second attempt at one is not counted twice.
  const changed = new Set<string>();
  const removed = new Set<string>();
  const count = (): AccountState => ({
    ...spent,
    changed: spent.changed + changed.size,
    removed: spent.removed + removed.size,
  });
  return {
    get state() {
      return count();
    },
    reserve(scope, actions, limits) {
      const newChanges = fresh(scope, actions.filter(countsAsChange), changed);
      const newRemovals = fresh(
        scope,
        actions.filter((action) => action.prune),
        removed,
      );
      const refusals = refusalsOf(count(), newChanges.size, newRemovals.size, limits);
      if (refusals.length > 0) return refusals;
      for (const key of newChanges) changed.add(key);
      for (const key of newRemovals) removed.add(key);
      return {
        settle(sent) {
          const kept = new Set(
            actions.filter((action) => sent.has(action.id)).flatMap((action) => keysOf(scope, action)),
          );
          for (const key of newChanges) if (!kept.has(key)) changed.delete(key);
          for (const key of newRemovals) if (!kept.has(key)) removed.delete(key);
        },
      };
    },
  };
}

/** What heals drift is not what the snapshot asks for: over months it would use up any allowance. */
function countsAsChange({ verb, cause }: Action): boolean {
  return verb !== 'create' && cause !== 'drift' && cause !== 'obligation';
}

function keysOf(scope: ScopeKey, { object, takesAlong = [] }: Action): string[] {
  return [object, ...takesAlong].map((key) => `${scope} ${key}`);
}

function fresh(scope: ScopeKey, actions: readonly Action[], known: ReadonlySet<string>): Set<string> {
  return new Set(actions.flatMap((action) => keysOf(scope, action)).filter((key) => !known.has(key)));
}

function refusalsOf(spent: AccountState, changes: number, removals: number, limits: GuardLimits): Refusal[] {
  const refusals: Refusal[] = [];
  const changed = spent.changed + changes;
  const removed = spent.removed + removals;
  const share = Math.min(1, changed / spent.owned);
  if (changes > 0 && spent.owned >= SHARE_FROM_OBJECTS && share > limits.maxShare) {
    refusals.push({
      code: 'guard/share',
      message: `with this plan, one revision of the source would have changed or removed ${changed} objects over all applications, with ${spent.owned} on record (${percent(share)}), more than the limit of ${percent(limits.maxShare)}; nothing of the plan was sent`,
      override: `approve this plan, or raise spec.prune.maxShare of Settings to ${Math.ceil(share * 100) / 100}`,
    });
  }
  if (removals > 0 && removed > limits.maxPrunes) {
    refusals.push({
      code: 'guard/prunes',
      message: `with this plan, one revision of the source would have removed or closed ${removed} objects over all applications, more than the limit of ${limits.maxPrunes}; nothing of the plan was sent`,
      override: `approve this plan, or raise spec.prune.maxObjects of Settings to ${removed}`,
    });
  }
  return refusals;
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
