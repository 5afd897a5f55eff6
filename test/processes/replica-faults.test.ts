import { expect, test } from 'vitest';
import { replicaCycles } from './replicas/replica-cycles.ts';

test('three replicas lose nothing and make nothing twice while one of them is killed, paused or ended', async () => {
  const report = await replicaCycles({
    replicas: 3,
    cycles: 3,
    seed: 20_261_123,
    lease: '2s',
    settle: '1s',
    platforms: 2,
    faults: ['kill', 'pause', 'no network'],
  });
  expect(report.violations).toEqual([]);
  expect(report.writes).toBeGreaterThan(8);
});
