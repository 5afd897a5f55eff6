import { expect, test } from 'vitest';
import { retryWithin } from '../../src/ledger/retry-within.ts';
import { seededRandom } from '../support/virtual-clock.ts';

test('attempts follow each other quickly at first, then ten times within a lease, and each process at its own times', () => {
  const [one, two] = [seededRandom(1), seededRandom(2)];
  const waits = Array.from({ length: 12 }, (_, at) => retryWithin(15_000, at + 1, one));
  expect(waits[0]).toBeGreaterThanOrEqual(150 * 0.75);
  expect(waits[0]).toBeLessThan(150 * 1.25);
  expect(Math.max(...waits)).toBeLessThan(1_500 * 1.25);
  expect(Math.min(...waits.slice(5))).toBeGreaterThanOrEqual(1_500 * 0.75);
  expect(retryWithin(15_000, 1, two)).not.toBe(waits[0]);
  // A lease survives an outage of half its length, whenever that begins between two renewals.
  expect(5_000 + 7_500 + 1_500 * 1.25).toBeLessThan(15_000);
});
