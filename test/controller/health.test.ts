import { expect, test } from 'vitest';
import { longestMs, statusHealth, thresholdHealth } from '../../src/controller/health.ts';
import type { HealthThreshold } from '../../src/kinds/application/spec.ts';
import type { ComponentMonitor } from '../../src/platform/records.ts';

const FROM_MS = 1_000_000_000;

/** A component with one item of these values, a sample each minute from the change on. */
function monitor(serviceId: string, name: string, values: readonly number[]): ComponentMonitor {
  const samples = values.map((value, index) => [FROM_MS / 1000 + index * 60, value] as const);
  const item = { name, status: 'success', resultType: 'matrix', series: [{ samples }] };
  return { serviceId, componentName: `c-${serviceId}`, componentAlias: serviceId, items: [item] };
}

const threshold = (rest: Partial<HealthThreshold>, serviceId?: string) => ({
  threshold: { series: 'request_time', over: '5m', ...rest },
  serviceId,
});

test.for([
  [
    'the mean is within',
    [threshold({ max: 30 })],
    [[10, 20, 30]],
    'True WithinBounds',
    '20 over 5m, should be at most 30',
  ],
  ['one sample above is no matter', [threshold({ max: 30 })], [[10, 10, 60]], 'True WithinBounds', '26.67'],
  [
    'the mean is above',
    [threshold({ max: 15 })],
    [[10, 20, 30]],
    'False OutOfBounds',
    '20 over 5m, should be at most 15',
  ],
  ['the mean is below', [threshold({ min: 25 })], [[10, 20, 30]], 'False OutOfBounds', 'at least 25'],
  ['both bounds', [threshold({ min: 5, max: 25 })], [[10, 20, 30]], 'True WithinBounds', 'at least 5 and at most 25'],
  ['no samples are no health', [threshold({ max: 30 })], [[]], 'Unknown NoData', 'no data'],
  [
    'no such series is no health',
    [threshold({ max: 30, series: 'errors' })],
    [[1]],
    'Unknown NoData',
    'no such series',
  ],
  ['every component counts', [threshold({ max: 30 })], [[10], [50]], 'False OutOfBounds', 'c-1'],
  ['only the named one counts', [threshold({ max: 30 }, '0')], [[10], [50]], 'True WithinBounds', 'c-0'],
  [
    'bad goes before unknown',
    [threshold({ max: 30, series: 'errors' }), threshold({ max: 5 })],
    [[10]],
    'False OutOfBounds',
    'errors',
  ],
  [
    'what comes after the time does not count',
    [threshold({ max: 15, over: '1m' })],
    [[10, 10, 900]],
    'True WithinBounds',
    '10 over 1m',
  ],
] as const)('%s', ([, thresholds, values, expected, words]) => {
  const monitors = values.map((one, index) => monitor(String(index), 'request_time', one));
  const { status, reason, message } = thresholdHealth(thresholds, monitors, FROM_MS);
  expect(`${status} ${reason}`).toBe(expected);
  expect(message).toContain(words);
});

test('the longest time is waited for', () => {
  expect(
    longestMs([
      { series: 'a', over: '5m' },
      { series: 'b', over: '90s' },
    ]),
  ).toBe(300_000);
  expect(longestMs([])).toBe(0);
});

test.for([
  ['running', 3, 3, null, 'True Running'],
  ['part_running', 3, 2, null, 'False PartlyRunning'],
  // The platform says so as well when it cannot ask its cluster.
  ['closed', 3, 0, null, 'Unknown Closed'],
  ['running', 0, 0, null, 'Unknown NothingRuns'],
  ['part_running', 3, 2, 2_000, 'Unknown Progressing'],
  ['closed', 3, 0, 500, 'False NotRunning'],
] as const)(
  'an application that is %s, with %i components of which %i run, due at %s: %s',
  ([status, componentCount, runningComponentCount, dueMs, expected]) => {
    const verdict = statusHealth({ status, componentCount, runningComponentCount }, dueMs, 1_000);
    expect(`${verdict.status} ${verdict.reason}`).toBe(expected);
  },
);
