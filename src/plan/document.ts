import type { Action, ScopePlan } from '../model/plan.ts';
import type { PlanDocument, PlanSummary } from '../model/plan-document.ts';
import { type PlanDigests, planDigests } from './digest.ts';

export { formatVersion, planSchema, planSchemas } from '../model/plan-document.ts';
export type { PlanDocument, PlanSummary, UnobservedScope } from '../model/plan-document.ts';

export function planDocument(
  facts: Omit<PlanDocument, 'formatVersion' | 'digest' | 'summary' | 'scopes'> & {
    readonly scopes: readonly ScopePlan[];
  },
  { all, each }: PlanDigests = planDigests(facts.scopes),
): PlanDocument {
  const { scopes, ...rest } = facts;
  return {
    formatVersion: 1,
    ...rest,
    digest: all,
    summary: summarize(scopes),
    scopes: scopes.map((scope, index) => ({ ...scope, digest: each[index] as string })),
  };
}

/** Anything that a run would do, or that keeps it from being as wanted. */
export function hasChanges(document: PlanDocument): boolean {
  const { summary } = document;
  return summary.create + summary.update + summary.delete + summary.deferred > 0;
}

/** Counts the changes, holds and resources of plans. */
export function summarize(scopes: readonly ScopePlan[]): PlanSummary {
  const actions = scopes.flatMap((scope) => scope.actions);
  const count = (verb: Action['verb']): number =>
    actions.filter((action) => action.verb === verb && action.continues === undefined).length;
  return {
    create: count('create'),
    update: count('update'),
    delete: count('delete'),
    deferred: sum(scopes, (scope) => scope.deferred.length),
    held: sum(scopes, (scope) => scope.holds.length),
    inSync: sum(scopes, (scope) => scope.inSync.length),
    unchangedFields: sum(scopes, (scope) => scope.unchangedFields),
  };
}

function sum(scopes: readonly ScopePlan[], count: (scope: ScopePlan) => number): number {
  return scopes.reduce((total, scope) => total + count(scope), 0);
}
