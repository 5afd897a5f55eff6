import type { WriteClass } from '../model/owned.ts';
import { integer, objectOf, type Schema, text, type TypeOf } from '../model/schema-words.ts';

const businessCode: Schema<number> = { type: 'integer' };

/** A message of the transport, or `msg`, followed by `msg_show` if that differs; `code` is that of the envelope. */
export const answerSchema = objectOf('The answer of the platform, in a few safe words.', {
  'status?': integer('Absent: no answer came.', { minimum: 0 }),
  'code?': businessCode,
  message: text,
});
/** A safe summary of an answer: no body, no stack trace, at most 300 characters of message. */
export type AnswerSummary = TypeOf<typeof answerSchema>;

/** Returns an answer on one line: `HTTP 400, code 20400: the message`. */
export function answerText({ status, code, message }: AnswerSummary): string {
  const facts = [
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    ...(code === undefined || code === status ? [] : [`code ${code}`]),
  ];
  return facts.length === 0 ? message : `${facts.join(', ')}: ${message}`;
}

/** The evidence in the answer to an applied write. `none`: no further evidence. Other types have fields that their kind reads. */
export interface WriteEvidence {
  readonly type: string;
}

/** The conclusion whether a write was done: unknown unless proved, by the rows of `classifier-table.json` and the kinds. */
export type Verdict =
  | { readonly verdict: 'applied'; readonly answer: AnswerSummary; readonly evidence: WriteEvidence }
  | {
      readonly verdict: 'rejected';
      readonly answer: AnswerSummary;
      readonly reason: RejectionReason;
      /** The answer does not suffice as a proof for this write: an observation must confirm it. */
      readonly needsObservation?: true;
    }
  | { readonly verdict: 'exists'; readonly answer: AnswerSummary }
  | { readonly verdict: 'throttled'; readonly answer: AnswerSummary; readonly retryAfterMs: number | null }
  | { readonly verdict: 'unknown'; readonly answer: AnswerSummary };

/** The reason of a refusal, as far as callers distinguish them. `unsent`: no byte left. */
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
 * The proof that the verdict of a row needs: the answer alone, or an observation that confirms it. `none`: the answer proves nothing
 * for this class.
 */
export type Proof = 'answer' | 'observation' | 'none';

/** One row of `classifier-table.json` or of a kind's `answers.json`. All conditions that it has must hold. */
export type ClassifierRow = {
  readonly id: string;
  readonly operations?: readonly string[];
  /** The name of a condition of the request, which its declaration decides. */
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
  /** The body has the platform's form of an error: a proxy may return the same status after the effect. */
  readonly own?: true;
  /** The row takes precedence over rows without it; among equals, the kind's rows take precedence. */
  readonly first?: true;
  /** The proof by class of write, for every class of the row's operations. */
  readonly proof: Readonly<Partial<Record<WriteClass, Proof>>>;
  readonly why: string;
} & (
  | { readonly verdict: 'applied' | 'exists' | 'throttled' }
  | { readonly verdict: 'unknown' }
  | { readonly verdict: 'rejected'; readonly reason: RejectionReason }
);
