import { expect, test } from 'vitest';
import { CHANGES_IN_A_ROW, WorkQueue, REASONS_MAX } from '../../src/controller/queue.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { seededRandom, VirtualClock } from '../support/virtual-clock.ts';
import { id, pass, START_MS, scene, settle } from './queue-scene.ts';

test('ten changes while a key waits are one run with all their reasons, ten while it runs are one more', async () => {
  const { queue, work, end, started } = scene();
  queue.start(work);
  for (const reason of ['commit a', 'commit b', 'commit a', 'webhook']) queue.add(id('shop'), reason);
  await settle();
  for (const reason of ['poke', 'commit c', 'poke']) queue.add(id('shop'), reason);
  await settle();
  expect(queue.running).toBe(1);
  await end(id('shop'));
  await end(id('shop'));
  expect(started.map(({ because }) => because)).toEqual([
    ['commit a', 'commit b', 'webhook'],
    ['poke', 'commit c'],
  ]);
  expect({ running: queue.running, depth: queue.depth, next: queue.nextDueMs(id('shop')) }).toEqual({
    running: 0,
    depth: 0,
    next: undefined,
  });
});

test('reasons beyond the bound are counted', async () => {
  const { queue, work, started } = scene();
  for (let reason = 0; reason < REASONS_MAX + 3; reason += 1) queue.add(id('shop'), `reason ${reason}`);
  queue.start(work);
  await settle();
  expect(started[0]?.because).toHaveLength(REASONS_MAX + 1);
  expect(started[0]?.because.at(-1)).toBe('… and 3 more');
});

test('the earliest of several times wins, and a change that comes meanwhile is due at once', async () => {
  const { clock, queue, work, end, started } = scene();
  queue.start(work);
  queue.addAfter(id('a'), 600_000, 'resync');
  queue.addAfter(id('a'), 5_000, 'settle window');
  queue.addAfter(id('a'), 900_000, 'resync');
  expect(queue.nextDueMs(id('a'))).toBe(START_MS + 5_000);
  await pass(clock, 5_000);
  expect(started).toEqual([{ atMs: 5_000, key: id('a'), because: ['resync', 'settle window'] }]);
  await end(id('a'));
  queue.addAfter(id('a'), 600_000, 'resync');
  await pass(clock, 1_000);
  queue.add(id('a'), 'commit');
  await settle();
  expect(started.at(-1)).toEqual({ atMs: 6_000, key: id('a'), because: ['resync', 'commit'] });
});

test('a failing key waits twice as long each time, up to 1000 s, and from the start after it went well', async () => {
  const { clock, queue, work, end, observed, errors } = scene();
  queue.start(work);
  queue.add(id('bad'), 'commit');
  await settle();
  const delays: number[] = [];
  for (let failure = 1; failure <= 20; failure += 1) {
    const failedMs = clock.monotonic();
    await end(id('bad'), new Error('unreachable'));
    delays.push((queue.nextDueMs(id('bad')) ?? 0) - failedMs);
    await pass(clock, delays.at(-1) ?? 0);
  }
  expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
  expect(delays.slice(-3)).toEqual([500_000, 500_000, 500_000]);
  expect(errors).toHaveLength(20);
  expect(observed.filter((line) => line.startsWith('ended')).at(-1)).toContain('error');
  queue.forget(id('bad'));
  expect(queue.addRateLimited(id('bad'), 'again')).toBe(5);
});

test('work that asked for a later run itself before it failed waits only once', async () => {
  const { queue, end, work, observed } = scene();
  queue.start((key, because) => {
    queue.addRateLimited(key, 'the platform does not answer');
    return work(key, because);
  });
  queue.add(id('a'), 'commit');
  await settle();
  await end(id('a'), new Error('x'));
  expect(observed).toEqual([
    `queued ${id('a')}: commit`,
    `began ${id('a')} after 0`,
    `retried ${id('a')}`,
    `ended ${id('a')}: error in 0`,
  ]);
});

test('changes go before routine, and routine gets its share', async () => {
  const { queue, work, end, started } = scene();
  for (let index = 0; index < 3; index += 1) queue.addAfter(id(`poll-${index}`), 0, 'drift poll');
  for (let index = 0; index < 2 * CHANGES_IN_A_ROW; index += 1) queue.add(id(`commit-${index}`), 'commit');
  // A key that is wanted for both goes with the changes, at the time at which it was first due.
  queue.add(id('poll-2'), 'commit');
  queue.start(work);
  await settle();
  while (queue.running > 0) await end(started.at(-1)?.key ?? id('none'));
  const names = started.map(({ key }) => key.replace('Application/', ''));
  const commits = Array.from({ length: 2 * CHANGES_IN_A_ROW }, (_, index) => `commit-${index}`);
  expect(names).toEqual([
    'poll-2',
    ...commits.slice(0, CHANGES_IN_A_ROW - 1),
    'poll-0',
    ...commits.slice(CHANGES_IN_A_ROW - 1, 2 * CHANGES_IN_A_ROW - 1),
    'poll-1',
    ...commits.slice(2 * CHANGES_IN_A_ROW - 1),
  ]);
});

