import type { ReconciledKinds } from '../../kinds/define.ts';
import type { Settings } from '../../configuration/settings/spec.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { DesiredState } from '../../model/resource.ts';
import { type BudgetLimits, expensesOf } from '../../plan/budget.ts';
import type { GuardLimits, Refusal, Succession } from '../../plan/guard.ts';
import {
  guardRemovals,
  guardRun,
  guardSource,
  guardTollOfRun,
  removalsOf,
  type SourceFacts,
  tollOfRun,
} from '../guards.ts';
import type { RemovalBudget } from '../removal-budget.ts';
import type { Prepared } from '../work.ts';

/** Limits what several applications of a source may change together. `owned`: the ledger records of the source. */
export type RunPolicy = (prepared: readonly Prepared[], owned: readonly OwnedObject[]) => Promise<readonly Refusal[]>;

/** A source that is read for this run; what costs a look at the ledger or at git is asked for. */
export interface SourceOfRun extends Pick<SourceFacts, 'source' | 'resources' | 'isEmptyAllowed'> {
  largest(): Promise<number | undefined>;
  succession(): Promise<Succession | undefined>;
}

/** The part of the removal budget that a command uses. */
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

/** The policy of a command: limits of all applications together, and of a source that is empty or has shrunk. */
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

/** Objects that a part of a run would change and remove, for guards over the whole. */
export interface PartOfRun {
  readonly changed: readonly string[];
  readonly healed: readonly string[];
  readonly removed: readonly string[];
}

export function partOfRun(prepared: readonly Prepared[]): PartOfRun {
  const { changed, healed, removed } = tollOfRun(prepared);
  return { changed: [...changed], healed: [...healed], removed: [...removed] };
}

/** Returns what the guards of a command say to a run whose parts were planned in several processes. @param owned objects on record. */
export function refusalsOfParts(
  parts: readonly PartOfRun[],
  source: Pick<SourceFacts, 'source' | 'resources' | 'isEmptyAllowed'>,
  owned: number,
  limits: GuardLimits,
): readonly Refusal[] {
  const all = (of: keyof PartOfRun): ReadonlySet<string> => new Set(parts.flatMap((part) => part[of]));
  const toll = { changed: all('changed'), healed: all('healed'), removed: all('removed') };
  const facts = { ...source, largest: undefined, succession: undefined };
  return [...guardTollOfRun(toll, owned, limits), ...guardSource(facts, owned)];
}

/** The policy without a ledger: the former size of a source is unknown. */
export const ofUnknown: RunPolicy = async () => [];

/** The policy of the daemon's accepted source. @param keeps returns why a number of removals is refused. */
export function ofAccepted(keeps: (prunes: number) => readonly Refusal[]): RunPolicy {
  return async (prepared) => {
    const prunes = prepared.reduce((sum, { plan }) => sum + plan.actions.filter((action) => action.prune).length, 0);
    return prunes === 0 ? [] : keeps(prunes);
  };
}
