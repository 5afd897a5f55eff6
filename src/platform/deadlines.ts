import type { MonotonicMs } from '../model/time.ts';
import { after, type Clock, NOT_NEEDED } from '../runtime/clock.ts';

/** A task with a deadline. */
export interface Expiring {
  /** Called once when the deadline passes, unless the task was removed before. */
  expire(): void;
}

export type Deadlines = ReturnType<typeof createDeadlines>;

/** Timers are limited to about 24 days; a sleep that ends too early is repeated. */
const SLEEP_MS_MAX = 86_400_000;

/**
 * Returns deadlines that share one sleep: most requests are answered in time, and a sleep for each of them would cost as much as
 * sending it.
 */
export function createDeadlines(clock: Clock) {
  const dueMs = new Map<Expiring, MonotonicMs>();
  let sleep: { readonly untilMs: MonotonicMs; readonly stop: AbortController } | undefined;

  function wakeBy(atMs: MonotonicMs): void {
    if (sleep !== undefined && sleep.untilMs <= atMs) return;
    stopSleeping();
    const mine = { untilMs: atMs, stop: new AbortController() };
    sleep = mine;
    const ms = Math.min(SLEEP_MS_MAX, Math.max(1, Math.ceil(atMs - clock.monotonic())));
    after(clock, ms, mine.stop.signal, () => {
      if (sleep === mine) look();
    });
  }

  function stopSleeping(): void {
    sleep?.stop.abort(NOT_NEEDED);
    sleep = undefined;
  }

  function look(): void {
    sleep = undefined;
    const nowMs = clock.monotonic();
    const late: Expiring[] = [];
    let nextMs: MonotonicMs = Number.POSITIVE_INFINITY;
    for (const [one, atMs] of dueMs) {
      if (atMs <= nowMs) late.push(one);
      else nextMs = Math.min(nextMs, atMs);
    }
    // Each is checked, because the one before may have removed it.
    for (const one of late) if (dueMs.delete(one)) one.expire();
    if (dueMs.size > 0 && nextMs < Number.POSITIVE_INFINITY) wakeBy(nextMs);
  }

  return {
    add: (one: Expiring, timeoutMs: number): void => {
      const atMs = clock.monotonic() + timeoutMs;
      dueMs.set(one, atMs);
      wakeBy(atMs);
    },
    /** Must be called for each task: the sleep lasts while any task is left, and keeps the process alive. */
    remove: (one: Expiring): void => {
      dueMs.delete(one);
      if (dueMs.size === 0) stopSleeping();
    },
  };
}
