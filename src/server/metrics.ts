import { Gauge, Registry } from 'prom-client';
import type { ControllerApi, ControllerObserver } from '../controller/api.ts';
import { type DeliveryCounts, dropReasons } from '../controller/delivery.ts';
import type { ResourceId } from '../model/ids.ts';
import type { ControllerEvent } from '../model/status.ts';
import type { Clock } from '../runtime/clock.ts';
import { registerProcess } from './metrics-process.ts';
import { leaseMetrics } from './metrics-replicas.ts';
import { type Labels, registerGauge, type Series, seriesOf } from './metrics-series.ts';
import { registerStanding, type StandingView } from './metrics-standing.ts';
import type { RunPiece } from './pace.ts';
import type { RenderMetrics } from './route.ts';

export interface MetricsOptions {
  readonly clock: Clock;
  /** Returns how many passes may run at the same time. */
  readonly concurrency: () => number;
  readonly version: string;
  /** Version of Node. */
  readonly node: string;
  /** True adds metrics of the process, which cannot be removed once they are registered. */
  readonly process: boolean;
}

/** Metrics of the controller for Prometheus. */
export interface Metrics {
  readonly observer: ControllerObserver;
  readonly deliveries: DeliveryCounts;
  /** Shows the state of this controller from now on. @returns a function that stops counting its events. */
  attach(api: ControllerApi): () => void;
  /**
   * Returns all metrics in the text format of Prometheus, 0.0.4. Only one call may run at a time.
   * @param run runs each part, so that other work can run in between. Default: all at once.
   */
  render(run?: RunPiece): ReturnType<RenderMetrics>;
}

/** The only controller. The metric names are those of Kubernetes controllers, so that their dashboards work. */
const CONTROLLER = { controller: 'application' } as const;
const QUEUE = { name: 'application' } as const;
const RESULTS = ['success', 'requeue', 'error'] as const;

const RECONCILE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const WAIT_SECONDS = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 60, 300, 1000];
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const MILESTONE_SECONDS = [0.05, 0.1, 0.15, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1200, 3600];

