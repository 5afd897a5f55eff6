import { expect, test } from 'vitest';
import type { MonitoringHistory } from '../../src/model/monitoring.ts';
import type { PlatformStatus } from '../../src/model/platform-status.ts';
import type { HistoryRow } from '../../src/model/owned.ts';
import type { Json } from '../../src/model/json.ts';
import { faultsOf } from '../../src/server/faults.ts';
import { monitoringWindow } from '../../src/views/monitoring.ts';
import { replicas } from './dependencies.ts';
import { serve } from './serving.ts';

const HOUR_MS = 3_600_000;

test('the series of an application are grids of values, in which a missing sample is null', async () => {
  const { ask, api } = await serve();
  const { status, body } = await ask('/api/v1/applications/shop/monitoring');
  expect(status).toBe(200);
  const history = body as MonitoringHistory;
  expect(history.toMs - history.fromMs).toBe(HOUR_MS);
  expect(history.stepMs).toBe(15_000);
  expect(history.components.map(({ name }) => name)).toEqual(['shop-web', 'shop-api']);
  expect(history.series.map(({ serviceId, item, unit }) => [serviceId, item, unit])).toEqual([
    ['id-of-shop-web', 'request_time', 'milliseconds'],
    ['id-of-shop-web', 'request', 'per-second'],
    ['id-of-shop-api', 'request_time', 'milliseconds'],
    ['id-of-shop-api', 'request', 'per-second'],
  ]);
  const values = history.series[0]?.values ?? [];
  expect(values).toHaveLength(241);
  expect(values.slice(0, 4)).toEqual([0, null, 1, 2]);
  expect(api.asked).toContain('monitoring Application/shop');
});

test('the series can be those of one component and one item', async () => {
  const { ask } = await serve();
  const one = await ask('/api/v1/applications/shop/monitoring?component=shop-api&item=request&points=60');
  const { series, components, stepMs } = one.body as MonitoringHistory;
  expect(series.map(({ serviceId, item }) => `${serviceId} ${item}`)).toEqual(['id-of-shop-api request']);
  expect(components).toHaveLength(2);
  expect(stepMs).toBe(60_000);
  const wrong = await ask('/api/v1/applications/shop/monitoring?component=shop-apu');
  expect(wrong.status).toBe(422);
  expect(wrong.body).toMatchObject({ code: 'monitor/no-component', remedy: /Did you mean shop-api\?/ });
});

test('times and points are bounded', async () => {
  const { ask } = await serve();
  const now = Date.now();
  for (const query of [`from=${now}&to=${now - 1}`, `from=${now - 32 * 24 * HOUR_MS}`]) {
    const { status, body } = await ask(`/api/v1/applications/shop/monitoring?${query}`);
    expect([status, (body as { code: string }).code], query).toEqual([422, 'monitoring/bad-window']);
  }
  for (const query of ['points=721', 'points=30', 'from=-1', 'to=soon', 'step=1'])
    expect((await ask(`/api/v1/applications/shop/monitoring?${query}`)).status, query).toBe(400);
  expect((await ask('/api/v1/applications/nobody/monitoring')).status).toBe(404);
});

test('a window is aligned to its step, so that viewers of the same minute request the same samples', () => {
  const now = Date.UTC(2026, 10, 20, 12, 0, 50);
  const one = monitoringWindow({ points: 60 }, now);
  expect(one).toEqual(monitoringWindow({ points: 60 }, now + 9_000));
  expect(one.stepSeconds).toBe(60);
  expect(one.endSeconds * 1000).toBe(Date.UTC(2026, 10, 20, 12));
  // The future has no samples.
  expect(monitoringWindow({ to: now + HOUR_MS, from: now - HOUR_MS }, now).endSeconds).toBe(
    monitoringWindow({}, now).endSeconds,
  );
  for (const days of [1, 7, 31])
    for (const points of [31, 60, 720]) {
      const range = { from: now - days * 24 * HOUR_MS, points };
      const { startSeconds, endSeconds, stepSeconds } = monitoringWindow(range, now);
      expect((endSeconds - startSeconds) / stepSeconds, `${days} ${points}`).toBeLessThanOrEqual(points + 1);
    }
  const short = monitoringWindow({ from: now - 1_000 }, now);
  expect(short.endSeconds - short.startSeconds).toBe(short.stepSeconds);
});

