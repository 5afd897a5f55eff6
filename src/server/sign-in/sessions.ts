import { createHash } from 'node:crypto';
import type { SessionSettings } from '../../configuration/settings/sign-in-spec.ts';
import type { EpochMs } from '../../model/time.ts';
import { after, type Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { signInRefusal } from './refusals.ts';

/** The user of a session, as proved at the sign-in. */
export type SessionUser =
  /** @param fingerprint of the token, which must still be the same one. */
  | { readonly via: 'token'; readonly name: string; readonly fingerprint: string }
  /** @param provider the provider and the client, which must still be the configured ones. */
  | { readonly via: 'oidc'; readonly name: string; readonly groups: readonly string[]; readonly provider: string };

export interface Session {
  readonly user: SessionUser;
  /** The latest end, whatever the user does. */
  readonly endsMs: EpochMs;
}

interface Held extends Session {
  /** By the monotonic clock. */
  readonly startedMs: number;
  usedMs: number;
  readonly stop: AbortController;
}

/** Sessions of browsers. */
export interface SessionStore {
  /** Starts a session. @returns its id, for the cookie only. @throws RequestProblem 503 when there are too many. */
  start(user: SessionUser): Promise<string>;
  /** Returns the session with this id, and counts as a use of it; undefined when there is none. */
  use(id: string): Promise<Session | undefined>;
  end(id: string): Promise<void>;
  /** Ends the sessions of users that are no longer valid. */
  keep(isValid: (user: SessionUser) => boolean): void;
  /** Calls `then` once the session with this id has ended, unless `unless` is aborted before. */
  whenEnded(id: string, unless: AbortSignal, then: () => void): void;
}

/** Sessions of one user; the next sign-in ends the one that was not used for the longest time. */
export const OF_USER_MAX = 20;
const ID_BYTES = 32;
/** Seconds. */
export const RETRY_S = 60;

/**
 * Holds the sessions. They are in memory, and only as hashes of their ids: a session that ended is gone even if a browser keeps its
 * cookie, and neither a file nor a heap dump has an id. In exchange, a restart ends all of them.
 */
export class Sessions implements SessionStore {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #settings: () => SessionSettings;
  /** By the hash of the id. */
  readonly #held = new Map<string, Held>();

  constructor(clock: Clock, random: Random, settings: () => SessionSettings) {
    this.#clock = clock;
    this.#random = random;
    this.#settings = settings;
  }

  async start(user: SessionUser): Promise<string> {
    const { lifetimeMs, max } = this.#settings();
    this.#endWhere((session) => this.#leftMs(session) <= 0);
    const own = [...this.#held].filter(([, held]) => held.user.via === user.via && held.user.name === user.name);
    const [oldest] = own.sort(([, left], [, right]) => left.usedMs - right.usedMs);
    if (oldest !== undefined && own.length >= OF_USER_MAX) this.#end(oldest[0]);
    if (this.#held.size >= max) throw signInRefusal('too-many-sessions', RETRY_S);
    const id = newId(this.#random);
    const nowMs = this.#clock.monotonic();
    const endsMs = this.#clock.now() + lifetimeMs;
    this.#held.set(hashOf(id), { user, endsMs, startedMs: nowMs, usedMs: nowMs, stop: new AbortController() });
    return id;
  }

  async use(id: string): Promise<Session | undefined> {
    const session = this.#alive(id);
    if (session !== undefined) session.usedMs = this.#clock.monotonic();
    return session;
  }

  async end(id: string): Promise<void> {
    this.#end(hashOf(id));
  }

  keep(isValid: (user: SessionUser) => boolean): void {
    this.#endWhere(({ user }) => !isValid(user));
  }

  whenEnded(id: string, unless: AbortSignal, then: () => void): void {
    const session = this.#alive(id);
    if (session === undefined) {
      then();
      return;
    }
    session.stop.signal.addEventListener('abort', then, { signal: unless, once: true });
    const expire = (): void => {
      if (this.#alive(id) !== undefined) after(this.#clock, this.#leftMs(session), unless, expire);
    };
    expire();
  }

  #alive(id: string): Held | undefined {
    const hash = hashOf(id);
    const session = this.#held.get(hash);
    if (session === undefined || this.#leftMs(session) > 0) return session;
    this.#end(hash);
    return undefined;
  }

  #leftMs({ startedMs, usedMs }: Held): number {
    const { idleMs, lifetimeMs } = this.#settings();
    return Math.min(usedMs + idleMs, startedMs + lifetimeMs) - this.#clock.monotonic();
  }

  #endWhere(isOver: (session: Held) => boolean): void {
    for (const [hash, session] of this.#held) if (isOver(session)) this.#end(hash);
  }

  #end(hash: string): void {
    this.#held.get(hash)?.stop.abort(new Error('the session has ended'));
    this.#held.delete(hash);
  }
}

/** Returns a new id of a session. */
export function newId(random: Random): string {
  return random.hex(ID_BYTES);
}

export function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
