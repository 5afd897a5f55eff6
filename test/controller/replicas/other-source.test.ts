import { expect, onTestFinished, test } from 'vitest';
import { openMemoryShared } from '../../support/memory-shared.ts';
import { seededRandom } from '../../support/virtual-clock.ts';
import { Group } from './group.ts';

const LEASE_MS = 15_000;

test('the leader of another source is given no unit', async () => {
  const group = new Group(6, LEASE_MS);
  onTestFinished(async () => {
    await Promise.all([...group.replicas.values()].map(({ leadership }) => leadership.drain()));
  });
  const a = group.add('a');
  await group.until(() => group.isWhole, 'it leads everything');
  const lost = a.lost.length;
  const other = openMemoryShared(group.database, {
    clock: group.clock,
    random: seededRandom(9),
    actor: 'b',
    replica: 'b',
    leaseMs: LEASE_MS,
  });
  onTestFinished(() => other.close());
  expect(await other.lead('source:another')).toBeDefined();
  const report = { name: 'b', version: '1', address: null, startedMs: 0, facts: {} };
  for (let beats = 0; beats < 30; beats += 1) {
    await other.beat(report, false);
    await group.pass(LEASE_MS / 3);
  }
  expect(a.lost).toHaveLength(lost);
  expect(a.lines.filter((line) => line.includes('controller/other-source'))).toEqual([
    expect.stringMatching(/error .*controller b works on another source, "another"/),
  ]);
});
