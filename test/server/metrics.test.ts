import { expect, test } from 'vitest';
import type { Intent } from '../../src/model/owned.ts';
import { createMetrics, type Metrics } from '../../src/server/metrics.ts';
import {
  application,
  condition,
  event,
  handMadeApi,
  NOON_MS,
  resource,
  REVISION,
  sourceStatus,
} from '../controller/hand-made.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { type Family, parseExposition } from './exposition.ts';

function scene(process = false): { metrics: Metrics; clock: VirtualClock } {
  const clock = new VirtualClock(NOON_MS);
  const metrics = createMetrics({ clock, concurrency: () => 8, version: '1.2.3', node: '24.21.0', process });
  return { metrics, clock };
}

async function read(
  metrics: Metrics,
): Promise<{ families: ReadonlyMap<string, Family>; value(series: string): number | undefined }> {
  const { contentType, text } = await metrics.render();
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  const families = parseExposition(text);
  const all = new Map([...families.values()].flatMap(({ samples }) => [...samples]));
  return { families, value: (series) => all.get(series) };
}

test('every series of the queue is there before anything has happened, and nothing else claims to know', async () => {
  const { value, families } = await read(scene().metrics);
  for (const result of ['success', 'requeue', 'error'])
    expect(value(`controller_runtime_reconcile_total{controller="application",result="${result}"}`)).toBe(0);
  for (const series of [
    'workqueue_adds_total{name="application"}',
    'workqueue_retries_total{name="application"}',
    'workqueue_depth{name="application"}',
    'workqueue_unfinished_work_seconds{name="application"}',
    'workqueue_longest_running_processor_seconds{name="application"}',
    'workqueue_queue_duration_seconds_count{name="application"}',
    'workqueue_work_duration_seconds_count{name="application"}',
    'controller_runtime_reconcile_time_seconds_count{controller="application"}',
    'controller_runtime_active_workers{controller="application"}',
  ])
    expect(value(series), series).toBe(0);
  expect(value('controller_runtime_max_concurrent_reconciles{controller="application"}')).toBe(8);
  expect(value('portolan_build_info{node="24.21.0",version="1.2.3"}')).toBe(1);
  expect(families.get('portolan_drift')?.samples.size).toBe(0);
});

test('what the queue does is counted and timed', async () => {
  const { metrics, clock } = scene();
  const { observer } = metrics;
  for (const key of ['Application/a', 'Application/b', 'Application/c'] as const) observer.queued(key, 'git');
  observer.began('Application/a', 20);
  observer.ended('Application/a', 'success', 300);
  observer.began('Application/b', 2_000);
  observer.ended('Application/b', 'error', 40_000);
  observer.retried('Application/b');
  observer.began('Application/b', 0);
  clock.advance(5_000);
  observer.began('Application/c', 0);
  clock.advance(1_000);
  const { value } = await read(metrics);
  expect({
    adds: value('workqueue_adds_total{name="application"}'),
    retries: value('workqueue_retries_total{name="application"}'),
    success: value('controller_runtime_reconcile_total{controller="application",result="success"}'),
    error: value('controller_runtime_reconcile_total{controller="application",result="error"}'),
    requeue: value('controller_runtime_reconcile_total{controller="application",result="requeue"}'),
    active: value('controller_runtime_active_workers{controller="application"}'),
    unfinished: value('workqueue_unfinished_work_seconds{name="application"}'),
    longest: value('workqueue_longest_running_processor_seconds{name="application"}'),
    tookSum: value('controller_runtime_reconcile_time_seconds_sum{controller="application"}'),
    took30s: value('controller_runtime_reconcile_time_seconds_bucket{controller="application",le="30"}'),
    took60s: value('controller_runtime_reconcile_time_seconds_bucket{controller="application",le="60"}'),
    waitedSum: value('workqueue_queue_duration_seconds_sum{name="application"}'),
    worked: value('workqueue_work_duration_seconds_count{name="application"}'),
  }).toEqual({
    adds: 3,
    retries: 1,
    success: 1,
    error: 1,
    requeue: 0,
    active: 2,
    unfinished: 7,
    longest: 6,
    tookSum: 40.3,
    took30s: 1,
    took60s: 2,
    waitedSum: 2.02,
    worked: 2,
  });
});

