import { type Counted, type GuardLimits, guardToll, tollOf } from '../plan/guard.ts';

export type Account = ReturnType<typeof createAccount>;

/** Spent part of a snapshot's allowance. Stored as JSON. */
export type AccountState = {
  readonly snapshot: string;
  /** Objects in the ledger when the snapshot was accepted. Shares are shares of this number. */
  readonly owned: number;
  readonly changed: number;
  readonly removed: number;
};

/**
 * Creates the allowance of one accepted snapshot: what it may change and remove over all applications together. A
 * command sees all plans of a run at once. The daemon sees them one by one, so it counts what it permitted before.
 * @param spent what an earlier process spent for the same snapshot.
 */
export function createAccount(spent: AccountState) {
  // Objects that this process has counted, so that a retry does not count them twice.
  const changed = new Set<string>();
  const removed = new Set<string>();
  return {
    /** State for the ledger. */
    get state(): AccountState {
      return { ...spent, changed: spent.changed + changed.size, removed: spent.removed + removed.size };
    },
    /**
     * Counts the actions against the allowance, if they fit, until `confirm`.
     * @returns refusals if the actions do not fit; then none of them may be sent.
     */
    reserve(plan: Counted, limits: GuardLimits) {
      const toll = tollOf([plan]);
      const news = { changed: fresh(toll.changed, changed), removed: fresh(toll.removed, removed) };
      const { owned, ...before } = this.state;
      const refusals = guardToll(
        { ...toll, ...news },
        { of: 'this revision of the source', owned, spent: before },
        limits,
      );
      if (refusals.length > 0) return refusals;
      for (const key of news.changed) changed.add(key);
      for (const key of news.removed) removed.add(key);
      return {
        /** Counts only what was sent, and frees the rest. */
        confirm(sent: ReadonlySet<string>): void {
          const kept = tollOf([{ ...plan, actions: plan.actions.filter((action) => sent.has(action.id)) }]);
          for (const key of news.changed) if (!kept.changed.has(key)) changed.delete(key);
          for (const key of news.removed) if (!kept.removed.has(key)) removed.delete(key);
        },
      };
    },
  };
}

function fresh(keys: ReadonlySet<string>, known: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...keys].filter((key) => !known.has(key)));
}
