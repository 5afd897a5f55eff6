import type { ActionResult } from '../plan/result.ts';
import type { PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { Action, ScopePlan, Wait } from '../model/plan.ts';
import type { Refusal } from '../plan/guard.ts';
import type { Prepared } from './work.ts';

/** The result of one scope after a pass. */
export type Outcome =
  /** The scope could not be resolved or observed: nothing is known and nothing was sent. */
  | { readonly type: 'unobserved'; readonly application: ResourceId; readonly error: PortolanError }
  /** A guard refused the plan: nothing was sent. */
  | {
      readonly type: 'refused';
      readonly application: ResourceId;
      readonly plan: ScopePlan;
      readonly refusals: readonly Refusal[];
    }
  | {
      readonly type: 'ended';
      readonly application: ResourceId;
      /** The remaining plan, from the last observation. */
      readonly plan: ScopePlan;
      readonly results: readonly ActionResult[];
      readonly waits: readonly Wait[];
      readonly rounds: number;
      /** The ledger could not be written, or the platform not be read, in the middle. */
      readonly error?: PortolanError;
    };

/** Returns the outcome of a pass that sends nothing. */
export function untouched(prepared: Prepared): Outcome {
  const { work, plan, waits, refusals } = prepared;
  if (refusals.length > 0) return refusedBy(refusals, prepared);
  return { type: 'ended', application: work.application.id, plan, results: [], waits, rounds: 0 };
}

export function refusedBy(refusals: readonly Refusal[], { work, plan }: Prepared): Outcome {
  return { type: 'refused', application: work.application.id, plan, refusals };
}

/** Actions that were done, or may have been. */
export function sentOf(outcome: Outcome): readonly Action[] {
  const results = outcome.type === 'ended' ? outcome.results : [];
  return results.filter(({ status }) => status === 'done' || status === 'in-doubt').map(({ action }) => action);
}
