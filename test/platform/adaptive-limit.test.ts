import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AdaptiveLimit } from '../../src/platform/adaptive-limit.ts';
import { createRequestBudget } from '../../src/platform/budget.ts';
import { seededRandom } from '../support/virtual-clock.ts';
import { type Load, load, type ServerModel } from './model-server.ts';
import { VirtualClock } from './virtual-clock.ts';

/** 25 ms an answer, 150 answers a second: it has room for 3.75 requests at once. */
const server: ServerModel = { serviceMs: 25, perSecond: 150 };
const DURATION_MS = 30_000;

const servers: readonly (readonly [string, ServerModel])[] = [
  ['answers take equal time', server],
  ['answers take ± 30 %', { ...server, spread: 0.3 }],
  ['each request above 6 inside costs 5 % of the capacity', { ...server, thrashing: { from: 6, share: 0.05 } }],
];

test.for(servers)(
  '25 ms, 150 a second, %s: capacity within 10 s, low latency, better than 8 or 64 fixed',
  async ([name, model]) => {
    const of = async (changed: Partial<Load>) =>
      await load({ server: model, clients: 200, forMs: DURATION_MS, ...changed });
    const alone = await of({ clients: 1, fixed: 1 });
    const [adaptive, eight, sixtyFour] = [await of({}), await of({ fixed: 8 }), await of({ fixed: 64 })];
    const figures = { adaptive, '8 fixed': eight, '64 fixed': sixtyFour };
    const lines = Object.entries(figures).map(
      ([who, result]) =>
        `  ${who.padEnd(9)} ${result.perSecond(0, DURATION_MS).toFixed(1).padStart(6)}/s, p99 ${result.quantileMs(0.99).toFixed(0).padStart(4)} ms`,
    );
    console.log(`${name}; unloaded p99 ${alone.quantileMs(0.99).toFixed(0)} ms\n${lines.join('\n')}`);
    const best = Math.max(...Object.values(figures).map((result) => result.perSecond(9_000, 10_000)));
    expect(adaptive.perSecond(9_000, 10_000)).toBeGreaterThanOrEqual(0.9 * Math.max(best, 140));
    expect(adaptive.quantileMs(0.99)).toBeLessThan(3 * alone.quantileMs(0.99));
    for (const fixed of [eight, sixtyFour]) {
      // As much, but for the moments in which it measures the best time, and sooner.
      expect(adaptive.perSecond(0, DURATION_MS)).toBeGreaterThan(0.95 * fixed.perSecond(0, DURATION_MS));
      expect(adaptive.quantileMs(0.99)).toBeLessThan(fixed.quantileMs(0.99));
    }
  },
);

test.for([
  ['one request at a time', { serviceMs: 25, perSecond: 40 }, 1, 2],
  ['60 at once', { serviceMs: 40, perSecond: 1500 }, 60, 105],
  ['more than is configured', { serviceMs: 80, perSecond: 100_000 }, 128, 128],
] as const)('a server with room for %s is used in full', async ([, model, from, to]) => {
  const result = await load({ server: model, clients: 200, forMs: 12_000, concurrencyMax: 128 });
  const limit = result.limits.at(-1)?.limit ?? 0;
  expect(limit).toBeGreaterThanOrEqual(from);
  expect(limit).toBeLessThanOrEqual(to);
  const capacity = Math.min(model.perSecond, (128 * 1000) / model.serviceMs);
  expect(result.perSecond(9_000, 12_000)).toBeGreaterThan(0.9 * capacity);
});

test('a platform that loses its capacity is asked for less at once, and for as much as before when it is back', async () => {
  const result = await load({
    server: { serviceMs: 25, perSecond: 600 },
    clients: 200,
    forMs: 30_000,
    during: async ({ clock, server: platform }) => {
      await clock.sleep(8_000);
      platform.change({ perSecond: 60 });
      await clock.sleep(10_000);
      platform.change({ perSecond: 600 });
    },
  });
  const at = (atMs: number): number => result.limits.find((sample) => sample.atMs >= atMs)?.limit ?? 0;
  expect(at(7_900)).toBeGreaterThanOrEqual(15);
  expect(at(12_000)).toBeLessThanOrEqual(3);
  // What was in flight when it slowed had to wait; what was sent later did not.
  expect(result.quantileMs(0.99, 12_000, 18_000)).toBeLessThan(100);
  expect(result.perSecond(12_000, 18_000)).toBeGreaterThan(0.9 * 60);
  expect(result.perSecond(27_000, 30_000)).toBeGreaterThan(0.9 * 600);
});

test('a platform that is slow for reasons of its own is spared at first, and used in full again when that is how it is', async () => {
  const result = await load({
    server: { serviceMs: 25, perSecond: 1500 },
    clients: 60,
    forMs: 150_000,
    concurrencyMax: 16,
    during: async ({ clock, server: platform }) => {
      await clock.sleep(50_000);
      platform.change({ serviceMs: 150 });
    },
  });
  const at = (atMs: number): number => result.limits.find((sample) => sample.atMs >= atMs)?.limit ?? 0;
  expect(at(49_000)).toBe(16);
  expect(at(53_000)).toBeLessThanOrEqual(4);
  expect(at(149_000)).toBeGreaterThanOrEqual(14);
  expect(result.perSecond(140_000, 150_000)).toBeGreaterThan(0.9 * (16 / 0.15));
});

