import type { Action } from '../model/plan.ts';
import {
  described,
  literal,
  nullable,
  objectOf,
  oneOf,
  only,
  ref,
  type Schema,
  text,
  time,
  type TypeOf,
} from '../model/schema-words.ts';
import type { AnswerSummary } from '../platform/verdict.ts';

const retryAfterMs: Schema<number> = { type: 'number' };

export const failureReasonSchema = oneOf('Why it failed, as far as a caller would react differently.', [
  // Not taken: it was accepted, and reading it back shows no change.
  objectOf(
    'The platform refused it, it is there already, it could not be sent, or it was accepted and changed nothing.',
    { type: literal('refused', 'exists', 'not-sent', 'not-taken') },
  ),
  objectOf('Too many requests.', { type: only('throttled'), retryAfterMs: nullable(retryAfterMs) }),
  objectOf('Nothing more was sent for this application.', {
    type: only('stop-scope'),
    why: literal('credentials', 'region-not-ready', 'unsent'),
  }),
]);
/** Distinguishes what callers treat differently: `stop-scope` ends the run of the scope, `throttled` says when to retry. */
export type FailureReason = TypeOf<typeof failureReasonSchema>;

export const skipReasonSchema = oneOf('Why it was not begun.', [
  objectOf('It needs an action that was not done.', { type: only('behind'), action: text }),
  objectOf('Nothing more was sent for this application.', { type: only('scope-stopped'), by: text }),
  objectOf('The application was suspended, or its window closed, in the middle.', { type: only('paused'), by: text }),
  objectOf('A signal, or --fail-fast.', { type: literal('interrupted', 'fail-fast') }),
]);
export type SkipReason = TypeOf<typeof skipReasonSchema>;

const answer = ref<AnswerSummary>('Answer');

/** The ways in which an action can end, each with these members before its own. */
export function endings<M extends Readonly<Record<string, Schema>>>(members: M) {
  return [
    objectOf('It was done.', { ...members, status: only('done'), answer }),
    objectOf('It was not done.', {
      ...members,
      status: only('failed'),
      answer,
      request: text,
      reason: ref<FailureReason>('FailureReason'),
      remedy: text,
    }),
    objectOf('It was sent, and its effect is not known yet.', {
      ...members,
      status: only('in-doubt'),
      answer,
      request: text,
      intent: text,
      untilMs: described(time, 'It can still arrive until then. Milliseconds since 1970-01-01T00:00Z.'),
      scopeUntilMs: described(
        time,
        'Other changes of its application are sent from then on. Milliseconds since 1970-01-01T00:00Z.',
      ),
    }),
    objectOf('It was not begun.', { ...members, status: only('skipped'), because: ref<SkipReason>('SkipReason') }),
  ] as const;
}

export const actionResultSchema = oneOf('The result of one action.', endings({ action: ref<Action>('Action') }));
/** The result of one action. */
export type ActionResult = TypeOf<typeof actionResultSchema>;

export type { Refusal } from '../model/plan-document.ts';
