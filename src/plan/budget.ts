import type { ReconciledKinds } from '../kinds/define.ts';
import type { LedgerView } from '../kinds/reconciled.ts';
import { kindName, type ResourceId, type Scope, scopeKey } from '../model/ids.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { Action, ScopePlan } from '../model/plan.ts';
import type { DesiredState } from '../model/resource.ts';
import type { Refusal } from './result.ts';
import { someOf } from './words.ts';

/** Limits how many objects are removed, or closed to the outside, in a day of observed time. */
export interface BudgetLimits {
  readonly objects: number;
  /** Share of the objects of the class on record. */
  readonly share: number;
}

/** `access`: rules and outer ports, which have a budget of their own, beside everything else. */
export type BudgetClass = 'access' | 'other';

/** One object that is removed, or closed to the outside. */
export interface Expense {
  readonly object: string;
  readonly class: BudgetClass;
}

/** JSON: what was spent and is not forgotten yet. Times are of the clock that goes only while it can be watched. */
export type BudgetState = {
  readonly observedMs: number;
  /** When `observedMs` was so, as time since this start of the machine. */
  readonly boot: string;
  readonly uptimeMs: number;
  readonly spent: readonly { readonly object: string; readonly class: BudgetClass; atMs: number; by: string }[];
};

export const NOTHING_SPENT_YET: BudgetState = { observedMs: 0, boot: '', uptimeMs: 0, spent: [] };

/** Time after which a removal no longer counts. */
export const BUDGET_MS = 24 * 3_600_000;

const CLASSES: Readonly<Record<BudgetClass, string>> = { access: 'rules and outer ports', other: 'other objects' };

/** A plan, and what it was made from. */
export interface Planned {
  readonly scope: Scope;
  readonly plan: Pick<ScopePlan, 'actions'>;
  readonly ledgerView: Pick<LedgerView, 'objects'>;
  readonly work: { readonly resources: DesiredState };
}

/**
 * Returns what actions of a plan spend. Creations, recreations and moves spend nothing, nor does a temporary closing, nor
 * closing what others opened.
 * @param source everything that the source names.
 * @param earlier natural keys of what `movedOf` found in earlier plans: its creation may be done already.
 */
export function expensesOf(
  kinds: ReconciledKinds,
  planned: Planned,
  actions: readonly Action[],
  source: DesiredState,
  earlier: readonly string[] = [],
): readonly Expense[] {
  const { scope } = planned;
  const expenses = new Map<string, Expense>();
  const moved = new Set([...movedOf(kinds, planned, source), ...earlier]);
  const add = (natural: string, isAccess: boolean): void => {
    if (moved.has(natural)) return;
    const object = `${scopeKey(scope)} ${natural}`;
    if (isAccess || !expenses.has(object)) expenses.set(object, { object, class: isAccess ? 'access' : 'other' });
  };
  for (const action of actions) {
    const closes = isClosing(kinds, action);
    if (!closes && !action.prune) continue;
    add(action.object, closes || isAccess(kinds, action.object));
    // Objects that depend on a closed one stay, and work again when it opens.
    if (action.verb === 'delete') for (const object of action.takesAlong ?? []) add(object, isAccess(kinds, object));
  }
  return [...expenses.values()];
}

function isClosing(kinds: ReconciledKinds, { resource, step, cause, prune, obligation }: Action): boolean {
  if (step.type !== kinds.get(kindName(resource))?.access?.closes) return false;
  if (step['temporary'] === true || obligation !== undefined) return false;
  return prune || (cause !== 'drift' && cause !== 'first-apply' && cause !== 'obligation');
}

/**
 * Returns natural keys of what a plan removes while the same manifest creates another one: a rule with another address, or
 * a port in place of another. Each creation stands for one removal. A manifest that moved to another application creates
 * there what it lists.
 */
export function movedOf(
  kinds: ReconciledKinds,
  { plan: { actions }, ledgerView, work }: Planned,
  source: DesiredState,
): ReadonlySet<string> {
  const moved = new Set<string>();
  const isRule = (naturalKey: string): boolean => isAccess(kinds, naturalKey);
  const removals = actions.filter((action) => isClosing(kinds, action) || action.prune);
  if (removals.length === 0) return moved;
  const created = new Set(actions.filter(({ verb }) => verb === 'create').map(({ resource }) => resource));
  const rowOf = (rule: string) => ledgerView.objects.find(({ naturalKey }) => naturalKey === rule);
  for (const { object, resource, takesAlong = [] } of removals) {
    if (isRule(object) && source.has(resource)) moved.add(object);
    for (const along of takesAlong.filter((key) => isRule(key))) {
      const row = rowOf(along);
      if (row !== undefined && created.has(row.resource)) moved.add(along);
    }
  }
  const ofPorts = removals.filter(({ object }) => !isRule(object));
  for (const [manifest, its] of Map.groupBy(ofPorts, ({ resource }) => resource)) {
    const closed = new Set(its.filter((action) => isClosing(kinds, action)).map(({ object }) => object));
    const deleted = new Set(its.map(({ object }) => object)).difference(closed);
    const elsewhere = work.resources.has(manifest) ? undefined : source.get(manifest);
    const listed = elsewhere && kinds.get(kindName(manifest))?.access?.listed?.(elsewhere.spec);
    const arrivals = listed ?? arrivalsOf(kinds, actions, manifest);
    for (const object of [...closed].slice(0, arrivals.access)) {
      moved.add(object);
      // The platform makes a default rule for the port that takes its place; of this one, it goes along.
      const along = its.find((action) => action.object === object)?.takesAlong ?? [];
      const byDefault = along.find((rule) => isRule(rule) && rowOf(rule) === undefined);
      if (byDefault !== undefined) moved.add(byDefault);
    }
    for (const object of [...deleted].slice(0, arrivals.other)) moved.add(object);
  }
  return moved;
}