test('an operation that takes long by itself is not taken for a slow platform', async () => {
  const usual = { server: { serviceMs: 25, perSecond: 600 }, clients: 200, forMs: 15_000 };
  const result = await load({
    ...usual,
    operation: (random) =>
      random.next() < 0.05 ? { operation: 'installComponent', slower: 20 } : { operation: 'getApplication', slower: 1 },
  });
  expect(result.perSecond(9_000, 15_000)).toBeGreaterThan(0.8 * 600);
});

test('requests that hang do not keep the others out, however low the limit is', async () => {
  const model = { serviceMs: 25, perSecond: 40 };
  const without = await load({ server: model, clients: 20, forMs: 60_000 });
  const beside = await load({ server: model, clients: 20, forMs: 60_000, hanging: { clients: 4, timeoutMs: 30_000 } });
  expect(without.limits.at(-1)?.limit).toBeLessThanOrEqual(2);
  expect(beside.perSecond(20_000, 60_000)).toBeGreaterThan(without.perSecond(20_000, 60_000) / 1.2);
});

test('where nothing is answered in time there is one request at a time, and it grows back with the answers', async () => {
  const clock = new VirtualClock();
  const budget = createRequestBudget({ concurrency: 16, requestsPerSecond: 100_000 }, clock);
  let tookMs = 20;
  const client = async (requests: number): Promise<void> => {
    for (let count = 0; count < requests; count += 1) {
      const done = await budget.take();
      const isInTime = tookMs < 1000;
      await clock.sleep(tookMs);
      done({ operation: 'listPorts', isInTime });
    }
  };
  const clients = async (requests: number): Promise<void> => {
    await clock.run(Promise.all(Array.from({ length: 32 }, () => client(requests))));
  };
  await clients(30);
  expect(budget.state().concurrency).toBe(16);
  tookMs = 4_000;
  await clients(5);
  expect(budget.state().concurrency).toBe(1);
  tookMs = 20;
  await clients(60);
  expect(budget.state().concurrency).toBe(16);
});

test('a limit that is not used up stays as it is, whatever the answers take', async () => {
  const limit = new AdaptiveLimit(16);
  const before = limit.current();
  let nowMs = 0;
  for (let count = 0; count < 200; count += 1) {
    const sent = limit.began(1 + (count % 3), 1 + (count % 3), nowMs);
    nowMs += 10 + 50 * (count % 7);
    limit.ended(sent, { operation: 'listPorts', isInTime: true }, nowMs);
  }
  expect(limit.current()).toBe(before);
});

test('answers that say nothing about the load change nothing', async () => {
  const clock = new VirtualClock();
  const budget = createRequestBudget({ concurrency: 16, requestsPerSecond: 100_000 }, clock);
  const before = budget.state().concurrency;
  const client = async (): Promise<void> => {
    for (let count = 0; count < 50; count += 1) {
      const done = await budget.take();
      await clock.sleep(count * 7);
      done();
    }
  };
  await clock.run(Promise.all(Array.from({ length: 32 }, client)));
  expect(budget.state().concurrency).toBe(before);
});

test('a platform that begins to fail while the best time is measured is not asked for less for that', async () => {
  const clock = new VirtualClock();
  const budget = createRequestBudget({ concurrency: 16, requestsPerSecond: 100_000 }, clock);
  let ended = 0;
  const client = async (): Promise<void> => {
    for (let count = 0; count < 20; count += 1) {
      const done = await budget.take();
      await clock.sleep(20);
      ended += 1;
      // The first window is full after eight answers, and a probe begins.
      if (ended <= 8) done({ operation: 'listPorts', isInTime: true });
      else done();
    }
  };
  await clock.run(Promise.all(Array.from({ length: 32 }, client)));
  expect(budget.state().concurrency).toBe(8);
});

test('the same load twice gives the same limits: nothing here is left to chance', async () => {
  const noisy: Load = { server: { ...server, spread: 0.5 }, clients: 50, forMs: 5_000, seed: 11 };
  expect((await load(noisy)).limits).toEqual((await load(noisy)).limits);
});

test('whatever is answered, the limit stays within 1 and the configured number, and that is never exceeded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 12_000 }),
      fc.integer(),
      async (concurrency, clients, longestMs, seed) => {
        const clock = new VirtualClock();
        const random = seededRandom(seed);
        const budget = createRequestBudget({ concurrency, requestsPerSecond: 100_000 }, clock);
        const client = async (): Promise<void> => {
          for (let count = 0; count < 8; count += 1) {
            const done = await budget.take();
            const { running, concurrency: limit } = budget.state();
            expect(running).toBeLessThanOrEqual(concurrency);
            expect(limit).toBeGreaterThanOrEqual(1);
            expect(limit).toBeLessThanOrEqual(concurrency);
            await clock.sleep(random.next() * longestMs);
            if (random.next() < 0.2) done();
            else done({ operation: random.next() < 0.5 ? 'listPorts' : 'addPort', isInTime: random.next() < 0.8 });
          }
        };
        await clock.run(Promise.all(Array.from({ length: clients }, client)));
        expect(budget.state()).toMatchObject({ running: 0, waiting: 0 });
      },
    ),
    { numRuns: 25 },
  );
});
