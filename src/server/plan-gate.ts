import type { ServerLimits } from './limits.ts';
import * as refusals from './refusals.ts';

/**
 * Lets a few plans be made at once, has some wait for their turn, and refuses the others before their manifests are read. No caller
 * has all places: one token cannot keep the others from their plans.
 */
export interface PlanGate {
  /**
   * Takes a place for a request, before its body is there.
   * @returns gives the place back.
   * @throws RequestProblem 503 when the caller, or all together, have as many as may be.
   */
  enter(caller: string): () => void;
  /** Runs the work of a request that has a place when it is its turn. @throws the signal's reason when it is aborted before. */
  run<Result>(caller: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
}

interface Waiter {
  readonly caller: string;
  begin(): void;
}

type Limits = Pick<ServerLimits, 'plans' | 'plansWaiting' | 'plansOfCaller' | 'plansWaitingOfCaller'>;

export function createPlanGate(limits: Limits): PlanGate {
  const { plans, plansWaiting, plansOfCaller, plansWaitingOfCaller } = limits;
  /** Requests that have a place, and plans that are made: of all, and by caller. */
  const entered = new Tally();
  const running = new Tally();
  const waiting = new Set<Waiter>();

  const mayRun = (caller: string): boolean => running.all < plans && running.of(caller) < plansOfCaller;
  const beginNext = (): void => {
    for (const waiter of waiting) {
      if (!mayRun(waiter.caller)) continue;
      waiting.delete(waiter);
      running.add(waiter.caller, 1);
      waiter.begin();
    }
  };
  const turnOf = (caller: string, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(waiter);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        caller,
        begin: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.add(waiter);
      beginNext();
    });

  return {
    enter: (caller) => {
      if (entered.all >= plans + plansWaiting) throw refusals.busy(plans, plansWaiting);
      if (entered.of(caller) >= plansOfCaller + plansWaitingOfCaller)
        throw refusals.busyForCaller(plansOfCaller, plansWaitingOfCaller);
      entered.add(caller, 1);
      let isGiven = false;
      return () => {
        if (!isGiven) entered.add(caller, -1);
        isGiven = true;
      };
    },
    run: async (caller, signal, work) => {
      signal.throwIfAborted();
      await turnOf(caller, signal);
      try {
        return await work();
      } finally {
        running.add(caller, -1);
        beginNext();
      }
    },
  };
}

/** How many there are of each caller. */
class Tally {
  readonly #counts = new Map<string, number>();
  all = 0;

  of(caller: string): number {
    return this.#counts.get(caller) ?? 0;
  }

  add(caller: string, count: 1 | -1): void {
    this.all += count;
    const next = this.of(caller) + count;
    if (next === 0) this.#counts.delete(caller);
    else this.#counts.set(caller, next);
  }
}
