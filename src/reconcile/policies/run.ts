import type { ReconciledKinds } from '../../kinds/define.ts';
import type { Settings } from '../../configuration/settings/spec.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { DesiredState } from '../../model/resource.ts';
import { type BudgetLimits, expensesOf } from '../../plan/budget.ts';
import type { GuardLimits, Refusal, Succession } from '../../plan/guard.ts';
import { guardRemovals, guardRun, guardSource, removalsOf, type SourceFacts } from '../guards.ts';
import type { RemovalBudget } from '../removal-budget.ts';
import type { Prepared } from '../work.ts';

/** What several applications of a source may change together. `owned`: what the ledger holds of the source. */
export type RunPolicy = (prepared: readonly Prepared[], owned: readonly OwnedObject[]) => Promise<readonly Refusal[]>;

/** A source that is read for this run; what costs a look at the ledger or at git is asked for. */
export interface SourceOfRun extends Pick<SourceFacts, 'source' | 'resources' | 'isEmptyAllowed'> {
  largest(): Promise<number | undefined>;
  succession(): Promise<Succession | undefined>;
}

/** What a command takes of the budget for removals. */
export interface BudgetOfRun {
  readonly kinds: ReconciledKinds;
  readonly budget: RemovalBudget;
  /** The commit, for people. */
  readonly by: string;
  /** Everything that the source names. */
  readonly source: DesiredState;
  /** So many a person allows for this run, whatever the budget says. */
  readonly allowed: number | undefined;
}

/** The operator's settings of it. */
export function budgetLimits({ prune }: Settings): BudgetLimits {
  return { objects: prune.dailyObjects, share: prune.dailyShare };
}

async function guardBudgets(
  prepared: readonly Prepared[],
  { kinds, budget, allowed, source }: BudgetOfRun,
): Promise<readonly Refusal[]> {
  const going = prepared.filter(({ refusals }) => refusals.length === 0);
  const expenses = going.map((one) => ({
    platform: one.scope.platform,
    of: expensesOf(kinds, one, one.plan.actions, source),
  }));
  const total = expenses.reduce((sum, { of }) => sum + of.length, 0);
  if (allowed !== undefined && total <= allowed) return [];
  const refusals: Refusal[] = [];
  for (const [platform, its] of Map.groupBy(expenses, (each) => each.platform)) {
    const all = its.flatMap(({ of }) => of);
    refusals.push(...(await budget.check(platform, all)));
  }
  return refusals;
}

/** Of a command: the limits of all applications together, and of a source that says nothing, or much less than before. */
export function ofCommand(source: SourceOfRun, limits: GuardLimits, budget?: BudgetOfRun): RunPolicy {
  return async (prepared, owned) => {
    const prunes = removalsOf(prepared);
    const largest = await source.largest();
    // Asked only where something hangs on it: git reads a whole history for the answer.
    const succession = prunes === 0 ? undefined : await source.succession();
    const facts: SourceFacts = { ...source, largest, succession };
    return [
      ...guardRun(prepared, owned, limits),
      ...guardSource(facts, owned.length),
      ...guardRemovals(facts, prunes),
      ...(budget === undefined ? [] : await guardBudgets(prepared, budget)),
    ];
  };
}

/** Without a ledger nobody knows what a source had before. */
export const ofUnknown: RunPolicy = async () => [];

/** Of the daemon's accepted source. @param keeps why what it no longer names stays, by how many removals there would be. */
export function ofAccepted(keeps: (prunes: number) => readonly Refusal[]): RunPolicy {
  return async (prepared) => {
    const prunes = prepared.reduce((sum, { plan }) => sum + plan.actions.filter((action) => action.prune).length, 0);
    return prunes === 0 ? [] : keeps(prunes);
  };
}
