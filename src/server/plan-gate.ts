import PQueue from 'p-queue';
import { following } from './following.ts';
import type { ServerLimits } from './limits.ts';
import * as refusals from './refusals.ts';

type Limits = Pick<ServerLimits, 'plans' | 'plansWaiting' | 'plansOfCaller' | 'plansWaitingOfCaller'>;

export type PlanGate = ReturnType<typeof createPlanGate>;

/**
 * Lets a few plans be made at once, has some wait for their turn, and refuses the others before their manifests are read. No caller
 * has all places: one token cannot keep the others from their plans.
 */
export function createPlanGate(limits: Limits) {
  const { plans, plansWaiting, plansOfCaller, plansWaitingOfCaller } = limits;
  /** Requests that have a place: of all, and by caller. */
  let entered = 0;
  const enteredOf = new Map<string, number>();
  /** A plan takes its turn among those of its caller, then among all. */
  const turns = new PQueue({ concurrency: plans });
  const turnsOf = new Map<string, PQueue>();
  const count = (caller: string, change: 1 | -1): void => {
    entered += change;
    enteredOf.set(caller, (enteredOf.get(caller) ?? 0) + change);
  };
  return {
    /**
     * Takes a place for a request, before its body is there.
     * @returns gives the place back.
     * @throws RequestProblem 503 when the caller, or all together, have as many as may be.
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
    /** Runs the work of a request that has a place when it is its turn. @throws the signal's reason when it is aborted before. */
    run: <Result>(caller: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> => {
      const own = turnsOf.get(caller) ?? new PQueue({ concurrency: plansOfCaller });
      turnsOf.set(caller, own);
      // The signal ends the waiting alone: a turn lasts until its work has ended, whoever has left meanwhile.
      const waiting = following(signal);
      const begin = (): Promise<Result> => {
        waiting.letGo();
        return work();
      };
      return own.add(() => turns.add(begin, waiting), waiting).finally(waiting.letGo);
    },
  };
}
