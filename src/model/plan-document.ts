import type { ResourceId } from './ids.ts';
import { errorMembers } from './errors.ts';
import {
  codeSchema,
  type Note,
  planPartSchemas,
  policySchema as policy,
  remedySchema,
  scopePlanMembers,
} from './plan.ts';
import * as s from './schema-words.ts';

/** The published plan of a run: types and JSON Schemas. */

export const refusalSchema = s.objectOf('A guard that refused it: nothing is sent.', {
  code: codeSchema,
  message: s.text,
  override: s.string('The exact flag or setting that lets it through.'),
  'policy?': policy,
  'resource?': s.string<ResourceId>('Kind/name of the manifest that it is about.'),
});
/** Why nothing of a plan is sent. */
export type Refusal = s.TypeOf<typeof refusalSchema>;

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
