import { errorMembers } from '../model/errors.ts';
import {
  type Action,
  codeSchema,
  type Note,
  planPartSchemas,
  remedySchema,
  type ScopePlan,
  scopePlanMembers,
} from '../model/plan.ts';
import * as s from '../model/schema-words.ts';
import { type PlanDigests, planDigests } from './digest.ts';
import { type Refusal, refusalSchema } from './result.ts';

const digest = s.string('SHA-256 of what it does: two plans that do the same have one digest.');

const scopePlanSchema = s.objectOf('The actions that one application needs, in a safe order.', {
  ...scopePlanMembers,
  digest,
});

const unobservedScopeSchema = s.objectOf('An application that could not be read: nothing is known of it.', {
  application: s.string('Application/name.'),
  ...errorMembers,
  code: codeSchema,
  remedy: remedySchema,
});
/** A scope that could not be observed: nothing is known of it and nothing was sent. */
export type UnobservedScope = s.TypeOf<typeof unobservedScopeSchema>;

const planSummarySchema = s.objectOf('The number of changes, holds and resources in sync.', {
  create: s.count,
  update: s.count,
  delete: s.count,
  deferred: s.count,
  held: s.count,
  inSync: s.count,
  unchangedFields: s.count,
});
export type PlanSummary = s.TypeOf<typeof planSummarySchema>;

export const formatVersion: s.Schema<1> = {
  type: 'integer',
  const: 1,
  description: 'Rises when a reader would misread it.',
};

export const planSchema = s.objectOf('The changes that a run would make.', {
  formatVersion,
  source: s.string('Name of the origin of the manifests.'),
  revision: s.described(s.nullable(s.text), 'The commit; null for plain files.'),
  ledger: s.choice('none: ownership and causes are not known.', ['known', 'none']),
  digest,
  summary: s.ref<PlanSummary>('PlanSummary'),
  scopes: s.arrayOf(s.ref<s.TypeOf<typeof scopePlanSchema>>('ScopePlan'), { description: 'One for each application.' }),
  unobserved: s.arrayOf(s.ref<UnobservedScope>('UnobservedScope')),
  refusals: s.arrayOf(s.ref<Refusal>('Refusal')),
  notes: s.arrayOf(s.ref<Note>('Note'), { description: 'Notes that belong to no planned application.' }),
});
/** The plan of a whole run, as every output format shows it. */
export type PlanDocument = s.TypeOf<typeof planSchema>;

/** The schemas that plans are made of, by the names that references have. */
export const planSchemas = {
  ...planPartSchemas,
  ScopePlan: scopePlanSchema,
  UnobservedScope: unobservedScopeSchema,
  Refusal: refusalSchema,
  PlanSummary: planSummarySchema,
  Plan: planSchema,
};

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
