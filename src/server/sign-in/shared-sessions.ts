import type { SessionSettings } from '../../configuration/settings/sign-in-spec.ts';
import type { SharedLedger, StoredSession } from '../../ledger/shared.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { MonotonicMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { soon } from '../../runtime/look.ts';
import type { Random } from '../../runtime/random.ts';
import { sealed, unsealed } from '../secrets.ts';
import { signInRefusal } from './refusals.ts';
import { hashOf, newId, OF_USER_MAX, RETRY_S, type Session, type SessionStore, type SessionUser } from './sessions.ts';

/** A use is written to the database at most this often, and so often within the idle time. */
const USED_EVERY_MS = 60_000;
const USES_OF_IDLE = 4;
/** Interval of checks of the sessions whose end ends a stream. A signal makes them earlier. */
const WATCH_EVERY_MS = 5_000;
/** After a failure, the database is not asked for this time, so that not every request waits for it. */
const AWAY_MS = 2_000;

export interface SharedSessionParts {
  readonly shared: Pick<SharedLedger, 'sessions' | 'onSignal'>;
  /** Time for which a session that was seen lets its user in while the database is out of reach. */
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: () => SessionSettings;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
}

interface Seen extends Session {
  readonly checkedMs: MonotonicMs;
  /** By the monotonic clock. */
  readonly untilMs: MonotonicMs;
}

/**
 * Holds the sessions in the database of the replicas, so that a sign-in at one of them counts at all, and a sign-out is final
 * everywhere: each request reads its session. While the database is out of reach, a session that was seen before counts for as long
 * as a lease, and no user can sign in or out. The database has hashes of ids only, and what proves a token is sealed with the id.
 */
export class SharedSessionStore implements SessionStore {
  readonly #parts: SharedSessionParts;
  readonly #seen = new Map<string, Seen>();
  /** Functions to call once a session has ended, by its hash. */
  readonly #watched = new Map<string, Set<() => void>>();
  #isWatching = false;
  #awayUntilMs: MonotonicMs = Number.NEGATIVE_INFINITY;
  /** Number of statements that take too long. While one does, no other is sent. */
  #late = 0;

  constructor(parts: SharedSessionParts) {
    this.#parts = parts;
    const unlisten = parts.shared.onSignal((topic) => {
      if (topic === 'session') void this.#checkWatched();
    });
    parts.signal.addEventListener('abort', unlisten, { once: true });
  }

