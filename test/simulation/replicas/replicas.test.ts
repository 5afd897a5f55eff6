import { expect, test } from 'vitest';
import { runBatch } from '../batch.ts';
import { runReplicas } from './schedule.ts';

const replicas = { ledger: 'memory', driversShare: 0, replicasShare: 1, failuresMax: 3 } as const;

test('several controllers: one leads each platform, nothing is done twice, and all comes to rest', async () => {
  const report = await runBatch({ ...replicas, firstSeed: 100, schedules: 6 });
  expect(report.failures).toEqual([]);
  const { ran } = report.drivers;
  expect(ran.replicas).toBe(6);
  expect(ran.takeovers).toBeGreaterThan(0);
  expect(report.repeated).toBe(1);
});

test('the script that a schedule drew replays it', async () => {
  const drawn = await runReplicas(201);
  const replayed = await runReplicas(201, { script: drawn.script });
  expect(replayed.traceHash).toBe(drawn.traceHash);
});

test('seed 111079019: after the database failed between acceptance and its consequences, the former revision was applied', async () => {
  const { violation } = await runReplicas(111_079_019, {
    script: [
      [8, { type: 'outage', ms: 6_000 }],
      [10, { type: 'crash', when: 'during', downMs: 350_000, a: 1_379_271_935 }],
      [12, { type: 'takeover' }],
      [16, { type: 'git', edit: 'shrink', a: 1_525_576_368 }],
      [62, { type: 'outage', ms: 22_500 }],
    ],
  });
  expect(violation).toBeUndefined();
});

test('seed 4000028911: after the answer to an acceptance was lost, the former revision was applied', async () => {
  const { violation } = await runReplicas(4_000_028_911, {
    script: [
      [1, { type: 'takeover' }],
      [4, { type: 'takeover' }],
      [8, { type: 'git', edit: 'dropApplication', a: 1_007_418_626 }],
      [9, { type: 'human', act: 'approve', a: 870_609_350 }],
      [13, { type: 'cut', link: 'answers', ms: 15_000 }],
      [21, { type: 'cut', link: 'answers', ms: 22_500 }],
    ],
  });
  expect(violation).toBeUndefined();
});
