import { type Disposition, PortolanError } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import { arrayOf, objectOf, ref, type Schema, text, type TypeOf } from '../model/schema-words.ts';

const status: Schema<number> = { type: 'integer', minimum: 400, maximum: 599 };

export const problemDetailsSchema = objectOf('An error (RFC 9457), with a stable code and what to do next.', {
  // `urn:portolan:problem:<code>`.
  type: text,
  title: text,
  status,
  // The error and its effect.
  detail: text,
  // Stable, `area/name`.
  code: text,
  remedy: text,
  // Problems of the manifests in the request, each with its position.
  'problems?': arrayOf(ref<Problem>('ManifestProblem')),
});
export type ProblemDetails = TypeOf<typeof problemDetailsSchema>;

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  408: 'Request timeout',
  409: 'Conflict',
  413: 'Too large',
  415: 'Not JSON',
  417: 'Expectation failed',
  421: 'Wrong host',
  422: 'Invalid input',
  429: 'Too many requests',
  431: 'Headers too large',
  500: 'Internal server error',
  502: 'Bad gateway',
  503: 'Service unavailable',
  504: 'Timeout',
};

type ProblemFacts = Pick<ProblemDetails, 'detail' | 'remedy' | 'problems'>;

export function problem(status: number, code: string, facts: ProblemFacts): ProblemDetails {
  const title = TITLES[status] ?? 'Error';
  return { type: `urn:portolan:problem:${code}`, title, status, code, ...facts };
}

const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  'controller/unknown-application': 404,
  'controller/nothing-to-approve': 409,
  'controller/other-plan': 409,
  'controller/nothing-to-adopt': 409,
  'controller/not-orphaned': 404,
  'ledger/no-intent': 404,
  'ledger/no-object': 404,
  'ledger/intent-decided': 409,
  'monitoring/too-many-requests': 429,
  'controller/command-pending': 504,
  'ledger/unreachable': 503,
  'ledger/unanswered': 503,
};

/** Returns the problem for an error; undefined for a bug, which is not thrown on purpose. */
export function problemOf(error: unknown): ProblemDetails | undefined {
  if (error instanceof RequestProblem) return error.details;
  if (!(error instanceof PortolanError)) return undefined;
  const { code, message: detail, remedy } = error;
  return problem(STATUS_OF_CODE[code] ?? STATUS_OF_DISPOSITION[error.disposition], code, { detail, remedy });
}

const MAY_BE_DONE: ReadonlySet<string> = new Set([
  'controller/command-pending',
  'controller/sync-incomplete',
  'ledger/unanswered',
]);

/** Returns whether a request that failed with this error has an effect or may have one, which no other answer may deny. */
export function mayBeDone(error: unknown): boolean {
  return error instanceof PortolanError && MAY_BE_DONE.has(error.code);
}

const STATUS_OF_DISPOSITION: Readonly<Record<Disposition, number>> = {
  invalid: 422,
  'ask-human': 409,
  locked: 409,
  unreachable: 502,
  retry: 503,
  'give-up': 500,
};

/** Thrown to answer a request with a problem. */
export class RequestProblem extends Error {
  readonly details: ProblemDetails;
  /** Seconds; becomes `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(details: ProblemDetails, retryAfter?: number) {
    super(details.detail);
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

/** Returns the error to throw for a request that is refused. `retryAfter` in seconds. */
export function refusal(
  status: number,
  code: string,
  { retryAfter, ...facts }: ProblemFacts & { readonly retryAfter?: number },
): RequestProblem {
  return new RequestProblem(problem(status, code, facts), retryAfter);
}
