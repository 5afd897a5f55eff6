import { expect, test } from 'vitest';
import { replicaCycles } from './replicas/replica-cycles.ts';

const HOURS = 3_600_000;

test('300 faults of three replicas lose nothing and make nothing twice', { timeout: 3 * HOURS }, async () => {
  const report = await replicaCycles({ replicas: 3, cycles: 300, seed: 1, lease: '2s', settle: '1s' });
  expect(report.violations).toEqual([]);
  expect([...report.takeovers.values()].flat().length).toBeGreaterThan(100);
});

test('5 faults with the default lease and settle windows', { timeout: HOURS }, async () => {
  const report = await replicaCycles({ replicas: 3, cycles: 5, seed: 1, lease: '15s', settle: undefined });
  expect(report.violations).toEqual([]);
});
