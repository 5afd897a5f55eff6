import { expect, test } from 'vitest';
import type { RequestFacts } from '../../src/controller/api.ts';
import { createTraffic } from '../../src/server/traffic.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const facts = (changes: Partial<RequestFacts> = {}): RequestFacts => ({
  platform: 'default',
  operation: 'listPorts',
  isRead: true,
  outcome: '2xx',
  tookMs: 20,
  ...changes,
});

test('a platform without requests has an empty hour', () => {
  const { recent, operations, minutes } = createTraffic(new VirtualClock()).of('default');
  const nothing = { requests: 0, failed: 0, throttled: 0, p50Ms: null, p95Ms: null };
  expect(recent).toEqual({ ...nothing, p99Ms: null, perSecond: 0 });
  expect(operations).toEqual([]);
  expect(minutes).toHaveLength(60);
  expect(minutes.every(({ requests, p50Ms }) => requests === 0 && p50Ms === null)).toBe(true);
});

test('quantiles are within five percent of the exact ones', () => {
  const traffic = createTraffic(new VirtualClock());
  for (let ms = 1; ms <= 1000; ms += 1) traffic.request(facts({ tookMs: ms }));
  const { p50Ms, p95Ms, p99Ms } = traffic.of('default').recent;
  for (const [found, exact] of [
    [p50Ms, 500],
    [p95Ms, 950],
    [p99Ms, 990],
  ] as const)
    expect(Math.abs((found ?? 0) / exact - 1)).toBeLessThan(0.05);
});

test('failed and throttled requests are counted by outcome, and operations by number of requests', () => {
  const traffic = createTraffic(new VirtualClock());
  for (const outcome of ['2xx', '4xx', '5xx', 'timeout', 'network', 'throttled', 'aborted'] as const)
    traffic.request(facts({ outcome }));
  traffic.request(facts({ operation: 'addPort', isRead: false }));
  traffic.request(facts({ platform: 'other' }));
  const { recent, operations } = traffic.of('default');
  expect(recent).toMatchObject({ requests: 8, failed: 3, throttled: 1 });
  expect(recent.perSecond).toBeCloseTo(8 / 300);
  expect(operations).toMatchObject([
    { operation: 'listPorts', isRead: true, requests: 7, failed: 3, outcomes: { '5xx': 1, timeout: 1, '4xx': 1 } },
    { operation: 'addPort', isRead: false, requests: 1, failed: 0, outcomes: { '2xx': 1 } },
  ]);
});

test('requests leave the sums after five minutes, and the chart after an hour', () => {
  const clock = new VirtualClock();
  const traffic = createTraffic(clock);
  traffic.request(facts({ outcome: '5xx' }));
  clock.advance(4 * 60_000);
  traffic.request(facts());
  expect(traffic.of('default').recent).toMatchObject({ requests: 2, failed: 1 });
  clock.advance(60_000);
  expect(traffic.of('default').recent).toMatchObject({ requests: 1, failed: 0 });
  const sum = () => traffic.of('default').minutes.reduce((total, { requests }) => total + requests, 0);
  expect(sum()).toBe(2);
  clock.advance(55 * 60_000);
  expect(sum()).toBe(1);
  for (let minute = 0; minute < 300; minute += 1) {
    clock.advance(60_000);
    traffic.request(facts());
  }
  expect(sum()).toBe(60);
});