type Arrivals = Readonly<Record<BudgetClass, number>>;

/** Returns how many ports the plan opens to the outside for a manifest, and how many others it creates. */
function arrivalsOf(kinds: ReconciledKinds, actions: readonly Action[], manifest: ResourceId): Arrivals {
  const its = actions.filter(({ resource, object }) => resource === manifest && !isAccess(kinds, object));
  const opens = kinds.get(kindName(manifest))?.access?.opens;
  // Opens what git wants open; drift and obligations open what was open before.
  const isOpening = ({ step, cause }: Action): boolean =>
    step.type === opens && cause !== 'drift' && cause !== 'obligation';
  const opened = new Set(its.filter(isOpening).map(({ object }) => object));
  const created = new Set(its.filter(({ verb }) => verb === 'create').map(({ object }) => object));
  return { access: opened.size, other: created.difference(opened).size };
}

/** Returns whether a natural key is of an object that is reached from outside; of foreign objects only the key is known. */
function isAccess(kinds: ReconciledKinds, naturalKey: string): boolean {
  return [...kinds.values()].some(({ access }) => {
    const start = access?.keysBeginWith;
    return start !== undefined && naturalKey.startsWith(start);
  });
}

/** Returns how many objects of each class are on record. */
export function sizesOf(kinds: ReconciledKinds, owned: readonly OwnedObject[]): Readonly<Record<BudgetClass, number>> {
  const access = owned.filter(
    ({ kind, naturalKey, lastApplied }) =>
      isAccess(kinds, naturalKey) || kinds.get(kind)?.access?.isOpen?.(lastApplied) === true,
  ).length;
  return { access, other: owned.length - access };
}

export interface BudgetFacts {
  readonly source: string;
  readonly platform: string;
  readonly state: BudgetState;
  readonly sizes: Readonly<Record<BudgetClass, number>>;
  readonly isDaemon: boolean;
}

/** Whether the budget of a source on a platform has room for these. */
export function guardBudget(
  expenses: readonly Expense[],
  { source, platform, state, sizes, isDaemon }: BudgetFacts,
  limits: BudgetLimits,
): readonly Refusal[] {
  const refusals: Refusal[] = [];
  for (const kind of ['access', 'other'] as const) {
    const wanted = expenses.filter((expense) => expense.class === kind).length;
    const spent = state.spent.filter((expense) => expense.class === kind);
    const size = Math.max(limits.objects, Math.floor(sizes[kind] * limits.share));
    if (wanted === 0 || spent.length + wanted <= size) continue;
    refusals.push({
      code: 'guard/budget',
      message: `${wanted} ${CLASSES[kind]} of platform ${platform} would be removed or closed, and the budget of the source "${source}" has ${Math.max(0, size - spent.length)} left of ${size} in 24 h of observed time${spentBy(spent)}${availableAgain(spent, wanted, size, state.observedMs)}; nothing of the plan was sent`,
      override: isDaemon ? 'approve this plan' : `--max-prunes ${expenses.length}`,
    });
  }
  return refusals;
}

const NAMED_MAX = 5;

function spentBy(spent: BudgetState['spent']): string {
  if (spent.length === 0) return '';
  const by = [...Map.groupBy(spent, (expense) => expense.by)].map(([name, of]) => `${of.length} by ${name}`);
  return `: spent were ${someOf(by, NAMED_MAX)}`;
}

function availableAgain(spent: BudgetState['spent'], wanted: number, size: number, nowMs: number): string {
  if (wanted > size) return '; it is never large enough for this plan';
  const last = spent.map(({ atMs }) => atMs).sort((left, right) => left - right)[spent.length + wanted - size - 1];
  if (last === undefined) return '';
  const hours = Math.max(0.1, (last + BUDGET_MS - nowMs) / 3_600_000);
  return `; there is room again after ${Math.ceil(hours * 10) / 10} h of observed time`;
}