/** Creates the metrics. Labels are applications, platforms, operations and receivers, never resources: their number is not bounded. */
export function createMetrics(options: MetricsOptions): Metrics {
  // Two controllers in one process must not share a registry.
  const registry = new Registry();
  let api: ControllerApi | undefined;
  /** The state at the beginning of a scrape, so that all families show the same moment. */
  let view: StandingView | undefined;
  if (options.process) registerProcess(registry);
  const registers = [registry];
  new Gauge({
    name: 'portolan_build_info',
    help: 'Always 1. The labels are the versions of Portolan and Node.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: options.version, node: options.node }, 1);
  const series = seriesOf(registry);
  const events = series.counter('portolan_events_total', 'Events of the controller.', ['type', 'severity']);
  registerStanding(registry, () => view, options.clock);
  const queue = queueMetrics(registry, series, options, () => view);
  const requests = requestMetrics(series);
  const leases = leaseMetrics(registry, series, options.clock);
  return {
    observer: { ...queue, ...requests, ...leases.observer },
    deliveries: deliveryMetrics(series),
    attach(next) {
      api = next;
      return next.events.subscribe(({ type, severity }: ControllerEvent) => events.inc({ type, severity }), 'own');
    },
    render: async (run = async (piece) => piece()) => {
      await run(() => void (view = api && leases.view(api)));
      const families: string[] = [];
      for (const { name } of registry.getMetricsAsArray()) {
        const text = await run(() => registry.getSingleMetricAsString(name));
        // prom-client writes `Nan` for the lag before the first turn of the loop; the format wants NaN.
        families.push(text.includes(' Nan') ? text.replaceAll(/^([^#].*) Nan$/gm, '$1 NaN') : text);
      }
      view = undefined;
      return { contentType: registry.contentType, text: `${families.join('\n\n')}\n` };
    },
  };
}

type QueueObserver = Pick<ControllerObserver, 'queued' | 'began' | 'ended' | 'retried'>;

function queueMetrics(
  registry: Registry,
  series: Series,
  { clock, concurrency }: MetricsOptions,
  view: () => StandingView | undefined,
): QueueObserver {
  /** Start of each running pass by key. */
  const running = new Map<ResourceId, number>();
  registerWorkers(registry, view, concurrency, () => [...running.values()].map((began) => clock.monotonic() - began));
  const { passes, took, waited, worked, adds, retries } = queueSeries(series);
  return {
    queued: () => adds.inc(QUEUE),
    began(key, waitedMs) {
      running.set(key, clock.monotonic());
      waited.observe(QUEUE, waitedMs / 1000);
    },
    ended(key, result, tookMs) {
      running.delete(key);
      passes.inc({ ...CONTROLLER, result });
      took.observe(CONTROLLER, tookMs / 1000);
      worked.observe(QUEUE, tookMs / 1000);
    },
    retried: () => retries.inc(QUEUE),
  };
}

/** Registers the series of passes. Each starts at 0, so that the first failure shows as an increase. */
function queueSeries({ counter, histogram }: Series) {
  const passes = counter('controller_runtime_reconcile_total', 'Passes over an application, by result.', [
    'controller',
    'result',
  ]);
  for (const result of RESULTS) passes.inc({ ...CONTROLLER, result }, 0);
  const took = histogram(
    'controller_runtime_reconcile_time_seconds',
    'Duration of passes.',
    ['controller'],
    RECONCILE_SECONDS,
  );
  const waited = histogram(
    'workqueue_queue_duration_seconds',
    'Time that due applications waited for their pass.',
    ['name'],
    WAIT_SECONDS,
  );
  const worked = histogram(
    'workqueue_work_duration_seconds',
    'Duration of passes, as the queue measures it.',
    ['name'],
    RECONCILE_SECONDS,
  );
  took.zero(CONTROLLER);
  waited.zero(QUEUE);
  worked.zero(QUEUE);
  const adds = counter('workqueue_adds_total', 'Applications added to the queue.', ['name']);
  const retries = counter('workqueue_retries_total', 'Applications put back in the queue to retry later.', ['name']);
  adds.inc(QUEUE, 0);
  retries.inc(QUEUE, 0);
  return { passes, took, waited, worked, adds, retries };
}

/** Registers the gauges of the queue and its workers. @param agesMs returns the ages of the running passes. */
function registerWorkers(
  registry: Registry,
  view: () => StandingView | undefined,
  concurrency: () => number,
  agesMs: () => readonly number[],
): void {
  const gauge = (name: string, help: string, labels: Labels, value: () => number): void =>
    registerGauge(registry, name, help, Object.keys(labels), () => [[labels, value()]]);
  gauge(
    'workqueue_depth',
    'Due applications that wait for their pass.',
    QUEUE,
    () => view()?.status.counts.queued ?? 0,
  );
  gauge('controller_runtime_active_workers', 'Passes that are running.', CONTROLLER, () => agesMs().length);
  gauge(
    'controller_runtime_max_concurrent_reconciles',
    'Passes that may run at the same time.',
    CONTROLLER,
    concurrency,
  );
  gauge('workqueue_unfinished_work_seconds', 'Sum of the ages of all running passes.', QUEUE, () =>
    agesMs().reduce((sum, ageMs) => sum + ageMs / 1000, 0),
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    'Age of the oldest running pass.',
    QUEUE,
    () => Math.max(0, ...agesMs()) / 1000,
  );
}

function requestMetrics({ counter, histogram }: Series): Pick<ControllerObserver, 'request' | 'milestone'> {
  const requests = counter('portolan_requests_total', 'Requests to platforms, by operation and outcome.', [
    'platform',
    'operation',
    'outcome',
  ]);
  const took = histogram(
    'portolan_request_duration_seconds',
    'Duration of requests to platforms.',
    ['platform', 'operation'],
    REQUEST_SECONDS,
  );
  const milestones = histogram(
    'portolan_milestone_seconds',
    'Time from a commit, or from its observation, to each milestone of an application.',
    ['milestone', 'since'],
    MILESTONE_SECONDS,
  );
  return {
    request({ platform, operation, outcome, tookMs }) {
      requests.inc({ platform, operation, outcome });
      took.observe({ platform, operation }, tookMs / 1000);
    },
    milestone({ milestone, sinceCommitMs, sinceObservedMs }) {
      milestones.observe({ milestone, since: 'observed' }, sinceObservedMs / 1000);
      // The committer's clock may be ahead of ours.
      if (sinceCommitMs !== null) milestones.observe({ milestone, since: 'commit' }, Math.max(0, sinceCommitMs) / 1000);
    },
  };
}

function deliveryMetrics({ counter }: Series): DeliveryCounts {
  const sent = counter('portolan_notifications_sent_total', 'Notifications and traces that a receiver accepted.', [
    'receiver',
  ]);
  const dropped = counter(
    'portolan_notifications_dropped_total',
    'Notifications and traces that a receiver did not get.',
    ['receiver', 'reason'],
  );
  const collapsed = counter(
    'portolan_notifications_collapsed_total',
    'Notifications that repeated an earlier one and were only counted.',
    ['receiver'],
  );
  return {
    // The counter starts at 0, so that the first loss shows as an increase.
    opened(receiver) {
      for (const reason of dropReasons) dropped.inc({ receiver, reason }, 0);
    },
    sent: (receiver) => sent.inc({ receiver }),
    dropped: (receiver, reason) => dropped.inc({ receiver, reason }),
    collapsed: (receiver) => collapsed.inc({ receiver }),
  };
}
