import PQueue from 'p-queue';
import { linkedAbort } from './linked-abort.ts';
import type { ServerLimits } from './limits.ts';
import * as refusals from './refusals.ts';

type Limits = Pick<ServerLimits, 'plans' | 'plansWaiting' | 'plansOfCaller' | 'plansWaitingOfCaller'>;

export type PlanGate = ReturnType<typeof createPlanGate>;

/**
 * Limits plans: a few run at the same time, some wait, and others are refused before their manifests are read. One caller cannot
 * take all slots, so one token cannot block the others.
 */
export function createPlanGate(limits: Limits) {
  const { plans, plansWaiting, plansOfCaller, plansWaitingOfCaller } = limits;
  /** Slots in use, in total and by caller. */
  let entered = 0;
  const enteredOf = new Map<string, number>();
  /** A plan waits behind other plans of its caller, then behind all plans. */
  const turns = new PQueue({ concurrency: plans });
  const turnsOf = new Map<string, PQueue>();
  const count = (caller: string, change: 1 | -1): void => {
    entered += change;
    enteredOf.set(caller, (enteredOf.get(caller) ?? 0) + change);
  };
  return {
    /**
     * Takes a slot for a request, before its body arrives.
     * @returns a function that frees the slot.
     * @throws RequestProblem 503 when the caller, or all callers together, use all their slots.
     */
    enter: (caller: string): (() => void) => {
      if (entered >= plans + plansWaiting) throw refusals.busy(plans, plansWaiting);
      const mostOfCaller = plansOfCaller + plansWaitingOfCaller;
      if ((enteredOf.get(caller) ?? 0) >= mostOfCaller) throw refusals.busyForCaller(mostOfCaller);
      count(caller, 1);
      let isGiven = false;
      return () => {
        if (!isGiven) count(caller, -1);
        isGiven = true;
      };
    },
    /** Runs the work of a request that has a slot when its turn comes. @throws the signal's reason when aborted before that. */
    run: <Result>(caller: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> => {
      const own = turnsOf.get(caller) ?? new PQueue({ concurrency: plansOfCaller });
      turnsOf.set(caller, own);
      // The signal ends only the wait: a turn lasts until its work has ended, even if the client has gone.
      const waiting = linkedAbort(signal);
      const begin = (): Promise<Result> => {
        waiting.unlink();
        return work();
      };
      return own.add(() => turns.add(begin, waiting), waiting).finally(waiting.unlink);
    },
  };
}
