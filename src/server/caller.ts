import type { EpochMs } from '../model/time.ts';

/** A person or program whose identity was checked. `permissions.ts` says what it may do. */
export interface Caller {
  /** Name of the token or of the user, for the history and the log. */
  readonly name: string;
  /** `token`: the name is that of a token of Settings, also in a session that was started with it. `oidc`: of a user. */
  readonly via: 'token' | 'oidc';
  /** Groups of the user, as the provider reported them at the sign-in; empty for a token. */
  readonly groups: readonly string[];
  /** End of the session; null: the request has no session. */
  readonly sessionEndsMs: EpochMs | null;
}
