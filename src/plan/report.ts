import { errorMembers, type ReportedError } from '../model/errors.ts';
import { resourceIdSchema as application } from '../model/ids.ts';
import type { ScopePlan, Wait } from '../model/plan.ts';
import {
  arrayOf,
  count,
  described,
  objectOf,
  oneOf,
  only,
  ref,
  type Schema,
  string,
  type TypeOf,
} from '../model/schema-words.ts';
import { formatVersion, type PlanDocument } from './document.ts';
import type { ActionResult, Refusal } from './result.ts';

const plan = ref<ScopePlan>('RemainingPlan');

const endedScope = objectOf('It was worked on.', {
  type: only('ended'),
  application,
  results: arrayOf(ref<ActionResult>('ActionResult')),
  waits: arrayOf(ref<Wait>('Wait')),
  rounds: described(count, 'The number of times that it was observed and planned.'),
  // From the last observation.
  remaining: plan,
  'error?': described(ref<ReportedError>('Fault'), 'It was left in the middle.'),
});
export type EndedScope = TypeOf<typeof endedScope>;

export const outcomeSchema = oneOf('The state of one application after the run.', [
  objectOf('Nothing is known of it and nothing was sent.', {
    type: only('unobserved'),
    application,
    error: ref<ReportedError>('Fault'),
  }),
  objectOf('A guard refused its plan: nothing was sent.', {
    type: only('refused'),
    application,
    plan,
    refusals: arrayOf(ref<Refusal>('Refusal')),
  }),
  endedScope,
]);
/** The result of one application after a run, as data. */
export type ScopeResult = TypeOf<typeof outcomeSchema>;

const difference: Schema = { type: 'object', description: 'Parts that only one of them has, or that differ.' };

export const disagreementSchema = objectOf('The plan is not the one that was agreed to: nothing was sent.', {
  ...errorMembers,
  expected: string('Digest of the plan that was agreed to.'),
  now: string('Digest of the plan of now.'),
  'difference?': difference,
});
/** Why a plan is not the one that was agreed to. */
export type Disagreement = TypeOf<typeof disagreementSchema>;

export const exitCodeSchema = described(count, 'The exit code of the command.');

export const applySchema = objectOf('A plan, and what became of it.', {
  formatVersion,
  exitCode: exitCodeSchema,
  plan: ref<PlanDocument>('Plan'),
  outcomes: arrayOf(ref<ScopeResult>('Outcome'), { description: 'None: nothing was begun for any application.' }),
  'refused?': ref<Disagreement>('Disagreement'),
});
/** The result of `apply` as programs read it. */
export type ApplyDocument = TypeOf<typeof applySchema>;

/** The result of a plan that was applied. */
export type Applied = Omit<ApplyDocument, 'formatVersion' | 'plan'>;

/** The content of every output format: a plan, and its result if it was applied. */
export interface PlanReport {
  readonly plan: PlanDocument;
  readonly applied: Applied | undefined;
}

/** The one value that `json` and `yaml` write, and that the JSON Schemas describe. */
export function reportDocument({ plan, applied }: PlanReport): PlanDocument | ApplyDocument {
  if (applied === undefined) return plan;
  const { exitCode, ...rest } = applied;
  return { formatVersion: 1, exitCode, plan, ...rest };
}
