import { expect, test } from 'vitest';
import { ROUNDS_PER_HOUR, soak } from '../bench/soak.ts';

const MINUTES = 2;
const WARM_UP_MINUTES = 0.5;
const KIBIBYTES_PER_1000_ROUNDS_MAX = 256;
const HANDLES_MAX = 60;

test('two minutes of rounds each second, with failing requests: objects on the heap stay flat and nothing is written', async () => {
  const report = await soak(MINUTES, WARM_UP_MINUTES, () => {});
  const per1000Rounds = (report.objectSlopeKiBPerHour * 1000) / ROUNDS_PER_HOUR;
  console.log(
    `objects after collection: ${per1000Rounds.toFixed(0)} KiB per 1,000 rounds; handles ${report.handles.join(' to ')}`,
  );
  expect(report.requests).toBeGreaterThan(1_000);
  expect(report.faults).toBeGreaterThan(5);
  expect(report.writes).toBe(0);
  expect(per1000Rounds).toBeLessThan(KIBIBYTES_PER_1000_ROUNDS_MAX);
  expect(report.handles[1]).toBeLessThan(HANDLES_MAX);
});
