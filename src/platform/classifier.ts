import { PortolanError } from '../model/errors.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Answer, parseAnswer, type Redact, safeText } from './answer.ts';
import tableJson from './classifier-table.json' with { type: 'json' };
import { retryAfterMs } from './retrying.ts';
import type { PlatformResponse, TransportError } from './transport.ts';
import type { AnswerSummary, ClassifierRow, Proof, Verdict, WriteEvidence } from './verdict.ts';
import { NO_EVIDENCE, type WriteRequest } from './writes.ts';

/** The conclusions from answers other than 2xx, as data. An answer that no row matches is unknown. */
export const classifierTable = tableJson as unknown as {
  readonly version: number;
  readonly rows: readonly ClassifierRow[];
};

/** An answer that no row matches, for the metric `classifier_unseen_total`. */
export interface UnseenAnswer {
  readonly operation: string;
  readonly status: number;
  readonly code: number | undefined;
}

/** Returns the verdict about a write by its answer: unknown unless proved. It does not throw for any answer of a server. */
export function classify(
  write: WriteRequest,
  response: PlatformResponse,
  clock: Clock,
  onUnseen?: (unseen: UnseenAnswer) => void,
  redact?: Redact,
): Verdict {
  const answer = parseAnswer(response, redact);
  const { summary } = answer;
  if (answer.status >= 200 && answer.status < 300) return classifySuccess(write, answer);
  const row = rowFor(write, answer, response);
  if (row === undefined) {
    onUnseen?.({ operation: write.operation, status: answer.status, code: answer.code });
    return { verdict: 'unknown', answer: summary };
  }
  const proof = proofOf(row, write);
  if (row.verdict === 'unknown' || proof === 'none') return { verdict: 'unknown', answer: summary };
  switch (row.verdict) {
    case 'applied':
      return { verdict: 'applied', answer: summary, evidence: NO_EVIDENCE };
    case 'rejected':
      return {
        verdict: 'rejected',
        answer: summary,
        reason: row.reason,
        ...(proof === 'observation' ? { needsObservation: true } : {}),
      };
    case 'exists':
      return { verdict: 'exists', answer: summary };
    case 'throttled':
      return { verdict: 'throttled', answer: summary, retryAfterMs: retryAfterMs(response.retryAfter, clock) };
    default:
      return unreachable(row);
  }
}

/** Returns the verdict about a write without an answer: unknown unless no byte of the request left. */
export function classifyFailure(error: TransportError, redact?: Redact): Verdict {
  const answer = { message: safeText(error.message, redact) };
  return error.failure === 'unsent'
    ? { verdict: 'rejected', answer, reason: 'unsent' }
    : { verdict: 'unknown', answer };
}

/** Returns the row that decides about an answer other than 2xx; undefined: the verdict is unknown. */
export function decidingRow(write: WriteRequest, response: PlatformResponse): ClassifierRow | undefined {
  return rowFor(write, parseAnswer(response), response);
}

/** Returns whether a recorded answer was throttling, which proves nothing about the request. */
export function asksToWait({ status, message }: AnswerSummary): boolean {
  const words = message.toLowerCase();
  return classifierTable.rows.some(
    (row) =>
      row.verdict === 'throttled' &&
      row.status.some((one) => one === status) &&
      (row.says?.some((part) => words.includes(part)) ?? true),
  );
}

/** Returns the proof that a row needs for a write of this class; `none` if the row does not name the class. */
function proofOf(row: ClassifierRow, write: WriteRequest): Proof {
  return row.proof[write.declared.class] ?? 'none';
}

function rowFor(write: WriteRequest, answer: Answer, response: PlatformResponse): ClassifierRow | undefined {
  const { rows = [] } = write.declared;
  const fitting = [...rows, ...classifierTable.rows].filter((row) => fits(row, write, answer, response));
  return fitting.find((row) => row.first === true) ?? fitting[0];
}

function fits(row: ClassifierRow, write: WriteRequest, answer: Answer, response: PlatformResponse): boolean {
  const words = `${answer.msg}\n${answer.shown}`.toLowerCase();
  return (
    row.status.includes(answer.status) &&
    (row.operations?.includes(write.operation) ?? true) &&
    (row.code?.some((code) => code === answer.code) ?? true) &&
    (row.msg?.includes(answer.msg) ?? true) &&
    (row.says?.some((part) => words.includes(part)) ?? true) &&
    (row.shown?.includes(answer.shown) ?? true) &&
    (row.retryAfter !== true || response.retryAfter !== null) &&
    (row.own !== true || answer.isOwnError) &&
    (row.when === undefined || write.declared.conditions?.[row.when]?.(write as never) === true)
  );
}

/** Returns the verdict about a 2xx: the operation decides what its body must show. */
function classifySuccess(write: WriteRequest, answer: Answer): Verdict {
  const { summary } = answer;
  if (!answer.isSuccess) return { verdict: 'unknown', answer: summary };
  try {
    const evidence = evidenceOf(write, answer);
    if (typeof evidence !== 'string') return { verdict: 'applied', answer: summary, evidence };
    return { verdict: 'unknown', answer: { ...summary, message: evidence } };
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return { verdict: 'unknown', answer: { ...summary, message: safeText(error.message) } };
  }
}

/** Returns the evidence in an answer, or why it has none. @throws PortolanError `platform/schema-drift` */
function evidenceOf(write: WriteRequest, answer: Answer): WriteEvidence | string {
  // Some proxies answer 200 with their own page. An empty body is a success if no body is documented.
  if (!answer.isJson && !answer.isEmpty) return answer.summary.message;
  return write.declared.evidence(answer, write as never);
}
