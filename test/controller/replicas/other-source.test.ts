import { expect, onTestFinished, test } from 'vitest';
import { Group, type GroupReplica } from './group.ts';

const LEASE_MS = 15_000;

function groupOf(platforms: number) {
  const group = new Group(platforms, LEASE_MS);
  onTestFinished(async () => {
    await Promise.all([...group.replicas.values()].map(({ leadership }) => leadership.drain()));
  });
  return group;
}

const ledBy = (group: Group, ...replicas: readonly GroupReplica[]): number =>
  replicas.reduce((sum, replica) => sum + replica.led(group.units).length, 0);

test.for([
  ['beside controllers that lead', 4 * LEASE_MS],
  ['at the same moment', 0],
] as const)('controllers of another source that start %s end, and no unit moves to them', async ([, laterMs]) => {
  const group = groupOf(6);
  const ours = [group.add('a1'), group.add('a2')];
  await group.pass(laterMs);
  const others = [group.add('b1', { source: 'other' }), group.add('b2', { source: 'other' })];
  await group.until(() => ledBy(group, ...ours) === group.units.length, 'one source has everything');
  const lost = ours.flatMap((replica) => replica.lost).length;
  await group.pass(10 * LEASE_MS);
  expect(others.map(({ ending }) => ending?.message)).toEqual(
    others.map(() =>
      expect.stringMatching(/^The controller a[12] works on another source, "default", with this ledger\./),
    ),
  );
  expect(ours.flatMap((replica) => replica.lost)).toHaveLength(lost);
  expect(ledBy(group, ...ours)).toBe(group.units.length);
});

test('controllers of another source delay no takeover, and get no unit between two leaders', async () => {
  const group = groupOf(3);
  const [first, second] = [group.add('a1'), group.add('a2')];
  await group.until(() => group.isWhole, 'they lead everything');
  first.pause();
  await group.pass(LEASE_MS / 2);
  const other = group.add('b1', { source: 'other' });
  const tookMs = await group.until(
    () => ledBy(group, second) === group.units.length,
    'the second one leads everything',
  );
  expect(tookMs).toBeLessThan(LEASE_MS + 2_000);
  expect([other.gained, other.ending?.code]).toEqual([[], 'controller/other-source']);
  first.resume();
});

test('a controller of another source leads everything once the last lease of the former one has ended', async () => {
  const group = groupOf(3);
  const former = group.add('a1');
  await group.until(() => group.isWhole, 'it leads everything');
  await former.leadership.drain();
  const other = group.add('b1', { source: 'other' });
  await group.until(() => other.gained.length === group.units.length, 'it leads everything of its source');
  expect(other.ending).toBeUndefined();
});
