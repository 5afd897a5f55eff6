import type { Disposition } from '../model/errors.ts';
import type { Action, Note, ScopePlan } from '../model/plan.ts';
import { type PlanDigests, planDigests } from './digest.ts';
import type { Refusal } from './result.ts';

/** A scope that could not be observed: nothing is known of it and nothing was sent. */
export interface UnobservedScope {
  readonly application: string;
  readonly code: string;
  readonly disposition: Disposition;
  readonly message: string;
  readonly remedy: string;
}

/** The plan of a whole run, as every output format shows it. `formatVersion` rises when a reader would misread it. */
export interface PlanDocument {
  readonly formatVersion: 1;
  readonly source: string;
  /** Commit, or null for plain files. */
  readonly revision: string | null;
  /** `none`: ownership and attribution are unknown. */
  readonly ledger: 'known' | 'none';
  readonly digest: string;
  readonly summary: PlanSummary;
  /** Each with a digest of its own. */
  readonly scopes: readonly (ScopePlan & { readonly digest: string })[];
  readonly unobserved: readonly UnobservedScope[];
  readonly refusals: readonly Refusal[];
  /** Of no scope that was planned: objects whose Application the source no longer names. */
  readonly notes: readonly Note[];
}

export interface PlanSummary {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  readonly deferred: number;
  readonly held: number;
  readonly inSync: number;
  readonly unchangedFields: number;
}

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

function summarize(scopes: readonly ScopePlan[]): PlanSummary {
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
