import { expect, test } from 'vitest';
import { killCycles } from './kill-cycles.ts';

test('300 kills of the real program lose nothing and make nothing twice', { timeout: 3_600_000 }, async () => {
  const report = await killCycles(300, 1);
  expect(report.violations).toEqual([]);
  expect(report.kills).toBeGreaterThan(150);
});
