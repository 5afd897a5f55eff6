/** `documented` is the API as its documents have it and nothing else; `extended` is what the open-source server answers. */
export type Dialect = 'documented' | 'extended';

/** One HTTP request, bare: no socket, no stream. */
export interface SandboxRequest {
  /** Upper case: `GET`. */
  readonly method: string;
  /** Absolute path, segments percent-encoded, no query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body as text; `''` for none. */
  readonly body: string;
}

export interface SandboxResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Everything `handle` may know besides the state and the request: nothing is ambient. */
export interface SandboxContext {
  readonly nowMs: number;
  /** A fresh id of 32 lower-case hex characters, each time another. */
  newId(): string;
  readonly dialect: Dialect;
  /** The one accepted value of `Authorization`; null accepts every request. */
  readonly token: string | null;
  /** Accepted as well: the token of a user without rights in the enterprise. */
  readonly plainToken?: string | null;
  /**
   * true: the request lost the race that the real server has between its check for a duplicate rule and its insert,
   * so a second equal row is made.
   */
  readonly race?: boolean;
}

/** An answer before it is turned into text. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Present: `body` is text of this type, sent as it is. */
  readonly contentType?: string;
}
