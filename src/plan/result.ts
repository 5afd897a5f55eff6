import type { Action } from '../model/plan.ts';
import type { EpochMs } from '../model/time.ts';
import type { AnswerSummary } from '../platform/verdict.ts';

/** How one action ended. */
export type ActionResult =
  | { readonly status: 'done'; readonly action: Action; readonly answer: AnswerSummary }
  | {
      readonly status: 'failed';
      readonly action: Action;
      readonly answer: AnswerSummary;
      readonly request: string;
      readonly reason: FailureReason;
      readonly remedy: string;
    }
  /** Sent, and nobody knows yet. */
  | {
      readonly status: 'in-doubt';
      readonly action: Action;
      readonly answer: AnswerSummary;
      readonly request: string;
      readonly intent: string;
      readonly untilMs: EpochMs;
      /** From then on, other changes of its application are sent again. */
      readonly scopeUntilMs: EpochMs;
    }
  | { readonly status: 'skipped'; readonly action: Action; readonly because: SkipReason };

/** As far as callers react differently: `stop-scope` ends the scope's run, `throttled` says when to come again. */
export type FailureReason =
  | { readonly type: 'refused' }
  | { readonly type: 'exists' }
  | { readonly type: 'throttled'; readonly retryAfterMs: number | null }
  | { readonly type: 'stop-scope'; readonly why: 'credentials' | 'region-not-ready' | 'unsent' }
  | { readonly type: 'not-sent' }
  /** It was accepted, and reading it back shows no change. */
  | { readonly type: 'not-taken' };

export type SkipReason =
  | { readonly type: 'behind'; readonly action: string }
  | { readonly type: 'scope-stopped'; readonly by: string }
  | { readonly type: 'interrupted' }
  /** A person suspended the application, or its window closed, in the middle. */
  | { readonly type: 'paused'; readonly by: string }
  | { readonly type: 'fail-fast' };

/** Why nothing of a plan is sent. */
export interface Refusal {
  /** Stable, `guard/what`. */
  readonly code: string;
  readonly message: string;
  /** The exact flag or setting that lets it through. */
  readonly override: string;
}
