import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyBackoffMs } from '../../src/controller/queue.ts';

const chance = (value: number) => ({ next: () => value, hex: () => '' });

test.for([
  [1, 5, 10],
  [2, 10, 20],
  [8, 640, 1280],
  [17, 327_680, 655_360],
  [18, 500_000, 1_000_000],
  [5000, 500_000, 1_000_000],
] as const)('after %i failures in a row a key waits %i … %i ms', ([failures, fromMs, belowMs]) => {
  expect(keyBackoffMs(failures, chance(0))).toBe(fromMs);
  expect(keyBackoffMs(failures, chance(1 - 2 ** -53))).toBeCloseTo(belowMs, 5);
});

test('the delay lies within 5 ms … 1000 s and never shrinks with more failures', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (failures, luck) => {
        const delayMs = keyBackoffMs(failures, chance(luck));
        expect(delayMs).toBeGreaterThanOrEqual(5);
        expect(delayMs).toBeLessThanOrEqual(1_000_000);
        expect(keyBackoffMs(failures + 1, chance(luck))).toBeGreaterThanOrEqual(delayMs);
      },
    ),
  );
});

test('a count of failures below 1 is a mistake of the caller', () => {
  for (const failures of [0, -1, Number.NaN]) expect(() => keyBackoffMs(failures, chance(0))).toThrow(RangeError);
});
