import type { WriteClass } from '../model/owned.ts';
import type { Place, Reading } from '../model/reading.ts';
import type { Answer } from './answer.ts';
import type { HttpMethod, WireObject } from './transport.ts';
import type { ClassifierRow, WriteEvidence } from './verdict.ts';

/** The parts of an application's address. */
export type AppAddress = Place;

/** Returns whether the server is known to have a listing. The form of a body may depend on that. */
export type HasListing = (listing: Reading<unknown>) => boolean;

/** The path, query and body of a request. */
export interface RequestContent {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: WireObject;
}

/** A write operation: its request, the effect of a repetition, and the conclusions from its answer. */
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
   * Returns the evidence in a successful answer, or why it has none.
   * @throws PortolanError `platform/schema-drift` if the answer proves nothing.
   */
  evidence(answer: Answer, values: Values): WriteEvidence | string;
  /**
   * Rows for other answers. Matching rows marked `first` take precedence, followed by these rows and those of
   * `classifier-table.json`.
   */
  readonly rows?: readonly ClassifierRow[];
  /** The conditions that the rows name with `when`. */
  readonly conditions?: Readonly<Record<string, (values: Values) => boolean>>;
}

/** A write: the values of an operation and its declaration, which receives only these values. */
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

/** Evidence only that the write was done. */
export const NO_EVIDENCE: WriteEvidence = { type: 'none' };
