import type { Clock } from '../runtime/clock.ts';
import type { DatabaseFault } from './errors.ts';
import type { MonotonicMs } from '../model/time.ts';

/** Waits between attempts: about 5 s in all, during which other work continues. */
const waitsMs = [50, 150, 300, 500, 1000, 1500, 1500] as const;

/**
 * Retries while the database is locked or out of reach; the last attempt's error is the caller's.
 * @param untilMs no attempt begins later; by default, only the number of attempts is limited.
 */
export async function whileBusy<Result>(
  attempt: () => Promise<Result>,
  faultOf: (error: unknown) => DatabaseFault,
  clock: Clock,
  untilMs: MonotonicMs = Number.POSITIVE_INFINITY,
): Promise<Result> {
  for (const waitMs of waitsMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!['busy', 'lost'].includes(faultOf(error)) || clock.monotonic() + waitMs >= untilMs) throw error;
      await clock.sleep(waitMs);
    }
  }
  return attempt();
}
