import { driftOf } from '../controller/drift.ts';
import type { ResourceId } from '../model/ids.ts';
import type { FieldChange, ScopePlan } from '../model/plan.ts';
import type { ShownLine } from '../model/shown.ts';
import type { PolicyResult } from '../policies/spec.ts';
import type { Prepared } from '../reconcile/reconcile.ts';
import { type ApplicationView, matter, type ResourceView, type ViewState } from './model.ts';

/** Returns the view of an application that this process observed and planned. */
export function observedView(prepared: Prepared, lines: readonly ShownLine[] = []): ApplicationView {
  const { work, scope, plan, waits, denied } = prepared;
  const drift = driftOf(plan);
  return {
    id: work.application.id,
    scope: `${scope.team}/${scope.region}/${scope.appId}`,
    state: denied.length > 0 ? 'held' : stateOfPlan(plan, waits.length, drift.size > 0),
    reason: (denied[0] && denialText(denied[0])) ?? waits[0]?.message ?? '',
    resources: [...work.resources.keys()].map((id) => resourceView(id, prepared, drift.get(id))),
    lines,
  };
}

/** Returns the view of an application that could not be read. */
export function unreadView(id: string, reason: string): ApplicationView {
  return { id, scope: '', state: 'unknown', reason, resources: [], lines: [] };
}

function resourceView(
  id: ResourceId,
  { plan, waits, denied }: Prepared,
  drift: readonly FieldChange[] | undefined,
): ResourceView {
  const holds = plan.holds.filter((one) => one.resource === id);
  const notes = plan.notes.filter((one) => one.resource === id);
  const denial = denied.find((one) => one.resource === id);
  return {
    id,
    ...(denial === undefined
      ? standing(id, plan, waits, drift !== undefined)
      : { state: 'held', reason: denialText(denial) }),
    matters: [
      ...holds.map(({ changes, message }) => matter('held', changes, message)),
      ...notes.map(({ changes }) => matter('reported', changes)),
      matter('drifted', drift),
    ],
    actions: plan.actions.filter((one) => one.resource === id),
  };
}

function denialText({ policy, message }: PolicyResult): string {
  return `policy "${policy}": ${message}`;
}

function stateOfPlan(plan: ScopePlan, waits: number, hasDrift: boolean): ViewState {
  if (plan.holds.length > 0) return 'held';
  if (plan.actions.length > 0) return hasDrift ? 'drifted' : 'to-change';
  if (plan.deferred.length + waits > 0) return 'waiting';
  const aside = plan.notes.find(({ code }) => code.startsWith('reconcile/'));
  return aside === undefined ? 'in-sync' : asideState(aside.code);
}

function asideState(code: string): ViewState {
  return code === 'reconcile/suspended' ? 'suspended' : 'reported';
}

/** Returns the state of one resource according to the plan of its application. */
function standing(
  id: ResourceId,
  plan: ScopePlan,
  waits: Prepared['waits'],
  hasDrift: boolean,
): Pick<ResourceView, 'state' | 'reason'> {
  const isOf = (one: { readonly resource?: ResourceId }): boolean => one.resource === id;
  const holds = plan.holds.filter(isOf);
  const [hold] = holds;
  if (hold !== undefined) {
    const isNotOurs = holds.some(({ code }) => code.endsWith('/not-ours'));
    return { state: isNotOurs ? 'not-ours' : 'held', reason: `${hold.code}: ${hold.message}` };
  }
  const actions = plan.actions.filter((one) => isOf(one) && one.continues === undefined);
  if (actions.length > 0) {
    const causes = [...new Set(actions.map(({ cause }) => cause))].join(', ');
    const state = hasDrift || causes.includes('drift') ? 'drifted' : 'to-change';
    return { state, reason: `${causes}: ${actions.map(({ summary }) => summary).join('; ')}` };
  }
  const wait = waits.find(isOf)?.message ?? plan.deferred.find(isOf)?.waitsFor;
  if (wait !== undefined) return { state: 'waiting', reason: waits.some(isOf) ? wait : `waits for ${wait}` };
  const note = plan.notes.find((one) => isOf(one) && one.code.startsWith('reconcile/'));
  if (note !== undefined) return { state: asideState(note.code), reason: note.message };
  if (!plan.inSync.includes(id)) return { state: 'unknown', reason: 'not compared' };
  const building = plan.notes.find((one) => isOf(one) && one.code === 'install/building');
  return { state: 'in-sync', reason: building?.message ?? '' };
}
