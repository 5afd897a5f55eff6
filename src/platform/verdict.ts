import type { WriteClass } from '../model/owned.ts';
import { integer, objectOf, type Schema, text, type TypeOf } from '../model/schema-words.ts';

const businessCode: Schema<number> = { type: 'integer' };

/** A message is one of the transport, or `msg`, and `msg_show` behind it where it says more; `code` is that of the envelope. */
export const answerSchema = objectOf('What the platform answered, in a few safe words.', {
  'status?': integer('Absent: no answer came.', { minimum: 0 }),
  'code?': businessCode,
  message: text,
});
/** An answer in a few safe words: no body, no trace, at most 300 characters of message. */
export type AnswerSummary = TypeOf<typeof answerSchema>;

/** An answer on one line: `HTTP 400, code 20400: the message`. */
export function answerText({ status, code, message }: AnswerSummary): string {
  const facts = [
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    ...(code === undefined || code === status ? [] : [`code ${code}`]),
  ];
  return facts.length === 0 ? message : `${facts.join(', ')}: ${message}`;
}

/** What an applied write proved. `none`: nothing else. Others have fields of their own, which only their kind reads. */
export interface WriteEvidence {
  readonly type: string;
}

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

/**
 * What the verdict of a row needs before it is believed: the answer alone, or an observation that confirms it. `none`: for
 * this class the answer proves nothing.
 */
export type Proof = 'answer' | 'observation' | 'none';

/** One row of `classifier-table.json`, or of a kind's `answers.json`: every condition that is present must hold. */
export type ClassifierRow = {
  readonly id: string;
  readonly operations?: readonly string[];
  /** A condition of the request, which its declaration decides. */
  readonly when?: string;
  readonly status: readonly number[];
  readonly code?: readonly number[];
  /** The whole `msg`. */
  readonly msg?: readonly string[];
  /** Part of `msg` or `msg_show`, without regard to case. */
  readonly says?: readonly string[];
  /** The whole `msg_show`. */
  readonly shown?: readonly string[];
  /** The answer has a `Retry-After`. */
  readonly retryAfter?: true;
  /** The body is an error in the platform's own shape: a proxy that filters answers may return the same status after the effect. */
  readonly own?: true;
  /** Decides before every row without it; among equals, the rows of the kind decide before the platform's. */
  readonly first?: true;
  /** By class of write; every class that the row's operations have. */
  readonly proof: Readonly<Partial<Record<WriteClass, Proof>>>;
  readonly why: string;
} & (
  | { readonly verdict: 'applied' | 'exists' | 'throttled' }
  | { readonly verdict: 'unknown' }
  | { readonly verdict: 'rejected'; readonly reason: RejectionReason }
);
