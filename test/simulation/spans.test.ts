import { expect, test } from 'vitest';
import { coveredMs } from './spans.ts';

test('what several spans cover counts once, and only between the two moments', () => {
  const spans = [
    { fromMs: 50, untilMs: undefined },
    { fromMs: 0, untilMs: 20 },
    { fromMs: 10, untilMs: 30 },
  ];
  expect(coveredMs(spans, 0, 100)).toBe(80);
  expect(coveredMs(spans, 5, 25)).toBe(20);
  expect(coveredMs(spans, 30, 50)).toBe(0);
  expect(coveredMs([], 0, 100)).toBe(0);
});
