import { expect, test } from 'vitest';
import {
  crashesAfterFaults,
  crashPairs,
  effectsOf,
  everything,
  singleCrashes,
  singleFaults,
  type Sweep,
  sweep,
} from './exhaustive.ts';
import { isValid, workFor } from './shop.ts';
import { workloads } from './workloads.ts';

test('every workload is one that the loader would take, and rests as wished when nothing goes wrong', async () => {
  for (const workload of workloads) {
    const { name, dialects, before = workload.wishes, wishes } = workload;
    for (const one of [before, wishes]) expect(isValid(workFor(one).resources), name).toBe(true);
    for (const dialect of dialects) expect((await effectsOf(workload, dialect)).length, name).toBeGreaterThan(0);
  }
});

/** All of it: npm run test:long. */
const samples: readonly (readonly [string, Sweep, number])[] = [
  ['every crash point', singleCrashes, 8],
  ['a fault at any effect', singleFaults, 90],
  ['pairs of crash points', crashPairs, 900],
  ['crashes behind any kind of fault', crashesAfterFaults, 130],
];

for (const [what, kind, each] of samples) {
  test(`${what}: one in ${each}`, async () => {
    const report = await sweep(kind, { ...everything, each });
    expect(report.failures).toEqual([]);
    console.log(`${what}: ${report.schedules} schedules`);
    expect(report.schedules).toBeGreaterThan(150);
  });
}
