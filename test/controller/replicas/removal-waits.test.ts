import { expect, test } from 'vitest';
import type { Group, Replica } from './hand-led.ts';
import { both, EAST, twoLeaders, WEST } from './two-leaders.ts';

const SOURCE = 'source:default';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const four = both('www.example.com', 'a.example.com', 'b.example.com', 'c.example.com');
const five = both('www.example.com', 'a.example.com', 'b.example.com', 'c.example.com', 'd.example.com');

/** One replica leads the source, the other one the west, where a rule is gone from git since just now. */
async function oneGone(): Promise<{ group: Group; one: Replica; two: Replica }> {
  const scene = await twoLeaders('{ controller: { pruneAfter: 10m }, prune: { maxShare: 1 } }');
  const { group, two } = scene;
  await group.commit(five);
  await group.until(() => two.ready(WEST) === 'True InSync', 'in sync');
  await group.commit(four);
  await group.pass(1000);
  return scene;
}

const west = (group: Group): number => group.domains('west').length;

test('a removal waits as long as it must where another replica reads the source', async () => {
  const { group } = await oneGone();
  await group.pass(9 * MINUTE_MS);
  expect(west(group)).toBe(5);
  await group.pass(2 * MINUTE_MS);
  expect(west(group)).toBe(4);
});

test('an outage of the database does not count as the wait before a removal', async () => {
  const { group, one, two } = await oneGone();
  await group.pass(5 * MINUTE_MS);
  one.isDatabaseAway = two.isDatabaseAway = true;
  await group.pass(HOUR_MS);
  one.isDatabaseAway = two.isDatabaseAway = false;
  await group.pass(30_000);
  await one.controller.api.sync([EAST, WEST], 'a test');
  await group.pass(2 * MINUTE_MS);
  expect([west(group), group.domains('east').length]).toEqual([5, 5]);
  await group.pass(3 * MINUTE_MS);
  expect([west(group), group.domains('east').length]).toEqual([4, 4]);
});

test.for([
  ['were stopped', ({ clock }: Group) => clock.advance(2 * HOUR_MS)],
  [
    'were suspended with their machines',
    ({ replicas }: Group) => {
      for (const replica of replicas) replica.suspendedMs = 2 * HOUR_MS;
    },
  ],
] as const)('after all replicas %s, nothing is removed before the source is read', async ([, stop]) => {
  const { group, one } = await oneGone();
  await group.pass(9.5 * MINUTE_MS);
  let confirmations = 0;
  one.feed.confirm = () => void (confirmations += 1);
  stop(group);
  await group.pass(30 * MINUTE_MS);
  expect([west(group), group.domains('east').length, confirmations]).toEqual([5, 5, 1]);
  await group.tell(2, four, [one]);
  await group.pass(2 * MINUTE_MS);
  expect([west(group), group.domains('east').length]).toEqual([4, 4]);
});

test('nothing is removed while no replica reads the source, although its leader keeps the lease', async () => {
  const { group, one, two } = await oneGone();
  await one.leadership.lose(SOURCE);
  await group.pass(HOUR_MS);
  expect(await two.leadership.take(SOURCE)).toBe(false);
  expect([west(group), group.domains('east').length]).toEqual([5, 5]);
});

test.for(['this', 'an earlier'])(
  'a replica of %s version that does not lead the source confirms nothing',
  async (version) => {
    const { group, one } = await oneGone();
    const idle = group.open('idle');
    if (version === 'an earlier') idle.replicas.facts = () => ({ platforms: [], regions: [], queued: 0, running: 0 });
    void idle.keepBeating();
    await group.pass(MINUTE_MS);
    await one.leadership.lose(SOURCE);
    await group.pass(HOUR_MS);
    expect([west(group), group.domains('east').length]).toEqual([5, 5]);
  },
);

test('a leader of an earlier version confirms nothing, so only its own platforms have removals', async () => {
  const { group, one } = await oneGone();
  one.replicas.facts = () => ({ platforms: [], regions: [], queued: 0, running: 0 });
  await group.pass(HOUR_MS);
  expect([west(group), group.domains('east').length]).toEqual([5, 4]);
});

test.for([false, true])(
  'a heartbeat during which all replicas are stopped confirms nothing (its sender then loses the database: %s)',
  async (isCutOff) => {
    const { group, one, two } = await oneGone();
    await group.pass(9.95 * MINUTE_MS);
    one.feed.confirm = () => {};
    let isStopped = false;
    one.beforeStatement = async (operation) => {
      if (isStopped || operation !== 'beat') return;
      isStopped = true;
      group.clock.advance(2 * HOUR_MS);
    };
    await group.until(() => isStopped, 'stopped');
    await group.pass(10);
    one.isDatabaseAway = isCutOff;
    // The signal of a lease that changes makes a replica read at once.
    await two.beat();
    await group.pass(1000);
    await two.beat();
    await two.controller.api.sync([WEST], 'a test');
    await group.pass(30 * MINUTE_MS);
    expect([isStopped, west(group)]).toEqual([true, 5]);
  },
);

test('after a takeover of the source, nothing is removed before its new leader has read it', async () => {
  const { group, one, two } = await oneGone();
  two.feed.confirm = () => {};
  await one.leadership.release(SOURCE);
  expect(await two.leadership.take(SOURCE)).toBe(true);
  await group.pass(HOUR_MS);
  expect([west(group), group.domains('east').length]).toEqual([5, 5]);
  await group.tell(2, four, [two]);
  await group.pass(11 * MINUTE_MS);
  expect([west(group), group.domains('east').length]).toEqual([4, 4]);
});

test('a process that stands still while it takes the source removes nothing by a reading from before', async () => {
  const { group, one, two } = await oneGone();
  await group.pass(9.9 * MINUTE_MS);
  two.feed.confirm = () => {};
  let askedMs = 0;
  two.leadership.onChange(async ({ type, lead }) => {
    if (type !== 'taken' || lead.unit !== SOURCE) return;
    await group.pass(1);
    askedMs = group.clock.monotonic();
    group.clock.advance(2 * HOUR_MS);
    await group.clock.sleep(10_000);
  });
  await one.leadership.release(SOURCE);
  expect(await two.leadership.take(SOURCE)).toBe(true);
  const says = two.feed.says.bind(two.feed);
  two.feed.says = (state) => says(state.type === 'read' ? { ...state, askedMs } : state);
  await group.tell(2, four, [two]);
  await group.pass(3 * MINUTE_MS);
  expect([askedMs > 0, west(group)]).toEqual([true, 5]);
});
