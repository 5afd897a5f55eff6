import { FAILURES_MAX } from '../plan/doubts.ts';
import type { ActionResult } from '../plan/result.ts';
import { failed } from './apply/journal.ts';
import type { Action, ScopePlan } from '../model/plan.ts';

/**
 * Returns the actions that may be sent now. An action is left out if it is not approved, was refused, or depends on such
 * an action; so is a temporary change that only such an action needs. In a plan, each action follows those it depends on.
 */
export function runnable(
  plan: ScopePlan,
  approved: (action: Action) => boolean,
  results: ReadonlyMap<string, ActionResult>,
): readonly Action[] {
  const barred = new Set<string>();
  for (let before = -1; before < barred.size; ) {
    before = barred.size;
    for (const action of plan.actions) {
      const may =
        approved(action) &&
        mayRun(action, results.get(action.id), plan) &&
        !action.after.some((id) => barred.has(id)) &&
        !isInVain(action, plan, barred);
      if (!may) barred.add(action.id);
    }
  }
  return plan.actions.filter((action) => !barred.has(action.id));
}

function isInVain({ id, object, obligation }: Action, plan: ScopePlan, barred: ReadonlySet<string>): boolean {
  if (obligation === undefined) return false;
  return plan.actions.some((other) => other.object === object && other.after.includes(id) && barred.has(other.id));
}

/** A creation that was accepted and is not to be seen is never sent twice in one pass. */
function mayRun(action: Action, former: ActionResult | undefined, plan: ScopePlan): boolean {
  if (former === undefined || former.status === 'skipped') return true;
  // If a later action completes this one, it is not sent again: only the completion remains.
  if (plan.actions.some(({ continues }) => continues === action.id)) return false;
  return isNotTaken(former) && action.verb === 'update';
}

function isNotTaken(result: ActionResult): boolean {
  return result.status === 'done' || (result.status === 'failed' && result.reason.type === 'not-taken');
}

/** An answer alone proves no effect: the platform shows what it showed before. */
export function notTaken({ action, answer }: Extract<ActionResult, { status: 'done' }>): ActionResult {
  const seen = { ...answer, message: 'the platform accepted it, and shows no change' };
  const remedy = `See in the console why. It is tried ${FAILURES_MAX} times in a row at most.`;
  return failed(action, action.summary, { type: 'not-taken' }, seen, remedy);
}
