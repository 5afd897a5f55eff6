import type { ResourceId } from '../model/ids.ts';

export type Slots = ReturnType<typeof createSlots>;

/** One that was kept, and why it is to be looked at. */
export interface Waiting {
  readonly id: ResourceId;
  readonly because: readonly string[];
}

const FAILING_SHARE = 0.1;

/**
 * Places for applications that are worked on, so that those that fail or hang never take the places of the others.
 * @param limit applications worked on at once; those that failed last have a tenth as many places of their own, and what
 * is slow takes no place from anybody, up to twice the limit in all.
 */
export function createSlots(limit: () => number) {
  const running = new Set<ResourceId>();
  const failing = new Set<ResourceId>();
  const slow = new Set<ResourceId>();
  const waiting = new Map<ResourceId, readonly string[]>();
  const places = (): number => Math.max(1, Math.floor(limit() * FAILING_SHARE));
  const takeWaiting = (): Waiting | undefined => {
    const [next] = waiting;
    if (next === undefined || failing.size >= places()) return undefined;
    const [id, because] = next;
    waiting.delete(id);
    return { id, because };
  };
  return {
    /** For the work queue: how many may run at once, as it stands now. */
    concurrency: (): number => limit() + Math.min(limit(), failing.size + slow.size),
    /**
     * Takes a place. false: it failed before, and all places for such are taken; it is kept, and named by `leave` later.
     * @param hasFailed its last attempt did not go well.
     */
    enter(id: ResourceId, hasFailed: boolean, because: readonly string[]): boolean {
      if (hasFailed && failing.size >= places()) {
        waiting.set(id, because);
        return false;
      }
      waiting.delete(id);
      running.add(id);
      if (hasFailed) failing.add(id);
      return true;
    },
    /**
     * It has been running for long: it takes no place from anybody from now on.
     * @returns one that waits for the place, if any.
     */
    slow(id: ResourceId): Waiting | undefined {
      if (!running.has(id)) return undefined;
      slow.add(id);
      return failing.delete(id) ? takeWaiting() : undefined;
    },
    /** @returns one that waits for the place, if any. */
    leave(id: ResourceId): Waiting | undefined {
      running.delete(id);
      const wasSlow = slow.delete(id);
      return failing.delete(id) || wasSlow ? takeWaiting() : undefined;
    },
    forget: (id: ResourceId): void => void waiting.delete(id),
  };
}
