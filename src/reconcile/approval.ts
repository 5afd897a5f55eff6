import type { Action, ScopePlan } from '../model/plan.ts';
import { isSameAction } from '../plan/difference.ts';

/** What a person who saw this plan agreed to: its actions, and what its deferred ones become. */
export function approvalOf(plan: ScopePlan): (action: Action) => boolean {
  const actions = new Set(plan.actions.map((action) => action.id));
  const deferred = new Set(plan.deferred.map((entry) => entry.resource));
  return (action) => actions.has(action.id) || (deferred.has(action.resource) && !action.prune);
}

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