test('changes, drift and decisions of that time are marks, oldest first', async () => {
  const serving = await serve();
  const now = Date.now();
  const row = (serial: number, minutesAgo: number, event: string, detail: Json): HistoryRow => ({
    serial,
    scope: 'default/team-a/region-1/42',
    atMs: now - minutesAgo * 60_000,
    actor: 'daemon',
    event,
    uid: null,
    detail,
    previousHash: '0',
    hash: '1',
  });
  const write = (cause: string, run: string) => ({
    intent: `i-${run}`,
    summary: 'open outer access of port 80',
    write: { run, revision: 'main@sha1:1', resource: 'Component/shop-web', verb: 'update', cause, changes: [] },
  });
  serving.api.rows = [
    row(6, 2, 'suspended', { application: 'Application/shop', by: 'ann', reason: 'r' }),
    row(5, 5, 'drift-healed', { resource: 'Component/shop-web', changes: [{ field: 'ports[80].outer' }] }),
    row(4, 5, 'intent', write('drift', 'r2')),
    row(3, 6, 'drift', { resource: 'Component/shop-web', changes: [{ field: 'ports[80].outer' }] }),
    row(2, 30, 'intent', write('git', 'r1')),
    row(1, 300, 'intent', write('git', 'r0')),
  ];
  const { body } = await serving.ask('/api/v1/applications/shop/monitoring');
  const { marks, marksComplete } = body as MonitoringHistory;
  expect(marks.map(({ type, message }) => `${type}: ${message}`)).toEqual([
    'change: open outer access of port 80',
    'drift: drift: ports[80].outer',
    'corrected: drift corrected: ports[80].outer',
    'other: suspended by daemon',
  ]);
  expect(marks[0]).toMatchObject({ resource: 'Component/shop-web', revision: 'main@sha1:1' });
  expect(marksComplete).toBe(true);
  serving.api.rows = Array.from({ length: 250 }, (_, at) => row(250 - at, 1, 'drift', { resource: 'Component/x' }));
  const many = (await serving.ask('/api/v1/applications/shop/monitoring')).body as MonitoringHistory;
  expect([many.marks.length, many.marksComplete]).toEqual([200, false]);
  // A pass reports much drift in one transaction, whose rows have one serial and may be on several pages.
  const drift = (serial: number, count: number): readonly HistoryRow[] =>
    Array.from({ length: count }, () => row(serial, 1, 'drift', { resource: 'Component/x' }));
  for (const [older, newer] of [
    [100, 150],
    [200, 1],
    [200, 0],
  ] as const) {
    const [recorded] = drift(2, 1);
    if (recorded === undefined) throw new Error('there is a row');
    serving.api.rows = [
      ...Array.from({ length: newer }, () => ({ ...recorded, event: 'recorded' })),
      ...drift(1, older),
    ];
    const { body: split } = await serving.ask('/api/v1/applications/shop/monitoring');
    const found = split as MonitoringHistory;
    expect([found.marks.length, found.marksComplete], `${newer} ${older}`).toEqual([older, true]);
  }
});

test('the replicas are shown with the leader of each platform and source', async () => {
  const { ask } = await serve();
  const { status, body } = await ask('/api/v1/replicas');
  expect(status).toBe(200);
  expect(body).toEqual(replicas);
});

test('the platform, the source and the controller are shown with their faults', async () => {
  const { ask, api } = await serve();
  const { status, body } = await ask('/api/v1/platform');
  expect(status).toBe(200);
  const shown = body as PlatformStatus;
  expect(shown.platforms[0]).toMatchObject({
    name: 'default',
    load: { concurrency: 8, concurrencyMax: 16, requestsPerSecondMax: 50 },
    recent: { requests: 0 },
  });
  expect(shown.process).toMatchObject({ rssBytes: 3, phase: 'running', lagMs: expect.any(Number) });
  expect(shown.ledger).toEqual(api.backing.ledger);
  expect(shown.faults.map(({ side, part }) => `${side} ${part}`)).toEqual(['source source']);
});

