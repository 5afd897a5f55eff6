import { expect, test } from 'vitest';
import {
  crashesAfterFaults,
  crashPairs,
  everything,
  singleCrashes,
  singleFaults,
  type Sweep,
  sweep,
} from './exhaustive.ts';

/** The least that each sweep must have run: fewer means that it lost its points. */
const sweeps: readonly (readonly [string, Sweep, number])[] = [
  ['every crash point', singleCrashes, 1_500],
  ['every fault at every effect', singleFaults, 20_000],
  ['every pair of crash points', crashPairs, 100_000],
  ['every crash behind every kind of fault', crashesAfterFaults, 18_000],
];

for (const [what, kind, least] of sweeps) {
  test(
    what,
    async () => {
      const report = await sweep(kind, everything);
      console.log(`${what}: ${report.schedules} schedules`);
      expect(report.failures).toEqual([]);
      expect(report.schedules).toBeGreaterThan(least);
    },
    30 * 60_000,
  );
}
