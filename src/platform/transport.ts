import type { Secret } from '../model/secret.ts';

/** JSON that may contain secrets. They are revealed only when bytes are written, and left out of hashes. */
export type WireJson = string | number | boolean | null | Secret | readonly WireJson[] | WireObject;
export interface WireObject {
  readonly [key: string]: WireJson | undefined;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

export const RECORD_BYTES_MAX = 4 * 1024 * 1024;
export const LIST_BYTES_MAX = 64 * 1024 * 1024;

/** One HTTP request to the platform. */
export interface PlatformRequest {
  /** Name of the operation, for budgets, metrics, messages and fault rules. */
  readonly operation: string;
  readonly method: HttpMethod;
  /** Absolute path, every segment percent-encoded, no query: `/openapi/v1/regions`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Sent as JSON; absent: no body. */
  readonly body?: WireObject;
  /** false: one attempt on a fresh socket, no redirect. */
  readonly isRead: boolean;
  readonly timeoutMs: number;
  /** Maximum length of the answer; a longer one is a failure, not a truncated list. Absent: `RECORD_BYTES_MAX`. */
  readonly answerBytesMax?: number;
  readonly signal?: AbortSignal;
  /** Called when the socket of a write is open, before its first byte. false: it is closed, and nothing is sent. */
  readonly mayLeave?: (() => boolean) | undefined;
}

/** An answer of any status. The body is the complete decoded text. */
export interface PlatformResponse {
  readonly status: number;
  readonly contentType: string | null;
  /** The raw `Retry-After`. */
  readonly retryAfter: string | null;
  readonly body: string;
  /** The parsed body, from a transport that has it: a simulation repeats equal requests. */
  readonly json?: unknown;
}

/**
 * Sends one request once. Resolves on any HTTP status, redirects included (they are never followed).
 * @throws TransportError when no complete answer came.
 */
export type Transport = (request: PlatformRequest) => Promise<PlatformResponse>;

/** `unsent`: provably no byte of the request left (refused, DNS, TLS). `ambiguous`: the server may have handled it. */
export type TransportFailure = 'unsent' | 'ambiguous';

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly failure: TransportFailure;
  /** `ECONNREFUSED`, `ETIMEDOUT`, `TRUNCATED`, `TOO_LARGE`, `ABORTED`, … */
  readonly code: string;

  constructor(failure: TransportFailure, code: string, message: string) {
    super(message);
    this.failure = failure;
    this.code = code;
  }
}
