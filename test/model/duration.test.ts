import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../src/model/duration.ts';

test.for([
  ['30s', 30_000],
  ['10m', 600_000],
  ['1h30m', 5_400_000],
  ['1h0m5s', 3_605_000],
  ['0s', 0],
  ['999999h', 3_599_996_400_000],
  ['', undefined],
  ['30', undefined],
  ['1.5h', undefined],
  ['1m1h', undefined],
  ['30 s', undefined],
  ['-1s', undefined],
  ['1d', undefined],
  ['1h1h', undefined],
] as const)('%s is %s milliseconds', ([text, durationMs]) => {
  expect(parseDuration(text)).toBe(durationMs);
});

test('what is formatted is read back, to the second', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (durationMs) => {
      expect(parseDuration(formatDuration(durationMs))).toBe(Math.floor(durationMs / 1000) * 1000);
    }),
  );
});