test('requests, milestones, deliveries and events are counted', async () => {
  const { metrics } = scene();
  const api = handMadeApi();
  const detach = metrics.attach(api);
  const { observer, deliveries } = metrics;
  const request = { platform: 'default', operation: 'listPorts', isRead: true, outcome: '2xx', tookMs: 30 } as const;
  observer.request(request);
  observer.request(request);
  observer.request({ ...request, outcome: 'timeout', tookMs: 30_000 });
  const milestone = { application: 'Application/a', revision: REVISION, milestone: 'applied' } as const;
  observer.milestone({ ...milestone, sinceCommitMs: 1_200, sinceObservedMs: 200 });
  observer.milestone({ ...milestone, sinceCommitMs: null, sinceObservedMs: 100 });
  observer.milestone({ ...milestone, sinceCommitMs: -5_000, sinceObservedMs: 100 });
  deliveries.opened('ops');
  deliveries.sent('ops');
  deliveries.dropped('chat', 'overflow');
  deliveries.dropped('chat', 'overflow');
  deliveries.collapsed('ops');
  api.emit(event());
  detach();
  api.emit(event());
  const { value } = await read(metrics);
  const labels = 'operation="listPorts",outcome="2xx",platform="default"';
  expect(value(`portolan_requests_total{${labels}}`)).toBe(2);
  expect(value('portolan_requests_total{operation="listPorts",outcome="timeout",platform="default"}')).toBe(1);
  expect(value('portolan_request_duration_seconds_sum{operation="listPorts",platform="default"}')).toBeCloseTo(30.06);
  expect(value('portolan_milestone_seconds_count{milestone="applied",since="observed"}')).toBe(3);
  expect(value('portolan_milestone_seconds_count{milestone="applied",since="commit"}')).toBe(2);
  expect(value('portolan_milestone_seconds_sum{milestone="applied",since="commit"}')).toBe(1.2);
  expect(value('portolan_notifications_sent_total{receiver="ops"}')).toBe(1);
  expect(value('portolan_notifications_dropped_total{reason="overflow",receiver="chat"}')).toBe(2);
  // So that the first loss is an increase.
  expect(value('portolan_notifications_dropped_total{reason="failed",receiver="ops"}')).toBe(0);
  expect(value('portolan_notifications_collapsed_total{receiver="ops"}')).toBe(1);
  expect(value('portolan_events_total{severity="warning",type="drift.detected"}')).toBe(1);
});

const hold = { code: 'rule/not-ours', resource: 'Component/web', message: '', remedy: '', changes: [] } as const;

test('how the controller stands is what it says whenever it is asked', async () => {
  const { metrics, clock } = scene();
  clock.advance(60_000);
  const api = handMadeApi([
    application('shop', {
      conditions: [condition('Ready', 'False'), condition('Healthy', 'Unknown'), condition('Stalled', 'True')],
      failures: 3,
      pause: { type: 'suspended', by: 'alice', reason: '', sinceMs: NOON_MS },
      approval: { digest: 'd', refusals: [], sinceMs: NOON_MS },
      resources: [
        resource('web', { drift: { sinceMs: NOON_MS + 30_000, changes: [] }, holds: [hold, hold] }),
        resource('api', { drift: { sinceMs: NOON_MS, changes: [] }, mode: 'suspend' }),
        resource('db'),
      ],
    }),
    application('blog', { lastSuccessMs: null }),
  ]);
  api.statusFacts = {
    regions: [
      { platform: 'default', region: 'region-1', state: 'open', message: '' },
      { platform: 'default', region: 'region-2', state: 'circuit-open', message: '' },
    ],
    counts: { ...api.status().counts, queued: 4, running: 2, drifted: 1 },
  };
  const intent = (state: Intent['state']): Intent => ({ state }) as Intent;
  api.intentsNow = async () => [intent('unknown'), intent('unknown'), intent('open')];
  const orphan = {
    scope: 'default/a/r/1',
    id: 'Component/a',
    origin: 'created',
    objects: ['port/1'],
    sinceMs: 0,
  } as const;
  api.orphans = () => [orphan, { ...orphan, id: 'Component/b' }];
  metrics.attach(api);
  const shop = (name: string): string => `${name}{application="Application/shop"}`;
  const blog = (name: string): string => `${name}{application="Application/blog"}`;
  const { value } = await read(metrics);
  const found = (names: readonly string[]): Record<string, number | undefined> =>
    Object.fromEntries(names.map((name) => [name, value(shop(name))]));
  expect(
    found([
      'portolan_drift',
      'portolan_drift_age_seconds',
      'portolan_held',
      'portolan_suspended',
      'portolan_paused',
      'portolan_failures',
      'portolan_last_success_timestamp_seconds',
    ]),
  ).toEqual({
    portolan_drift: 2,
    portolan_drift_age_seconds: 60,
    portolan_held: 3,
    portolan_suspended: 2,
    portolan_paused: 1,
    portolan_failures: 3,
    portolan_last_success_timestamp_seconds: NOON_MS / 1000,
  });
  expect(value(blog('portolan_drift'))).toBe(0);
  expect(value(blog('portolan_drift_age_seconds'))).toBe(0);
  expect(value(blog('portolan_last_success_timestamp_seconds'))).toBeUndefined();
  expect(value('portolan_application_condition{application="Application/shop",type="Ready"}')).toBe(0);
  expect(value('portolan_application_condition{application="Application/shop",type="Healthy"}')).toBe(-1);
  expect(value('portolan_application_condition{application="Application/shop",type="Stalled"}')).toBe(1);
  expect(value('portolan_region_open{platform="default",region="region-1"}')).toBe(1);
  expect(value('portolan_region_open{platform="default",region="region-2"}')).toBe(0);
  expect(value('portolan_orphans{scope="default/a/r/1"}')).toBe(2);
  expect(value('portolan_phase{phase="running"}')).toBe(1);
  expect(value('portolan_phase{phase="draining"}')).toBe(0);
  expect(value('portolan_applications{state="drifted"}')).toBe(1);
  expect(value('workqueue_depth{name="application"}')).toBe(4);
  expect(value('portolan_ledger_intents{state="unknown"}')).toBe(2);
  expect(value('portolan_ledger_intents{state="open"}')).toBe(1);
  expect(value(`portolan_source_info{accepted="${REVISION}",observed="${REVISION}",source="default"}`)).toBe(1);
  expect(value('portolan_source_failing{source="default"}')).toBe(0);
  expect(value('portolan_source_resources{source="default"}')).toBe(3);
});

