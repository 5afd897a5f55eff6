import type { WriteClass } from '../model/owned.ts';
import type { Place, Reading } from '../model/reading.ts';
import type { Answer } from './answer.ts';
import type { HttpMethod, WireObject } from './transport.ts';
import type { ClassifierRow, WriteEvidence } from './verdict.ts';

/** Where an application is, as paths need it. */
export type AppAddress = Place;

/** Whether the server is known to have a listing: which form of a body it takes may follow from that. */
export type HasListing = (listing: Reading<unknown>) => boolean;

/** What a request says, besides what all requests of its operation have in common. */
export interface RequestContent {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: WireObject;
}

/** An operation that changes something: how it is sent, what a repetition would do, and what its answer proves. */
export interface WriteDeclaration<Values> {
  readonly method: HttpMethod;
  readonly class: WriteClass;
  /** Absent: `WRITE_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  /** Absent: the limit for one record. */
  readonly answerBytesMax?: number;
  /** @throws PortolanError `invalid` when a value is not a documented one. */
  request(values: Values, has: HasListing): RequestContent;
  /**
   * Returns the evidence of a successful answer, or why the answer is none.
   * @throws PortolanError `platform/schema-drift` where the answer proves nothing.
   */
  evidence(answer: Answer, values: Values): WriteEvidence | string;
  /**
   * What other answers prove. Of the rows that fit, those marked `first` decide first, whoever has them; then those here, then
   * those of `classifier-table.json`.
   */
  readonly rows?: readonly ClassifierRow[];
  /** Decides the conditions that the rows name with `when`. */
  readonly conditions?: Readonly<Record<string, (values: Values) => boolean>>;
}

/** A mutating request: the values of an operation, and its declaration, which is only given back those values. */
export interface WriteRequest {
  /** Name in metrics, intents and messages: `addPort`. */
  readonly operation: string;
  readonly declared: WriteDeclaration<never>;
}

/** Returns the function that makes writes of an operation from their values. */
export function defineWrite<Values extends object>(
  operation: string,
  declared: WriteDeclaration<Values>,
): (values: Values) => Values & WriteRequest {
  return (values) => ({ ...values, operation, declared });
}

/** Evidence that says nothing but that the write was done. */
export const NO_EVIDENCE: WriteEvidence = { type: 'none' };
