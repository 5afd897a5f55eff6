import { scopeKey, type ScopeKey } from '../model/ids.ts';
import { type Json, plainJson, sameJson } from '../model/json.ts';
import type { Action, DeferredAction, ScopePlan } from '../model/plan.ts';

/** One thing a plan does, now or later, with the application it does it to. */
export interface PlannedEntry {
  readonly application: string;
  readonly scope: ScopeKey;
  readonly does: Action | DeferredAction;
}

/** Lists the differences of two plans. If all lists are empty and `reordered` is false, the plans are the same. */
export interface PlanDifference {
  /** In the first plan only. */
  readonly vanished: readonly PlannedEntry[];
  /** In the second plan only. */
  readonly appeared: readonly PlannedEntry[];
  /** In both, and not the same. */
  readonly changed: readonly { readonly before: PlannedEntry; readonly after: PlannedEntry }[];
  /** The same actions in another order. */
  readonly reordered: boolean;
}

type Plans = readonly Pick<ScopePlan, 'application' | 'scope' | 'actions' | 'deferred'>[];

/** Compares what two plans do: every request with its ids and its side effects; not why, nor what they say of the rest. */
export function planDifference(first: Plans, second: Plans): PlanDifference {
  const before = entriesOf(first);
  const after = entriesOf(second);
  const vanished = [...before].filter(([key]) => !after.has(key)).map(([, entry]) => entry);
  const appeared = [...after].filter(([key]) => !before.has(key)).map(([, entry]) => entry);
  const changed = [...before].flatMap(([key, entry]) => {
    const other = after.get(key);
    return other === undefined || sameJson(essenceOf(entry), essenceOf(other)) ? [] : [{ before: entry, after: other }];
  });
  const isSame = vanished.length + appeared.length + changed.length === 0;
  return { vanished, appeared, changed, reordered: isSame && [...before.keys()].join() !== [...after.keys()].join() };
}

export function isSamePlan({ vanished, appeared, changed, reordered }: PlanDifference): boolean {
  return vanished.length + appeared.length + changed.length === 0 && !reordered;
}

/** Whether carrying out the one is carrying out the other, to the last field that is sent. */
export function isSameAction(left: Action, right: Action): boolean {
  return sameJson(requestOf(left), requestOf(right));
}

/** By what an entry is found again; applications in one order, the actions of each in theirs. */
function entriesOf(plans: Plans): ReadonlyMap<string, PlannedEntry> {
  const entries = new Map<string, PlannedEntry>();
  for (const plan of plans.toSorted(byScope)) {
    const scope = scopeKey(plan.scope);
    const place = { application: plan.application, scope };
    for (const action of plan.actions) entries.set(`${scope} ${action.id}`, { ...place, does: action });
    for (const deferred of plan.deferred)
      entries.set(`${scope} ${deferred.resource} after ${deferred.waitsFor}`, { ...place, does: deferred });
  }
  return entries;
}

function byScope(left: Plans[number], right: Plans[number]): number {
  return scopeKey(left.scope) < scopeKey(right.scope) ? -1 : 1;
}

function essenceOf({ does }: PlannedEntry): Json {
  if (!('step' in does)) return plainJson({ waitsFor: does.waitsFor, desired: does.desired });
  return plainJson({ request: requestOf(does), effects: does.effects, after: does.after });
}

/** Not its side effects in words: what it does first may change those of what follows. */
function requestOf({ resource, verb, step, object, changes, prune, takesAlong, obligation }: Action): Json {
  return plainJson({
    resource,
    verb,
    step,
    object,
    changes: changes.map(({ path, before, after }) => ({ path, before, after })),
    prune,
    takesAlong: takesAlong?.toSorted(),
    obligation,
  });
}
