import type { ResourceId } from '../model/ids.ts';

/** Places for applications that are worked on, so that those that fail or hang never take the places of the others. */
export interface Slots {
  /** For the work queue: how many may run at once, as it stands now. */
  concurrency(): number;
  /**
   * Takes a place. false: it failed before, and all places for such are taken; it is kept, and named by `leave` later.
   * @param hasFailed its last attempt did not go well.
   */
  enter(id: ResourceId, hasFailed: boolean, because: readonly string[]): boolean;
  /** It has been running for long: it counts as one that fails from now on, and its place is free for another. */
  slow(id: ResourceId): void;
  /** @returns one that waits for the place, if any. */
  leave(id: ResourceId): { readonly id: ResourceId; readonly because: readonly string[] } | undefined;
  forget(id: ResourceId): void;
}

const TROUBLED_SHARE = 0.25;

/** @param limit applications worked on at once; those in trouble have a quarter as many places of their own. */
export function createSlots(limit: () => number): Slots {
  const running = new Set<ResourceId>();
  const troubled = new Set<ResourceId>();
  const waiting = new Map<ResourceId, readonly string[]>();
  const places = (): number => Math.max(1, Math.floor(limit() * TROUBLED_SHARE));
  return {
    // A slow one may be one too many for its places; it takes none from the others all the same, up to twice the limit.
    concurrency: () => limit() + Math.min(limit(), troubled.size),
    enter(id, hasFailed, because) {
      if (hasFailed && troubled.size >= places()) {
        waiting.set(id, because);
        return false;
      }
      waiting.delete(id);
      running.add(id);
      if (hasFailed) troubled.add(id);
      return true;
    },
    slow(id) {
      if (running.has(id)) troubled.add(id);
    },
    leave(id) {
      running.delete(id);
      if (!troubled.delete(id)) return undefined;
      const [next] = waiting;
      if (next === undefined) return undefined;
      waiting.delete(next[0]);
      return { id: next[0], because: next[1] };
    },
    forget: (id) => void waiting.delete(id),
  };
}
