import { expect, test } from 'vitest';
import { runBatch } from '../batch.ts';

test(
  'several controllers, for long',
  async () => {
    const shares = { ledger: 'memory', driversShare: 0, replicasShare: 1, failuresMax: 3 } as const;
    const report = await runBatch({ ...shares, firstSeed: 50_000, schedules: 1_000 });
    expect(report.failures).toEqual([]);
  },
  60 * 60_000,
);
