import type { Random } from '../runtime/random.ts';

/** The first wait, and the longest one, as parts of a lease: most outages are short, and a long one must not cost the lease. */
const FIRST_PART = 100;
const LONGEST_PART = 10;

/**
 * Returns the wait before the next attempt to reach the database in whole milliseconds: it doubles with each failure, and differs between
 * processes, because an outage hits all of them at once.
 * @param leaseMs the length of the leases that expire unless an attempt succeeds.
 * @param failures how many attempts failed, at least 1.
 */
export function retryWithin(leaseMs: number, failures: number, random: Random): number {
  const waitMs = Math.min(leaseMs / LONGEST_PART, (leaseMs / FIRST_PART) * 2 ** (failures - 1));
  return Math.round(waitMs * (0.75 + random.next() / 2));
}
