import { expect, test } from 'vitest';
import { runBatch } from '../batch.ts';
import type { DriverScript } from '../drivers/perturbations.ts';
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

/** Scripts that once made a process apply a former revision, by the seed. */
const FORMER: Readonly<Record<number, { readonly after: string; readonly script: DriverScript }>> = {
  111_079_019: {
    after: 'the database failed between acceptance and its consequences',
    script: [
      [8, { type: 'outage', ms: 6_000 }],
      [10, { type: 'crash', when: 'during', downMs: 350_000, a: 1_379_271_935 }],
      [12, { type: 'takeover' }],
      [16, { type: 'git', edit: 'shrink', a: 1_525_576_368 }],
      [62, { type: 'outage', ms: 22_500 }],
    ],
  },
  4_000_028_911: {
    after: 'the answer to an acceptance was lost',
    script: [
      [1, { type: 'takeover' }],
      [4, { type: 'takeover' }],
      [8, { type: 'git', edit: 'dropApplication', a: 1_007_418_626 }],
      [9, { type: 'human', act: 'approve', a: 870_609_350 }],
      [13, { type: 'cut', link: 'answers', ms: 15_000 }],
      [21, { type: 'cut', link: 'answers', ms: 22_500 }],
    ],
  },
  4_000_037_378: {
    after: 'its machine was suspended',
    script: [
      [13, { type: 'freeze', ms: 8_000 }],
      [25, { type: 'freeze', ms: 15_000 }],
      [29, { type: 'freeze', ms: 15_000 }],
      [45, { type: 'freeze', ms: 6_000 }],
      [56, { type: 'freeze', ms: 15_000 }],
      [59, { type: 'git', edit: 'dropApplication', a: 384_363_385 }],
      [68, { type: 'freeze', ms: 22_500 }],
      [71, { type: 'freeze', ms: 22_500 }],
      [72, { type: 'freeze', ms: 8_000 }],
      [80, { type: 'freeze', ms: 22_500 }],
    ],
  },
  4_000_038_241: {
    after: 'its machine was suspended',
    script: [
      [2, { type: 'freeze', ms: 22_500 }],
      [7, { type: 'freeze', ms: 6_000 }],
      [8, { type: 'freeze', ms: 8_000 }],
      [16, { type: 'outage', ms: 6_000 }],
      [21, { type: 'takeover' }],
      [27, { type: 'freeze', ms: 22_500 }],
      [48, { type: 'git', edit: 'unlistPort', a: 433_567_809 }],
      [56, { type: 'freeze', ms: 22_500 }],
      [59, { type: 'git', edit: 'relabel', a: 1_212_957_567 }],
      [60, { type: 'crash', when: 'after', downMs: 350_000, a: 1_091_205_743 }],
    ],
  },
};

for (const [seed, { after, script }] of Object.entries(FORMER))
  test(`seed ${seed}: after ${after}, the former revision is not applied`, async () => {
    const { violation } = await runReplicas(Number(seed), { script });
    expect(violation).toBeUndefined();
  });
