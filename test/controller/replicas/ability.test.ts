import { expect, onTestFinished, test } from 'vitest';
import { Ability } from '../../../src/controller/replicas/ability.ts';
import { canTake } from '../../../src/controller/replicas/assignment.ts';
import { inputOutput } from '../../../src/ledger/errors.ts';
import type { LeaseUnit } from '../../../src/ledger/shared.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { Group, type GroupReplica } from './group.ts';

/** A replica whose heartbeats and leases have a connection, and whose reads and takes fail. */

const LEASE_MS = 15_000;
const MINUTE_MS = 60_000;

function groupOf(platforms: number): Group {
  const group = new Group(platforms, LEASE_MS);
  onTestFinished(async () => {
    await Promise.all([...group.replicas.values()].map(({ leadership }) => leadership.drain()));
  });
  return group;
}

const failed = () => inputOutput('postgres://x', undefined);

/** Lets time pass. @returns the longest time of a unit without a leader, and that of all units on average. */
async function withoutLeader(group: Group, ms: number): Promise<{ longestMs: number; share: number }> {
  const stepMs = 100;
  const since = new Map<LeaseUnit, number>();
  let [longestMs, sumMs] = [0, 0];
  for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
    await group.pass(stepMs);
    const leaders = group.leaders();
    for (const unit of group.units) {
      const missingMs = leaders.has(unit) ? 0 : (since.get(unit) ?? 0) + stepMs;
      since.set(unit, missingMs);
      longestMs = Math.max(longestMs, missingMs);
      if (missingMs > 0) sumMs += stepMs;
    }
  }
  return { longestMs, share: sumMs / (ms * group.units.length) };
}

const refuse =
  (statement: string) =>
  (replica: GroupReplica): void => {
    replica.faultOf = (operation) => (operation === statement ? failed() : undefined);
  };

test.for<readonly [string, (replica: GroupReplica, group: Group) => void]>([
  ['cannot take leases', refuse('take')],
  ['cannot read the leaders', refuse('leaders')],
  [
    'cannot read the records of what it takes, at once',
    (replica) =>
      replica.leadership.onChange(({ type }) => {
        if (type === 'taken') throw failed();
      }),
  ],
  [
    'cannot read the records of what it takes, for 40 s',
    (replica, group) =>
      replica.leadership.onChange(async ({ type }) => {
        if (type !== 'taken') return;
        await group.pass(40_000);
        throw failed();
      }),
  ],
])('a replica that %s is left no units for long', async ([_, damage]) => {
  const group = groupOf(10);
  group.add('a');
  group.add('b');
  await group.until(() => group.isWhole, 'a and b lead everything');
  damage(group.add('c'), group);
  const { longestMs, share } = await withoutLeader(group, 30 * MINUTE_MS);
  expect(longestMs).toBeLessThan(MINUTE_MS);
  expect(share).toBeLessThan(0.03);
  expect(group.loads()[2]).toBe(0);
});

test.for<readonly [string, (replica: GroupReplica) => void, (replica: GroupReplica) => void]>([
  ['the leaders', refuse('leaders'), (replica) => (replica.faultOf = () => undefined)],
  ['what the others store', (replica) => (replica.isCurrent = false), (replica) => (replica.isCurrent = true)],
])(
  'a leader that cannot read %s hands over after a minute, and leads again once it can',
  async ([_, damage, repair]) => {
    const group = groupOf(10);
    const a = group.add('a');
    const b = group.add('b');
    await group.pass(8 * LEASE_MS);
    const led = a.led(group.units).length;
    expect(led).toBeGreaterThan(3);
    damage(a);
    await group.pass(50_000);
    expect(a.led(group.units), 'a short failure changes nothing').toHaveLength(led);
    await group.pass(15_000);
    expect(b.led(group.units)).toHaveLength(group.units.length);
    expect(a.lost.map(({ because }) => because)).toEqual(a.lost.map(() => 'handed-over'));
    expect(a.lines.join('')).toMatch(/gives up platform:p\d\d: it cannot read the database/);
    repair(a);
    await group.until(() => a.led(group.units).length > 3, 'a leads its part again');
    expect(group.isWhole).toBe(true);
  },
);

test('after a minute in which no replica could read, none gives its units up', async () => {
  const group = groupOf(6);
  const [a, b] = [group.add('a'), group.add('b')];
  await group.pass(8 * LEASE_MS);
  const before = [a, b].map(({ lost }) => lost.length);
  for (const replica of [a, b]) refuse('leaders')(replica);
  await group.pass(3 * MINUTE_MS);
  const canTakeA = () =>
    [...group.database.replicas.values()].some(({ report }) => report.name === 'a' && canTake(report));
  expect(canTakeA()).toBe(false);
  a.faultOf = () => undefined;
  await group.until(canTakeA, 'a reports that it reads again');
  b.faultOf = () => undefined;
  // Its next heartbeat brings that report before it has read anything itself.
  b.leadership.wake(true);
  await group.pass(2 * LEASE_MS);
  expect([a, b].map(({ lost }) => lost.length)).toEqual(before);
  expect(group.isWhole).toBe(true);
});

test('where no replica can read, each keeps its units, and takes what is free', async () => {
  const group = groupOf(4);
  const [a, b] = [group.add('a'), group.add('b')];
  await group.pass(8 * LEASE_MS);
  for (const replica of [a, b]) replica.isCurrent = false;
  expect((await withoutLeader(group, 10 * MINUTE_MS)).longestMs).toBe(0);
  expect([...a.lost, ...b.lost].filter(({ atMs }) => atMs > group.clock.monotonic() - 10 * MINUTE_MS)).toEqual([]);
  b.pause();
  group.replicas.delete('b');
  await group.until(() => a.led(group.units).length === group.units.length, 'a leads everything', 2 * LEASE_MS);
});

test('a replica that has just started is left units before it has read what the others store', async () => {
  const group = groupOf(4);
  const a = group.add('a');
  a.isCurrent = false;
  expect(await group.until(() => group.isWhole, 'a leads everything')).toBeLessThan(2_000);
});

test('a replica rests after a take that failed, twice as long each time, up to an hour', async () => {
  const clock = new VirtualClock();
  const ability = new Ability(clock, LEASE_MS);
  const restMs = (): number => {
    const fromMs = clock.monotonic();
    ability.noteTake(false);
    // Those that were begun together count once.
    ability.noteTake(false);
    while (!ability.canTake) clock.advance(1_000);
    return clock.monotonic() - fromMs;
  };
  const minutes = Array.from({ length: 8 }, () => restMs() / MINUTE_MS);
  expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  ability.noteTake(true);
  expect(restMs()).toBe(MINUTE_MS);
});

test('a replica of an earlier version, which reports nothing, counts as one that can take units', () => {
  const report = { name: 'a', version: '1', address: null, startedMs: 0 };
  expect([null, {}, { canTake: true }, { canTake: false }].map((facts) => canTake({ ...report, facts }))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