const healthy: Omit<PlatformStatus, 'faults'> = {
  atMs: 0,
  platforms: [
    {
      name: 'default',
      url: 'https://console.example.com',
      load: {
        running: 0,
        waiting: 0,
        concurrency: 8,
        concurrencyMax: 16,
        requestsPerSecond: 50,
        requestsPerSecondMax: 50,
      },
      recent: { requests: 100, failed: 2, throttled: 0, p50Ms: 20, p95Ms: 80, p99Ms: 200, perSecond: 0.3 },
      operations: [],
      minutes: [],
    },
  ],
  regions: [],
  source: {
    name: 'default',
    location: '/srv/checkout',
    observedRevision: null,
    observedMs: null,
    acceptedRevision: null,
    acceptedMs: null,
    error: null,
    resources: 0,
  },
  ledger: {
    location: 'portolan.db',
    lineage: 'l',
    epoch: 1,
    bytes: 1,
    lastWriteMs: 0,
    serial: 1,
    isReadable: true,
    open: 1,
    inDoubt: 0,
  },
  process: {
    version: '0.1.0',
    node: '24',
    phase: 'running',
    startedMs: 0,
    rssBytes: 1,
    heapBytes: 1,
    heapLimitBytes: 10,
    lagMs: 0,
    lagMaxMs: 20,
  },
  queue: { applications: 1, queued: 0, running: 0, failing: 0 },
};

type Platform = (typeof healthy.platforms)[number];

/** A status whose only platform differs so. */
function platform(changes: { recent?: Partial<Platform['recent']>; load?: Partial<Platform['load']> }) {
  return healthy.platforms.map((one) => ({
    ...one,
    recent: { ...one.recent, ...changes.recent },
    load: { ...one.load, ...changes.load },
  }));
}

const region = { platform: 'default', region: 'region-1', sinceMs: 0, untilMs: 0, applications: 1 } as const;

test.for([
  ['nothing is wrong', {}, []],
  [
    'requests fail',
    { platforms: platform({ recent: { failed: 30 } }) },
    ['error platform default: 30 of 100 requests'],
  ],
  ['few requests, most failed', { platforms: platform({ recent: { requests: 2, failed: 2 } }) }, []],
  [
    'the platform throttles',
    { platforms: platform({ recent: { throttled: 1 } }) },
    ['warning platform default: default throttled 1 request '],
  ],
  [
    'answers are slow',
    { platforms: platform({ recent: { p95Ms: 6_200 } }) },
    ['warning platform default: default answers slowly: 95 % of the answers take up to 6.2 s.'],
  ],
  [
    'the adaptive limit is low, and requests wait',
    { platforms: platform({ load: { concurrency: 2, waiting: 9 } }) },
    ['warning platform default: default slows down under load: 2 of 16 requests at once are sent, and 9 wait.'],
  ],
  [
    'a region is paused by the circuit breaker, and another one by the platform',
    {
      regions: [
        { ...region, state: 'paused' as const, message: 'region region-1 is under maintenance' },
        { ...region, state: 'circuit-open' as const, message: '5 failures in a row' },
      ],
    },
    [
      'error platform default/region-1: Region region-1 is paused (circuit breaker open): 5 failures in a row.',
      'warning platform default/region-1: Region region-1 is under maintenance, so nothing is changed in it.',
    ],
  ],
  [
    'the source is faulty',
    { source: { ...healthy.source, error: { code: 'c/d', message: 'm', remedy: 'r', atMs: 0 } } },
    ['error source source: m'],
  ],
  [
    'the ledger cannot be read',
    { ledger: { ...healthy.ledger, isReadable: false } },
    ['error controller ledger: The ledger cannot be read'],
  ],
  [
    'an outcome is unknown',
    { ledger: { ...healthy.ledger, inDoubt: 1 } },
    ['warning controller ledger: The outcome of 1 request is unknown.'],
  ],
  [
    'the process hangs',
    { process: { ...healthy.process, lagMaxMs: 7_000 } },
    ['error controller process: The process did not respond for 7.0 s'],
  ],
  [
    'the process is short of memory',
    { process: { ...healthy.process, heapBytes: 9 } },
    ['error controller process: The process uses more than 90 % of its memory.'],
  ],
] as const)('%s', ([, changes, expected]) => {
  const found = faultsOf({ ...healthy, ...changes });
  const texts = found.map(({ severity, side, part, message }) => `${severity} ${side} ${part}: ${message}`);
  expect(texts).toEqual(expected.map((text) => expect.stringMatching(new RegExp(`^${RegExp.escape(text)}`))));
  for (const { remedy } of found) expect(remedy).not.toBe('');
});
