import type { Action } from '../model/plan.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import type { Commits } from './commits.ts';
import type { AppRecord } from './ledger-records.ts';
import { STANDSTILL_MS } from './source-contact.ts';

/** Interval at which the age of removals is saved. A crash loses at most this much of it. */
export const AGE_EVERY_MS = 60_000;

/**
 * Adds the time since the last call to the age of each pending removal. It uses the monotonic clock of this process. So
 * a change of the wall clock has no effect, and time without a process, or in which it stood still, does not count.
 * @param isCurrent whether the accepted source is the present one; otherwise the time does not count.
 * @param maxMs maximum age, so that a removal that waits for an approval is not saved forever.
 */
export function addAge(record: AppRecord, nowMs: MonotonicMs, isCurrent: boolean, maxMs: number): void {
  const sinceMs = record.watchedMs ?? nowMs;
  record.watchedMs = nowMs;
  const gone = Object.entries(record.kept.goneForMs);
  if (!isCurrent || gone.length === 0 || nowMs <= sinceMs) return;
  const passedMs = Math.min(nowMs - sinceMs, STANDSTILL_MS);
  const older = gone.map(([object, forMs]) => [object, Math.max(forMs, Math.min(maxMs, forMs + passedMs))]);
  record.kept = { ...record.kept, goneForMs: Object.fromEntries(older) as Record<string, number> };
}

/**
 * Resets the age of pending removals if a revision that no pass observed may have named the objects: one that was accepted and
 * replaced while no process led the platform, for example. Call before `addAge`.
 * @param commits the accepted commits.
 */
export function restartAges(record: AppRecord, commits: Pick<Commits, 'changesSince'>): void {
  const { goneForMs, goneAtMs } = record.kept;
  if (goneAtMs === null) return;
  const changes = commits.changesSince(goneAtMs, record.id);
  // One change leads to the present revision.
  if (changes !== undefined && changes <= 1) return;
  const young = Object.keys(goneForMs).map((object) => [object, 0] as const);
  record.kept = { ...record.kept, goneForMs: Object.fromEntries(young) };
}

/**
 * Stores the pending removals of a plan. A removal that is not pending any more starts at age 0 the next time.
 * @param acceptedMs when the revision of the plan was accepted.
 */
export function setPendingRemovals(
  record: AppRecord,
  removals: readonly Action[],
  moved: ReadonlySet<string>,
  acceptedMs: EpochMs | null,
): void {
  const { goneForMs } = record.kept;
  const kept = Object.fromEntries(removals.map(({ object }) => [object, goneForMs[object] ?? 0]));
  const going = new Set(removals.flatMap(({ object, takesAlong = [] }) => [object, ...takesAlong]));
  const moving = moved.union(new Set(record.kept.moved)).intersection(going);
  const goneAtMs = removals.length === 0 ? null : (acceptedMs ?? record.kept.goneAtMs);
  record.kept = { ...record.kept, goneForMs: kept, goneAtMs, moved: [...moving] };
}

/** Returns how much longer an object must be gone from the source before it is removed. */
export function remainingMs({ kept }: AppRecord, object: string, pruneAfterMs: number): number {
  return pruneAfterMs - (kept.goneForMs[object] ?? 0);
}
