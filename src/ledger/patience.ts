import type { Clock } from '../runtime/clock.ts';

/** Waits between attempts: about 5 s in all, during which other work continues. */
const waitsMs = [50, 150, 300, 500, 1000, 1500, 1500] as const;

/** Retries while the database is locked or out of reach; the last attempt's error is the caller's. */
export async function whileBusy<Result>(
  attempt: () => Promise<Result>,
  isBusy: (error: unknown) => boolean,
  clock: Clock,
): Promise<Result> {
  for (const waitMs of waitsMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      await clock.sleep(waitMs);
    }
  }
  return attempt();
}
