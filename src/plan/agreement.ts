import type { Snapshot } from '../model/owned.ts';
import { isSamePlan, planDifference, type PlanDifference } from './difference.ts';
import type { PlanDocument } from './document.ts';
import type { SavedPlan } from './saved.ts';

/** The one plan that a run may carry out; without either, any. */
export interface AgreedPlan {
  /** Digest of the agreed plan. */
  readonly expected?: string | undefined;
  readonly saved?: Pick<SavedPlan, 'plan' | 'commit' | 'basis'> | undefined;
}

/** Says whether a run may apply the plan that it has just made. */
export type Judgement =
  | { readonly type: 'go' }
  /** The plan is incomplete, or a guard refuses it as a whole, so it cannot be compared with the agreed plan. */
  | { readonly type: 'unknown' }
  /** Nothing is left to do: an earlier run, or another person, made the changes. */
  | { readonly type: 'nothing-left' }
  | { readonly type: 'refused'; readonly refusal: PlanRefusal };

/** Why a plan is not the one that was agreed to. Nothing is sent for any part of it. */
export type PlanRefusal =
  /** Another plan follows now. */
  | {
      readonly code: 'plan/stale';
      readonly expected: string;
      readonly now: string;
      readonly difference: PlanDifference;
    }
  /** Another revision of the source was applied since: this plan would go back behind it. */
  | { readonly code: 'plan/superseded'; readonly expected: string; readonly now: string; readonly applied: Snapshot }
  | { readonly code: 'plan/not-expected'; readonly expected: string; readonly now: string };

/**
 * Compares the plan of now with the one that was agreed to.
 * @param snapshot what the manifests of now say.
 * @param last what the ledger says of the source.
 */
export function judgePlan(
  now: PlanDocument,
  { expected, saved }: AgreedPlan,
  snapshot: string,
  last: Snapshot | undefined,
): Judgement {
  if (expected === undefined && saved === undefined) return { type: 'go' };
  if (now.unobserved.length > 0) return { type: 'unknown' };
  const agreed = expected ?? saved?.plan.digest ?? now.digest;
  if (agreed !== now.digest && isDone(now)) return { type: 'nothing-left' };
  if (saved !== undefined) {
    const difference = planDifference(saved.plan.scopes, now.scopes);
    const digests = { expected: saved.plan.digest, now: now.digest };
    if (!isSamePlan(difference)) return refused({ code: 'plan/stale', ...digests, difference });
    if (last !== undefined && !isOf(last, saved, snapshot))
      return refused({ code: 'plan/superseded', ...digests, applied: last });
  }
  if (agreed !== now.digest) return refused({ code: 'plan/not-expected', expected: agreed, now: now.digest });
  return { type: 'go' };
}

function refused(refusal: PlanRefusal): Judgement {
  return { type: 'refused', refusal };
}

/** Nothing to do, and nothing that keeps it from being done. */
function isDone({ summary, refusals }: PlanDocument): boolean {
  const { create, update, delete: removals, deferred, held } = summary;
  return create + update + removals + deferred + held + refusals.length === 0;
}

/** Accepted before the plan was made, or by carrying it out. */
function isOf(last: Snapshot, { commit, basis }: Pick<SavedPlan, 'commit' | 'basis'>, snapshot: string): boolean {
  if (basis !== null && last.id === basis.snapshot && last.commit === basis.commit) return true;
  return last.id === snapshot && last.commit === (commit?.id ?? '-');
}
