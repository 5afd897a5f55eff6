import type { SharedLedger, StoredSession } from '../../src/ledger/shared.ts';
import type { MemoryDatabase } from './memory-database.ts';

const EVENTS_KEPT = 5_000;

/** How one process reaches the database. */
interface Access {
  readonly database: MemoryDatabase;
  once<Answer>(operation: string, statement: () => Answer): Promise<Awaited<Answer>>;
  /** For what only reads. */
  patiently<Answer>(operation: string, statement: () => Answer): Promise<Awaited<Answer>>;
}

export function memoryEvents({ database, once, patiently }: Access): SharedLedger['events'] {
  return {
    append: (events) =>
      once('events', () => {
        for (const event of events) database.events.push({ sequence: (database.sequence += 1), event });
        database.events.splice(0, Math.max(0, database.events.length - EVENTS_KEPT));
        database.signal('event');
      }),
    since: (sequence, limit) =>
      patiently('events', () => {
        const events = database.events.filter((event) => event.sequence > sequence).slice(0, limit);
        return { server: database.server, events };
      }),
  };
}

export function memorySessions({ database, once, patiently }: Access): SharedLedger['sessions'] {
  return {
    start: (hash, user) =>
      once('sessions', () => {
        const nowMs = database.nowMs();
        database.sessions.set(hash, { user, startedMs: nowMs, usedMs: nowMs });
        database.signal('session');
      }),
    find: (hash) => patiently('sessions', () => storedSessions(database).find((one) => one.hash === hash)),
    all: () => patiently('sessions', () => storedSessions(database)),
    use: (hashes) =>
      once('sessions', () => {
        const { sessions, nowMs } = database;
        for (const hash of hashes) {
          const session = sessions.get(hash);
          if (session !== undefined) session.usedMs = nowMs();
        }
      }),
    end: (hashes) =>
      once('sessions', () => {
        for (const hash of hashes) database.sessions.delete(hash);
        database.signal('session');
      }),
  };
}

function storedSessions({ sessions, nowMs }: MemoryDatabase): readonly StoredSession[] {
  const now = nowMs();
  return [...sessions]
    .map(([hash, { user, startedMs, usedMs }]) => ({
      hash,
      user,
      startedAgoMs: now - startedMs,
      usedAgoMs: now - usedMs,
    }))
    .sort((left, right) => right.usedAgoMs - left.usedAgoMs);
}
