import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createDeadlines } from '../../src/platform/deadlines.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { VirtualClock as WorldClock } from '../support/virtual-clock.ts';
import { VirtualClock } from './virtual-clock.ts';

const DAY_MS = 86_400_000;

/** The same clock, with the sleeps that are going on, and how many there have been. */
function counting(clock: Clock) {
  const sleeps = { now: 0, ever: 0 };
  const counted: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sinceBoot: () => clock.sinceBoot(),
    sleep: (ms, signal) => {
      sleeps.now += 1;
      sleeps.ever += 1;
      return clock.sleep(ms, signal).finally(() => {
        sleeps.now -= 1;
      });
    },
  };
  return { clock: counted, sleeps };
}

/** Adds what is given as [name, added at, timeout] and says who expired when. */
async function expiries(clock: VirtualClock, added: readonly (readonly [string, number, number])[]) {
  const { clock: counted, sleeps } = counting(clock);
  const deadlines = createDeadlines(counted);
  const expired: (readonly [string, number])[] = [];
  const startMs = clock.monotonic();
  const all = added.map(async ([name, atMs, timeoutMs]) => {
    if (atMs > 0) await clock.sleep(atMs);
    await new Promise<void>((resolve) => {
      const expire = (): void => {
        expired.push([name, clock.monotonic() - startMs]);
        resolve();
      };
      deadlines.add({ expire }, timeoutMs);
    });
  });
  await clock.run(Promise.all(all));
  await nextTurn();
  return { expired, sleeps };
}

test.for([
  [
    'later ones after it',
    [
      ['first', 0, 100],
      ['second', 10, 100],
      ['third', 20, 100],
    ],
    [
      ['first', 100],
      ['second', 110],
      ['third', 120],
    ],
  ],
  [
    'an earlier one before those under way',
    [
      ['install', 0, 900_000],
      ['write', 5, 90_000],
      ['read', 10, 30],
    ],
    [
      ['read', 40],
      ['write', 90_005],
      ['install', 900_000],
    ],
  ],
  [
    'equal ones together',
    [
      ['left', 0, 50],
      ['right', 0, 50],
    ],
    [
      ['left', 50],
      ['right', 50],
    ],
  ],
  [
    'one of more days than a timer knows',
    [
      ['patient', 0, 30 * DAY_MS],
      ['read', 0, 1_000],
    ],
    [
      ['read', 1_000],
      ['patient', 30 * DAY_MS],
    ],
  ],
] as const)('each deadline is met on time: %s', async ([, added, expected]) => {
  const { expired, sleeps } = await expiries(new VirtualClock(), added);
  expect(expired).toEqual(expected);
  expect(sleeps.now).toBe(0);
});

test('one sleep looks after a thousand requests that are answered in time, and ends with the last of them', async () => {
  const { clock, sleeps } = counting(new VirtualClock());
  const deadlines = createDeadlines(clock);
  const expired: number[] = [];
  const requests = Array.from({ length: 1_000 }, (_, number) => ({ expire: () => expired.push(number) }));
  for (const request of requests) deadlines.add(request, 30_000);
  for (const request of requests) {
    expect(sleeps).toEqual({ now: 1, ever: 1 });
    deadlines.remove(request);
  }
  await nextTurn();
  expect(sleeps).toEqual({ now: 0, ever: 1 });
  expect(expired).toEqual([]);
});

test.for([10, 20])(
  'one of %i ms that another of 10 ms ends is not called, and both may be removed again',
  async (ms) => {
    const clock = new VirtualClock();
    const deadlines = createDeadlines(clock);
    const expired: string[] = [];
    const quiet = { expire: () => expired.push('quiet') };
    await clock.run(
      new Promise<void>((resolve) => {
        const loud = {
          expire: () => {
            expired.push('loud');
            deadlines.remove(quiet);
            deadlines.remove(loud);
            resolve();
          },
        };
        deadlines.add(loud, 10);
        deadlines.add(quiet, ms);
      }),
    );
    await clock.run(clock.sleep(100));
    expect(expired).toEqual(['loud']);
  },
);

test('one that is added when another expires is met on time, and so are those under way', async () => {
  const clock = new VirtualClock();
  const deadlines = createDeadlines(clock);
  const expired: (readonly [string, number])[] = [];
  const named = (name: string, then?: () => void) => ({
    expire: () => {
      expired.push([name, clock.monotonic()]);
      then?.();
    },
  });
  deadlines.add(
    named('first', () => deadlines.add(named('added'), 100)),
    10,
  );
  deadlines.add(named('second'), 50);
  await clock.run(clock.sleep(200));
  expect(expired).toEqual([
    ['first', 10],
    ['second', 50],
    ['added', 110],
  ]);
});

test('on time that passes by itself, what is late expires and nothing goes on sleeping', async () => {
  const { clock, sleeps } = counting(new WorldClock());
  const deadlines = createDeadlines(clock);
  const startMs = clock.monotonic();
  const lateMs = await Promise.all(
    [300, 100, 200].map(
      (timeoutMs) =>
        new Promise<number>((resolve) => {
          deadlines.add({ expire: () => resolve(clock.monotonic() - startMs) }, timeoutMs);
        }),
    ),
  );
  expect(lateMs).toEqual([300, 100, 200]);
  await nextTurn();
  expect(sleeps.now).toBe(0);
});