  async start(user: SessionUser): Promise<string> {
    const { shared, random, settings } = this.#parts;
    const id = newId(random);
    const stored = user.via === 'token' ? { ...user, fingerprint: sealed(user.fingerprint, id) } : user;
    await this.#reaching(async () => {
      // The one used longest ago comes first.
      const all = await this.#ask(() => shared.sessions.all());
      const isOver = (session: StoredSession): boolean => this.#leftMs(session) <= 0;
      const own = all.filter((session) => !isOver(session) && isSameUser(session.user, user));
      const surplus = own.slice(0, Math.max(0, own.length - OF_USER_MAX + 1));
      const ended = [...all.filter(isOver), ...surplus].map(({ hash }) => hash);
      if (ended.length > 0) await this.#ask(() => shared.sessions.end(ended));
      if (all.length - ended.length >= settings().max) throw signInRefusal('too-many-sessions', RETRY_S);
      await this.#ask(() => shared.sessions.start(hashOf(id), stored as unknown as Json));
    });
    return id;
  }

  async use(id: string): Promise<Session | undefined> {
    return this.#find(hashOf(id), (user) =>
      user.via === 'token' ? { ...user, fingerprint: unsealed(user.fingerprint, id) ?? '' } : user,
    );
  }

  async end(id: string): Promise<void> {
    const hash = hashOf(id);
    await this.#reaching(() => this.#ask(() => this.#parts.shared.sessions.end([hash])));
    this.#ended(hash);
  }

  /** Each use checks its user, by the configuration of its replica, so no session is removed here. */
  keep(isValid: (user: SessionUser) => boolean): void {
    for (const [hash, { user }] of this.#seen) if (!isValid(user)) this.#ended(hash);
  }

  whenEnded(id: string, unless: AbortSignal, then: () => void): void {
    const hash = hashOf(id);
    const watchers = this.#watched.get(hash) ?? new Set();
    this.#watched.set(hash, watchers.add(then));
    const leave = (): void => {
      watchers.delete(then);
      if (watchers.size === 0) this.#watched.delete(hash);
    };
    if (unless.aborted) leave();
    else unless.addEventListener('abort', leave, { once: true });
    void this.#watch();
  }

  /**
   * @param open returns the user as it was before it was stored; undefined: a check that does not count as a use.
   * @throws RequestProblem while the database does not answer, and the session was not seen within the last lease.
   */
  async #find(hash: string, open?: (user: SessionUser) => SessionUser): Promise<Session | undefined> {
    const { shared, clock } = this.#parts;
    if (clock.monotonic() < this.#awayUntilMs) return this.#known(hash);
    let stored: StoredSession | undefined;
    try {
      stored = await this.#ask(() => shared.sessions.find(hash));
    } catch (error) {
      if (!(error instanceof PortolanError || error instanceof Late)) throw error;
      this.#awayUntilMs = clock.monotonic() + AWAY_MS;
      return this.#known(hash);
    }
    const leftMs = stored === undefined ? 0 : this.#leftMs(stored);
    if (stored === undefined || leftMs <= 0) {
      this.#ended(hash);
      return undefined;
    }
    if (open !== undefined) this.#noteUse(stored);
    const user = stored.user as unknown as SessionUser;
    return this.#remember(stored, open?.(user) ?? this.#seen.get(hash)?.user ?? user, leftMs);
  }

  #remember({ hash, startedAgoMs }: StoredSession, user: SessionUser, leftMs: number): Session {
    const { clock, settings } = this.#parts;
    const { lifetimeMs, max } = settings();
    const nowMs = clock.monotonic();
    const endsMs = clock.now() + lifetimeMs - startedAgoMs;
    const seen = { user, endsMs, checkedMs: nowMs, untilMs: nowMs + leftMs };
    this.#seen.delete(hash);
    this.#seen.set(hash, seen);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > max && oldest !== undefined) this.#seen.delete(oldest);
    return seen;
  }

  #known(hash: string): Session {
    const { clock, leaseMs } = this.#parts;
    const seen = this.#seen.get(hash);
    const nowMs = clock.monotonic();
    if (seen === undefined || nowMs - seen.checkedMs > leaseMs || nowMs > seen.untilMs)
      throw signInRefusal('sessions-away', RETRY_S);
    return seen;
  }

  #noteUse({ hash, usedAgoMs }: StoredSession): void {
    const { shared, settings } = this.#parts;
    if (usedAgoMs < Math.min(USED_EVERY_MS, settings().idleMs / USES_OF_IDLE)) return;
    // The next request tries again.
    shared.sessions.use([hash]).catch((error: unknown) => {
      if (!(error instanceof PortolanError)) throw error;
    });
  }

  #leftMs({ startedAgoMs, usedAgoMs }: StoredSession): number {
    const { idleMs, lifetimeMs } = this.#parts.settings();
    return Math.min(idleMs - usedAgoMs, lifetimeMs - startedAgoMs);
  }

  #ended(hash: string): void {
    this.#seen.delete(hash);
    const watchers = this.#watched.get(hash);
    this.#watched.delete(hash);
    for (const then of watchers ?? []) then();
  }

  async #watch(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    while (this.#watched.size > 0) {
      try {
        await this.#parts.clock.sleep(WATCH_EVERY_MS, this.#parts.signal);
      } catch {
        return; // It closes.
      }
      await this.#checkWatched();
    }
    this.#isWatching = false;
  }

  async #checkWatched(): Promise<void> {
    for (const hash of this.#watched.keys()) {
      try {
        await this.#find(hash);
      } catch {
        // It cannot be checked any more.
        this.#ended(hash);
      }
    }
  }

  /** @throws Late if the database does not answer within two seconds; it may still carry the statement out. */
  async #ask<Answer>(statement: () => Promise<Answer>): Promise<Answer> {
    if (this.#late > 0) throw new Late();
    const asked = statement();
    const found = await soon(
      this.#parts.clock,
      asked.then((answer) => ({ answer })),
    );
    if (found !== undefined) return found.answer;
    this.#late += 1;
    const end = (): void => {
      this.#late -= 1;
    };
    asked.then(end, end);
    throw new Late();
  }

  async #reaching(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof PortolanError || error instanceof Late) throw signInRefusal('sessions-away', RETRY_S);
      throw error;
    }
  }
}

/** Says that the database did not answer in time. */
class Late extends Error {}

function isSameUser(stored: Json, { via, name }: SessionUser): boolean {
  const user = stored as unknown as SessionUser;
  return user.via === via && user.name === name;
}
