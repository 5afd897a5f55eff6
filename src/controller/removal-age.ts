import type { Action } from '../model/plan.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { AppRecord } from './ledger-records.ts';

/** So often what was watched is written down: after a crash, no more than this is waited for again. */
export const AGE_EVERY_MS = 60_000;

/**
 * Counts the time since the last call towards everything that is to be removed. It goes by the monotonic clock of this
 * process, so a wall clock that is set changes nothing, and what nobody watched does not count.
 * @param isStanding what is accepted is what the source says; otherwise the time does not count either.
 * @param maxMs nothing is older than it must be: what waits for a person is not written down for ever.
 */
export function watch(record: AppRecord, nowMs: MonotonicMs, isStanding: boolean, maxMs: number): void {
  const sinceMs = record.watchedMs ?? nowMs;
  record.watchedMs = nowMs;
  const gone = Object.entries(record.kept.goneForMs);
  if (!isStanding || gone.length === 0 || nowMs <= sinceMs) return;
  const older = gone.map(([object, forMs]) => [object, Math.max(forMs, Math.min(maxMs, forMs + nowMs - sinceMs))]);
  record.kept = { ...record.kept, goneForMs: Object.fromEntries(older) as Record<string, number> };
}

/** What is to be removed now; what is not, any more, begins anew another time. */
export function keepGone(record: AppRecord, removals: readonly Action[], moved: ReadonlySet<string>): void {
  const { goneForMs } = record.kept;
  const kept = Object.fromEntries(removals.map(({ object }) => [object, goneForMs[object] ?? 0]));
  const going = new Set(removals.flatMap(({ object, takesAlong = [] }) => [object, ...takesAlong]));
  const moving = moved.union(new Set(record.kept.moved)).intersection(going);
  record.kept = { ...record.kept, goneForMs: kept, moved: [...moving] };
}

/** How long it must still be gone. */
export function remainingMs({ kept }: AppRecord, object: string, pruneAfterMs: number): number {
  return pruneAfterMs - (kept.goneForMs[object] ?? 0);
}