test('what is gone is not shown any more, and a ledger that cannot be read hides nothing else', async () => {
  const { metrics } = scene();
  const api = handMadeApi([application('shop'), application('odd\\"name')]);
  metrics.attach(api);
  expect((await read(metrics)).families.get('portolan_drift')?.samples.size).toBe(2);
  api.applicationsNow = [];
  api.sourceNow = { ...sourceStatus, acceptedRevision: null, error: { code: '', message: '', remedy: '', atMs: 0 } };
  api.intentsNow = async () => Promise.reject(new Error('the ledger is locked'));
  const { families, value } = await read(metrics);
  expect(families.get('portolan_drift')?.samples.size).toBe(0);
  expect(families.get('portolan_ledger_intents')?.samples.size).toBe(0);
  expect([...(families.get('portolan_source_info')?.samples.keys() ?? [])]).toEqual([
    `portolan_source_info{accepted="",observed="${REVISION}",source="default"}`,
  ]);
  expect(value('portolan_source_failing{source="default"}')).toBe(1);
});

test('there is no series per resource, and no more than a few per application', async () => {
  const { metrics } = scene();
  const names = Array.from({ length: 200 }, (_, index) => `app-${index}`);
  const resources = Array.from({ length: 50 }, (_, index) => resource(`part-${index}`));
  const api = handMadeApi(names.map((name) => application(name, { resources })));
  metrics.attach(api);
  for (const name of names) {
    metrics.observer.queued(`Application/${name}`, 'git');
    metrics.observer.began(`Application/${name}`, 1);
    metrics.observer.ended(`Application/${name}`, 'success', 1);
    api.emit(event({ resource: `Component/${name}` }));
  }
  const { text } = await metrics.render();
  expect(text).not.toContain('part-');
  const series = [...parseExposition(text).values()].reduce((sum, { samples }) => sum + samples.size, 0);
  expect(series).toBeLessThan(200 * 12 + 200);
});

test('the process says how it is: memory, handles, and how busy its loop is', async () => {
  const { families } = await read(scene(true).metrics);
  for (const name of [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'nodejs_heap_size_used_bytes',
    'nodejs_active_resources_total',
    'nodejs_eventloop_lag_seconds',
    'nodejs_eventloop_utilization_ratio',
  ])
    expect(families.get(name)?.samples.size, name).toBeGreaterThan(0);
  for (const [name, { help }] of families) expect(help.length, name).toBeGreaterThan(5);
  const utilization = [...(families.get('nodejs_eventloop_utilization_ratio')?.samples.values() ?? [])];
  expect(utilization.every((share) => share >= 0 && share <= 1)).toBe(true);
  // They would need a timer that wakes a process at rest all the time.
  expect([...families.keys()].filter((name) => /eventloop_lag_(?!seconds)/.test(name))).toEqual([]);
});

test.for([
  ['no line feed at the end', '# HELP a b\n# TYPE a gauge\na 1'],
  ['no HELP', '# TYPE a gauge\na 1\n'],
  ['no TYPE', '# HELP a b\na 1\n'],
  ['a series twice', '# HELP a b\n# TYPE a gauge\na{x="1"} 1\na{x="1"} 2\n'],
  ['a bad label', '# HELP a b\n# TYPE a gauge\na{x=1} 1\n'],
  ['no number', '# HELP a b\n# TYPE a gauge\na one\n'],
  ['a counter below 0', '# HELP a b\n# TYPE a counter\na -1\n'],
  [
    'a histogram that falls',
    '# HELP a b\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
  ],
] as const)('the parser of these tests refuses %s', ([, text]) => {
  expect(() => parseExposition(text)).toThrow();
});
