import type { Tenure } from './leases.ts';

/** What a fault does to the leaderships that it strikes: they all end, or none expires. */
export type Expected = 'ends' | 'stays';

/** A leadership at the moment of a fault. */
export interface Struck {
  readonly unit: string;
  readonly epoch: number;
}

/**
 * Returns the leaderships that are not as the fault should have left them. A lease that was released had no need to expire: its holder has
 * handed the unit over, to balance the replicas.
 */
export function unexpected(
  expected: Expected,
  struck: readonly Struck[],
  tenures: ReadonlyMap<string, readonly Tenure[]>,
): readonly string[] {
  return struck.flatMap(({ unit, epoch }) => {
    const tenure = tenures.get(unit)?.find((one) => one.epoch === epoch);
    if (tenure === undefined) return [`${unit}: epoch ${epoch} is not recorded`];
    const { next, releasedMs } = tenure;
    if (expected === 'ends') return next === undefined ? [`${unit}: epoch ${epoch} survived the fault`] : [];
    return next === undefined || releasedMs !== undefined
      ? []
      : [`${unit}: epoch ${epoch} expired, and epoch ${next.epoch} followed; the fault was shorter than the lease`];
  });
}
