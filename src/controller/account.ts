import { type Counted, type GuardLimits, guardToll, tollOf } from '../plan/guard.ts';

export type Account = ReturnType<typeof createAccount>;

/** JSON: how much of a snapshot's allowance is spent. */
export type AccountState = {
  readonly snapshot: string;
  /** Objects on record when the snapshot was accepted: what a share is a share of. */
  readonly owned: number;
  readonly changed: number;
  readonly removed: number;
};

/**
 * What one accepted snapshot may change and remove over all applications together. A run of a command sees all plans at
 * once; the daemon sees them one by one, so what was let through before counts.
 * @param spent of an earlier process with the same snapshot.
 */
export function createAccount(spent: AccountState) {
  // Objects that this process knows of, so that a second attempt at one is not counted twice.
  const changed = new Set<string>();
  const removed = new Set<string>();
  return {
    /** For the ledger. */
    get state(): AccountState {
      return { ...spent, changed: spent.changed + changed.size, removed: spent.removed + removed.size };
    },
    /**
     * Whether these actions fit, and then their places are taken, until `settle`.
     * @returns refusals: none of them may be sent.
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
        /** Keeps the places of what was sent; those of the rest are free again. */
        settle(sent: ReadonlySet<string>): void {
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
