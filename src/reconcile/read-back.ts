import type { Applied } from './apply/apply-plan.ts';
import type { ApplyWorld } from './apply/world.ts';
import type { Action, ScopePlan } from '../model/plan.ts';
import type { ActionResult } from '../plan/result.ts';
import { reobserve } from './observation.ts';
import { judged, type PassPolicy } from './policy.ts';
import { notTaken } from './runnable.ts';
import type { PassOptions, Prepared } from './work.ts';
import { transaction } from './apply/journal.ts';
import { ledgerRecordOf } from '../kinds/reconciled.ts';
import { kindName } from '../model/ids.ts';
import { withFailure } from '../plan/doubts.ts';

/**
 * Reads back what was touched, and counts what was accepted and did not take.
 * @returns `untaken`: what the platform accepted and does not show, so that it is not done.
 */
export async function readBack(
  current: Prepared,
  world: ApplyWorld,
  options: PassOptions,
  policy: PassPolicy,
  applied: Applied,
): Promise<{ readonly prepared: Prepared; readonly untaken: readonly ActionResult[] }> {
  // With a write still in the air, or a platform that refuses us, reading proves nothing and costs a request.
  if (applied.stopped !== undefined) {
    const prepared = { ...current, plan: remainder(current.plan, applied.results), waits: [] };
    return { prepared, untaken: [] };
  }
  const next = await judged(await reobserve(current, world, options, applied.touched), world, policy);
  // One without a change of its own took, and comes once more only because a step before it undoes it for a moment.
  const untaken = new Set(next.plan.actions.flatMap(({ id, changes }) => (changes.length > 0 ? [id] : [])));
  const repeated = applied.results.flatMap((result) =>
    result.status === 'done' && untaken.has(result.action.id) ? [notTaken(result)] : [],
  );
  // Not sent, because what it rests on was accepted and not done: that counts as well, and has been reported.
  const based = applied.results.filter((result) => result.status === 'failed' && result.reason.type === 'not-taken');
  if (repeated.length + based.length === 0) return { prepared: next, untaken: [] };
  for (const { action } of [...repeated, ...based]) {
    // Done, it may have given its object another natural key.
    const current = next.plan.actions.find(({ id }) => id === action.id) ?? action;
    await countFailure(world, next, current);
  }
  const prepared = await judged(await reobserve(next, world, options, new Set()), world, policy);
  return { prepared, untaken: repeated };
}

function remainder(plan: ScopePlan, results: readonly ActionResult[]): ScopePlan {
  const done = new Set(results.flatMap((result) => (result.status === 'done' ? [result.action.id] : [])));
  return { ...plan, actions: plan.actions.filter((action) => !done.has(action.id)) };
}

/** Counts that a change was accepted and did not take, so that it is not sent for ever. */
async function countFailure(world: ApplyWorld, { work, scope, ledgerView }: Prepared, action: Action): Promise<void> {
  const object = ledgerRecordOf(ledgerView, kindName(action.resource), action.object);
  if (object === undefined) return;
  const failed = withFailure(object, work.resources.get(action.resource));
  await world.ledger.commit(
    transaction(world, scope, [
      { op: 'put-object', object: failed },
      {
        op: 'record',
        event: 'not-taken',
        uid: object.uid,
        detail: { action: action.id, summary: action.summary, failures: failed.failures },
      },
    ]),
  );
}