test('work is told when the last of its requests became due', async () => {
  const { clock, queue, work, end } = scene();
  const told: (readonly [string, number])[] = [];
  queue.start((key, because, wantedMs) => {
    told.push([because.join(', '), wantedMs - START_MS]);
    return work(key, because);
  });
  queue.add(id('other'), 'commit');
  queue.addAfter(id('a'), 10, 'resync');
  await pass(clock, 20);
  // Due since 10, and asked for again at 20; the poll later is served by the same run.
  queue.add(id('a'), 'sync');
  queue.addAfter(id('a'), 100, 'poll');
  queue.addAfter(id('b'), 500, 'resync');
  queue.addAfter(id('b'), 30, 'poll');
  await pass(clock, 5);
  await end(id('other'));
  await end(id('a'));
  await pass(clock, 100);
  expect(told).toEqual([
    ['commit', 0],
    ['resync, sync, poll', 20],
    ['resync, poll', 50],
  ]);
});

test('a removed key does not run again, and may be added anew', async () => {
  const { clock, queue, work, end, started } = scene();
  queue.start(work);
  queue.add(id('a'), 'commit');
  await settle();
  queue.add(id('a'), 'commit');
  queue.remove(id('a'));
  queue.addAfter(id('b'), 10, 'poll');
  queue.remove(id('b'));
  await end(id('a'));
  await pass(clock, 100);
  expect(started).toHaveLength(1);
  queue.add(id('a'), 'back');
  await settle();
  expect(started.at(-1)?.because).toEqual(['back']);
});

test('draining begins nothing new, waits for what runs, and leaves no timer', async () => {
  const { clock, queue, work, end, started } = scene({ concurrency: () => 2 });
  queue.start(work);
  queue.add(id('a'), 'commit');
  queue.addAfter(id('b'), 10, 'poll');
  await settle();
  let isDrained = false;
  const drained = queue.drain().then(() => {
    isDrained = true;
  });
  queue.add(id('c'), 'commit');
  await pass(clock, 1000);
  expect({ isDrained, started: started.length, depth: queue.depth }).toEqual({
    isDrained: false,
    started: 1,
    depth: 2,
  });
  await end(id('a'), new Error('late'));
  await drained;
  expect(started).toHaveLength(1);
  await queue.drain();
});

test('a clock that is set does not move what is due', async () => {
  const { clock, queue, work, started } = scene();
  queue.start(work);
  queue.addAfter(id('a'), 1_000, 'poll');
  clock.jump(-86_400_000);
  expect(queue.nextDueMs(id('a'))).toBe(clock.now() + 1_000);
  await pass(clock, 1_000);
  expect(started[0]?.atMs).toBe(1_000);
});

test('the concurrency is asked at each start, and 0 is taken as 1', async () => {
  let allowed = 3;
  const { queue, work, end } = scene({ concurrency: () => allowed });
  queue.start(work);
  for (let index = 0; index < 10; index += 1) queue.add(id(index), 'commit');
  await settle();
  expect(queue.running).toBe(3);
  allowed = 0;
  for (const index of [0, 1]) await end(id(index));
  expect(queue.running).toBe(1);
  await end(id(2));
  expect(queue.running).toBe(1);
  allowed = 5;
  await end(id(3));
  expect({ running: queue.running, depth: queue.depth }).toEqual({ running: 5, depth: 1 });
});

test('10,000 keys: one timer at a time, each key on time, at little cost', async () => {
  const keys = 10_000;
  const clock = new VirtualClock(START_MS);
  const random = seededRandom(7);
  let sleeping = 0;
  let sleepingMax = 0;
  const counted: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sinceBoot: () => clock.sinceBoot(),
    sleep: async (ms, signal) => {
      sleeping += 1;
      sleepingMax = Math.max(sleepingMax, sleeping);
      try {
        await clock.sleep(ms, signal);
      } finally {
        sleeping -= 1;
      }
    },
  };
  const observer = { queued: () => {}, began: () => {}, ended: () => {}, retried: () => {} };
  const queue = new WorkQueue({ clock: counted, random, concurrency: () => 16, observer });
  const before = process.cpuUsage();
  const lateMs: number[] = [];
  const dueMs = new Map<ResourceId, number>();
  queue.start(async (key) => {
    lateMs.push(clock.monotonic() - (dueMs.get(key) ?? 0));
  });
  for (let index = 0; index < keys; index += 1) {
    const delayMs = Math.floor(random.next() * 600_000);
    dueMs.set(id(index), clock.monotonic() + delayMs);
    queue.addAfter(id(index), 700_000, 'resync');
    queue.addAfter(id(index), delayMs, 'poll');
  }
  await pass(clock, 600_000);
  const { user, system } = process.cpuUsage(before);
  expect(lateMs).toHaveLength(keys);
  expect(Math.max(...lateMs)).toBe(0);
  // One, and the one that is being replaced.
  expect(sleepingMax).toBeLessThanOrEqual(2);
  expect((user + system) / 1000).toBeLessThan(3_000);
});

test('a task that nobody waits for any more does not begin, and the next one does', async () => {
  const { queue, work, end, started } = scene();
  queue.start(work);
  queue.add(id('a'), 'git');
  await settle();
  const gone = new AbortController();
  const begun: string[] = [];
  const task = (name: string, signal: AbortSignal): Promise<unknown> =>
    queue.alone(id('a'), async () => begun.push(name), signal).catch((error: unknown) => error);
  const first = task('first', gone.signal);
  const second = task('second', new AbortController().signal);
  gone.abort(new Error('gone'));
  expect(await first).toEqual(new Error('gone'));
  expect(await task('never', gone.signal)).toEqual(new Error('gone'));
  queue.add(id('a'), 'once more');
  expect(begun).toEqual([]);
  await end(id('a'));
  await second;
  await settle();
  expect(begun).toEqual(['second']);
  expect(started.map(({ because }) => because)).toEqual([['git'], ['once more']]);
  expect(queue.running).toBe(1);
});
