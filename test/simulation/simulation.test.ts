import { expect, test } from 'vitest';
import { runBatch } from './batch.ts';
import type { LedgerKind } from './ledgers.ts';
import { minimise } from './minimise.ts';
import { scripted } from './perturbations.ts';
import { runSchedule } from './schedule.ts';

/** More of the same: npm run simulate. */
const sizes: readonly (readonly [LedgerKind, number])[] = [
  ['memory', 500],
  ['sqlite', 60],
];

for (const [ledger, schedules] of sizes) {
  test(`${ledger}: whatever goes wrong, no invariant is violated and everything converges`, async () => {
    const report = await runBatch({
      firstSeed: 50,
      schedules,
      ledger,
      driversShare: 0,
      replicasShare: 0,
      failuresMax: 3,
    });
    expect(report.failures).toEqual([]);
    expect(report.schedules).toBe(schedules);
    expect(Object.keys(report.counts).length, 'kinds of faults that were injected').toBeGreaterThan(60);
    expect(report.repeated).toBeGreaterThan(0);
  });
}

test('a seed is a schedule: it leaves one trace, and another seed leaves another', async () => {
  const [first, again, other] = [await runSchedule(41), await runSchedule(41), await runSchedule(42)];
  expect(again.traceHash).toBe(first.traceHash);
  expect(again.script).toEqual(first.script);
  expect(other.traceHash).not.toBe(first.traceHash);
});

test('the script that a schedule drew replays it', async () => {
  for (let seed = 100; seed < 120; seed += 1) {
    const drawn = await runSchedule(seed);
    const replayed = await runSchedule(seed, { script: drawn.script });
    expect(replayed.traceHash, `seed ${seed}`).toBe(drawn.traceHash);
  }
});

test('delta debugging leaves only what is needed', async () => {
  const script = Array.from({ length: 40 }, (_, step) => [step, { type: 'takeover' }] as const);
  const needed = [3, 17, 31];
  const least = await minimise(script, async (part) =>
    needed.every((step) => scripted(part).at(step, effect) !== undefined),
  );
  expect(least.map(([step]) => step)).toEqual(needed);
});

const effect = { kind: 'read', operation: 'listPorts' } as const;
