import { expect, test } from 'vitest';
import { killCycles } from './kill-cycles.ts';

test('25 kills of the real program lose nothing and make nothing twice', async () => {
  const report = await killCycles(25, 20_261_120);
  expect(report.violations).toEqual([]);
  expect(report.kills).toBeGreaterThan(10);
  expect(report.acknowledged).toBeGreaterThan(10);
});
