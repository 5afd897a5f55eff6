import type { ResourceId } from '../model/ids.ts';

export type Slots = ReturnType<typeof createSlots>;

/** An application that waits for a slot, with the reasons for its pass. */
export interface Waiting {
  readonly id: ResourceId;
  readonly because: readonly string[];
}

const FAILING_SHARE = 0.1;

/**
 * Slots for applications, so that those that fail or hang do not use the slots of others.
 * @param limit passes at once. Applications that failed last have a tenth as many slots of their own. Slow passes use
 * none of these, up to twice the limit in all.
 */
export function createSlots(limit: () => number) {
  const running = new Set<ResourceId>();
  const failing = new Set<ResourceId>();
  const slow = new Set<ResourceId>();
  const waiting = new Map<ResourceId, readonly string[]>();
  const failingSlots = (): number => Math.max(1, Math.floor(limit() * FAILING_SHARE));
  const nextWaiting = (): Waiting | undefined => {
    const [next] = waiting;
    if (next === undefined || failing.size >= failingSlots()) return undefined;
    const [id, because] = next;
    waiting.delete(id);
    return { id, because };
  };
  return {
    /** Returns how many passes may run at once at present. Used by the work queue. */
    concurrency: (): number => limit() + Math.min(limit(), failing.size + slow.size),
    /**
     * Takes a slot. Returns false if the application failed before and all slots for such are taken; `leave` names it
     * later.
     * @param hasFailed its last attempt failed.
     */
    enter(id: ResourceId, hasFailed: boolean, because: readonly string[]): boolean {
      if (hasFailed && failing.size >= failingSlots()) {
        waiting.set(id, because);
        return false;
      }
      waiting.delete(id);
      running.add(id);
      if (hasFailed) failing.add(id);
      return true;
    },
    /**
     * Frees the slot of a pass that takes long.
     * @returns an application that waits for the slot, if any.
     */
    slow(id: ResourceId): Waiting | undefined {
      if (!running.has(id)) return undefined;
      slow.add(id);
      return failing.delete(id) ? nextWaiting() : undefined;
    },
    /** @returns an application that waits for the slot, if any. */
    leave(id: ResourceId): Waiting | undefined {
      running.delete(id);
      const wasSlow = slow.delete(id);
      return failing.delete(id) || wasSlow ? nextWaiting() : undefined;
    },
    forget: (id: ResourceId): void => void waiting.delete(id),
  };
}
