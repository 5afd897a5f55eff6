import type { MonotonicMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';

/** Something that may take too long. */
export interface Expiring {
  /** Its time is up; called once, and not after it was removed. */
  expire(): void;
}

export type Deadlines = ReturnType<typeof createDeadlines>;

/** Timers know no longer time than about 24 days; whoever is woken too early sleeps on. */
const SLEEP_MS_MAX = 86_400_000;

/**
 * What is under way, and when its time is up. One sleep looks after all of it: most requests are answered in time, and
 * to end a sleep of its own for each of them costs as much as sending them.
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
    clock.sleep(ms, mine.stop.signal).then(
      () => {
        if (sleep === mine) look();
      },
      (error: unknown) => {
        if (!mine.stop.signal.aborted) throw error;
      },
    );
  }

  function stopSleeping(): void {
    sleep?.stop.abort();
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
    // Each is looked up again: the one before may have ended it.
    for (const one of late) if (dueMs.delete(one)) one.expire();
    if (dueMs.size > 0 && nextMs < Number.POSITIVE_INFINITY) wakeBy(nextMs);
  }

  return {
    add: (one: Expiring, timeoutMs: number): void => {
      const atMs = clock.monotonic() + timeoutMs;
      dueMs.set(one, atMs);
      wakeBy(atMs);
    },
    /** Must follow in the end: the sleep goes on as long as there is anything left, and keeps the process alive. */
    remove: (one: Expiring): void => {
      dueMs.delete(one);
      if (dueMs.size === 0) stopSleeping();
    },
  };
}
