import type { InstallRecord, PortRecord, RuleRecord } from '../model/observed.ts';

/** An answer in a few safe words: no body, no trace, at most 300 characters of message. */
export interface AnswerSummary {
  /** Absent when no answer came. */
  readonly status?: number;
  /** Business code of the envelope, where there is one. */
  readonly code?: number;
  /** `msg`, and `msg_show` behind it where it says more; or what the transport said. */
  readonly message: string;
}

/** An answer on one line: `HTTP 400, code 20400: the message`. */
export function answerText({ status, code, message }: AnswerSummary): string {
  const facts = [
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    ...(code === undefined || code === status ? [] : [`code ${code}`]),
  ];
  return facts.length === 0 ? message : `${facts.join(', ')}: ${message}`;
}

/** What an applied write proved. */
export type WriteEvidence =
  | { readonly type: 'none' }
  | { readonly type: 'port'; readonly port: PortRecord }
  | { readonly type: 'rule'; readonly rule: RuleRecord }
  | { readonly type: 'install'; readonly install: InstallRecord };

/** Did it happen? Unknown unless proved. The table behind it is `classifier-table.json`. */
export type Verdict =
  | { readonly verdict: 'applied'; readonly answer: AnswerSummary; readonly evidence: WriteEvidence }
  | {
      readonly verdict: 'rejected';
      readonly answer: AnswerSummary;
      readonly reason: RejectionReason;
      /** The answer is not proof enough for this write: reading the platform must confirm it. */
      readonly needsObservation?: true;
    }
  | { readonly verdict: 'exists'; readonly answer: AnswerSummary }
  | { readonly verdict: 'throttled'; readonly answer: AnswerSummary; readonly retryAfterMs: number | null }
  | { readonly verdict: 'unknown'; readonly answer: AnswerSummary };

/** Why a write was refused, as far as a caller reacts differently. `unsent`: no byte left. */
export type RejectionReason =
  | 'unsent'
  | 'credentials'
  | 'region-not-ready'
  | 'precondition'
  | 'invalid'
  | 'not-found'
  | 'exists'
  | 'unsupported'
  /** The application store refused the platform's access key. */
  | 'store-credentials'
  /** The application store did not answer the platform, or answered with a failure. */
  | 'store-failed'
  /** The platform began the install, failed, and removed what it had created. */
  | 'rolled-back';
