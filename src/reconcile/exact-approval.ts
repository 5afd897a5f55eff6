import type { Action, ScopePlan } from '../model/plan.ts';
import { isSameAction } from '../plan/difference.ts';
import { approvalOf } from './reconcile.ts';

/**
 * As `approvalOf`, for a plan that was agreed to as a whole: an action that a later look finds with another value before,
 * or with another id, is not the one that was agreed to.
 */
export function exactApprovalOf(plan: ScopePlan): (action: Action) => boolean {
  const named = approvalOf(plan);
  const actions = new Map(plan.actions.map((action) => [action.id, action]));
  return (action) => {
    const agreed = actions.get(action.id);
    return named(action) && (agreed === undefined || isSameAction(agreed, action));
  };
}
