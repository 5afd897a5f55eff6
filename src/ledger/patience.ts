import type { Clock } from '../runtime/clock.ts';
import type { DatabaseFault } from './errors.ts';

/** Waits between attempts: about 5 s in all, during which other work continues. */
const waitsMs = [50, 150, 300, 500, 1000, 1500, 1500] as const;

/** Retries while the database is locked or out of reach; the last attempt's error is the caller's. */
export async function whileBusy<Result>(
  attempt: () => Promise<Result>,
  faultOf: (error: unknown) => DatabaseFault,
  clock: Clock,
): Promise<Result> {
  for (const waitMs of waitsMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!['busy', 'lost'].includes(faultOf(error))) throw error;
      await clock.sleep(waitMs);
    }
  }
  return attempt();
}
