import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRequestBudget, type RequestBudget } from '../../src/platform/budget.ts';
import { VirtualClock } from './virtual-clock.ts';

/** Takes `count` turns, each held for `holdMs`, and returns when each began. */
async function starts(budget: RequestBudget, clock: VirtualClock, count: number, holdMs: number): Promise<number[]> {
  const began: number[] = [];
  const turns = Array.from({ length: count }, async () => {
    const done = await budget.take();
    began.push(clock.monotonic());
    await clock.sleep(holdMs);
    done();
  });
  await clock.run(Promise.all(turns));
  return began;
}

test('no more requests are under way than the concurrency allows', async () => {
  const clock = new VirtualClock();
  const budget = createRequestBudget({ concurrency: 2, requestsPerSecond: 1000 }, clock);
  expect(await starts(budget, clock, 6, 100)).toEqual([0, 0, 100, 100, 200, 200]);
});

test('a burst fills the places, then requests come at the rate', async () => {
  const clock = new VirtualClock();
  const budget = createRequestBudget({ concurrency: 3, requestsPerSecond: 10 }, clock);
  expect(await starts(budget, clock, 7, 0)).toEqual([0, 0, 0, 100, 200, 300, 400]);
});

test('turns are given in the order of asking, and one that is given up is skipped', async () => {
  const clock = new VirtualClock();
  const budget = createRequestBudget({ concurrency: 1, requestsPerSecond: 1000 }, clock);
  const order: string[] = [];
  const stop = new AbortController();
  const turn = async (name: string, signal?: AbortSignal): Promise<void> => {
    const done = await budget.take(signal);
    order.push(name);
    await clock.sleep(10);
    done();
  };
  const turns = [turn('a'), turn('b', stop.signal), turn('c'), turn('d')];
  stop.abort(new Error('stopping'));
  const settled = await clock.run(Promise.allSettled(turns));
  expect(order).toEqual(['a', 'c', 'd']);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(budget.state()).toMatchObject({ running: 0, waiting: 0 });
  await expect(budget.take(stop.signal)).rejects.toThrow('stopping');
});

test('a turn that is ended twice frees one place', async () => {
  const clock = new VirtualClock();
  const budget = createRequestBudget({ concurrency: 1, requestsPerSecond: 1000 }, clock);
  const done = await budget.take();
  done();
  done();
  await clock.run(budget.take());
  expect(budget.state().running).toBe(1);
});

test('"too much" halves the rate once per burst; it grows back by a tenth of the limit a minute', () => {
  const clock = new VirtualClock();
  const budget = createRequestBudget({ concurrency: 16, requestsPerSecond: 40 }, clock);
  const rate = (): number => Math.round(budget.state().requestsPerSecond * 100) / 100;
  budget.throttled();
  budget.throttled();
  expect(rate()).toBe(20);
  clock.advance(60_000);
  expect(rate()).toBe(24);
  budget.throttled();
  expect(rate()).toBe(12);
  clock.advance(3_600_000);
  expect(rate()).toBe(40);
  for (let count = 0; count < 20; count += 1) {
    budget.throttled();
    clock.advance(1_000);
  }
  expect(rate()).toBeGreaterThanOrEqual(1);
  expect(rate()).toBeLessThan(2.5);
});

test('retries may be a tenth of the requests of the last minute, and a few in any case', async () => {
  const clock = new VirtualClock();
  const budget = createRequestBudget({ concurrency: 1000, requestsPerSecond: 1000 }, clock);
  const retriesAllowed = (): number => {
    let count = 0;
    while (budget.takeRetry()) count += 1;
    return count;
  };
  expect(retriesAllowed()).toBe(20);
  for (let count = 0; count < 100; count += 1) (await budget.take())();
  expect(retriesAllowed()).toBe(10);
  clock.advance(180_000);
  expect(retriesAllowed()).toBe(20);
});

test('a budget without room for a request is a mistake of the caller', () => {
  for (const limits of [
    { concurrency: 0, requestsPerSecond: 1 },
    { concurrency: 1.5, requestsPerSecond: 1 },
    { concurrency: 1, requestsPerSecond: 0 },
  ]) {
    expect(() => createRequestBudget(limits, new VirtualClock())).toThrow(RangeError);
  }
});

test('whatever the limits and the load, every turn comes and neither limit is exceeded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 0, max: 300 }),
      async (concurrency, requestsPerSecond, count, holdMs) => {
        const clock = new VirtualClock();
        const began = await starts(
          createRequestBudget({ concurrency, requestsPerSecond }, clock),
          clock,
          count,
          holdMs,
        );
        expect(began).toHaveLength(count);
        const burst = Math.max(1, Math.min(concurrency, requestsPerSecond));
        began.forEach((atMs, index) => {
          // Within any stretch of time there are no more starts than the bucket held and gained.
          const before = began.filter((other, position) => position <= index && other > atMs - 1000).length;
          expect(before).toBeLessThanOrEqual(burst + requestsPerSecond);
          if (holdMs > 0) {
            const under = began.filter((other, position) => position <= index && other + holdMs > atMs).length;
            expect(under).toBeLessThanOrEqual(concurrency);
          }
        });
      },
    ),
    { numRuns: 60 },
  );
});
