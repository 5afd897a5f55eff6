import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ControllerApi, ControllerObserver } from '../controller/api.ts';
import type { DeliveryCounts } from '../controller/delivery.ts';
import type { ResourceId } from '../model/ids.ts';
import type { ControllerEvent } from '../model/status.ts';
import type { Clock } from '../runtime/clock.ts';
import { registerProcess } from './metrics-process.ts';
import { registerStanding, type StandingView, viewOf } from './metrics-standing.ts';
import type { RunPiece } from './pace.ts';
import type { RenderMetrics } from './route.ts';

export interface MetricsOptions {
  readonly clock: Clock;
  /** Passes that may run at once. */
  readonly concurrency: () => number;
  readonly version: string;
  /** Version of Node. */
  readonly node: string;
  /** Memory, CPU, handles and how busy the event loop is; they are of the process, and cannot be taken away again. */
  readonly process: boolean;
}

/** What the controller counts, and how it stands, for Prometheus. */
export interface Metrics {
  readonly observer: ControllerObserver;
  readonly deliveries: DeliveryCounts;
  /** From now on, how this controller stands is shown too. @returns how to let go of it. */
  attach(api: ControllerApi): () => void;
  /**
   * Returns everything as it is now, in the text format of Prometheus, 0.0.4. One call at a time.
   * @param run runs each part, so that other work may be done in between. Default: all at once.
   */
  render(run?: RunPiece): ReturnType<RenderMetrics>;
}

/** The only name there is: there is one controller. The other names are those of Kubernetes controllers, for their dashboards. */
const CONTROLLER = { controller: 'application' } as const;
const QUEUE = { name: 'application' } as const;
const RESULTS = ['success', 'requeue', 'error'] as const;

const RECONCILE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const WAIT_SECONDS = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 60, 300, 1000];
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const MILESTONE_SECONDS = [0.05, 0.1, 0.15, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1200, 3600];

/** Labels are applications, platforms, operations and receivers: never resources, of which there may be any number. */
export function createMetrics(options: MetricsOptions): Metrics {
  // A registry of its own: two controllers in one process would otherwise count into each other.
  const registry = new Registry();
  let api: ControllerApi | undefined;
  /** What the controller said at the beginning of a scrape: all families are of one moment. */
  let view: StandingView | undefined;
  if (options.process) registerProcess(registry);
  const registers = [registry];
  new Gauge({
    name: 'portolan_build_info',
    help: 'Always 1; what runs is in the labels.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: options.version, node: options.node }, 1);
  const events = new Counter({
    name: 'portolan_events_total',
    help: 'Events of the controller.',
    labelNames: ['type', 'severity'],
    registers,
  });
  registerStanding(registry, () => view, options.clock);
  const queue = queueMetrics(registry, options, () => view);
  const requests = requestMetrics(registry);
  return {
    observer: { ...queue, ...requests },
    deliveries: deliveryMetrics(registry),
    attach(next) {
      api = next;
      return next.events.subscribe(({ type, severity }: ControllerEvent) => events.inc({ type, severity }));
    },
    render: async (run = async (piece) => piece()) => {
      await run(() => void (view = api && viewOf(api)));
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
  { clock, concurrency }: MetricsOptions,
  view: () => StandingView | undefined,
): QueueObserver {
  const registers = [registry];
  /** Key → when its pass began. */
  const running = new Map<ResourceId, number>();
  const agesMs = (): number[] => [...running.values()].map((beganMs) => clock.monotonic() - beganMs);
  const gauge = (name: string, help: string, labels: Readonly<Record<string, string>>, value: () => number): void => {
    new Gauge({
      name,
      help,
      labelNames: Object.keys(labels),
      registers,
      collect() {
        this.set(labels, value());
      },
    });
  };
  const passes = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Passes over an application, by how they ended.',
    labelNames: ['controller', 'result'],
    registers,
  });
  // Every series is there from the start, or the first failure would not show as a rise.
  for (const result of RESULTS) passes.inc({ ...CONTROLLER, result }, 0);
  const took = histogram(registry, {
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long passes took.',
    labelNames: ['controller'],
    buckets: RECONCILE_SECONDS,
  });
  const waited = histogram(registry, {
    name: 'workqueue_queue_duration_seconds',
    help: 'How long applications that were due waited for their pass.',
    labelNames: ['name'],
    buckets: WAIT_SECONDS,
  });
  const worked = histogram(registry, {
    name: 'workqueue_work_duration_seconds',
    help: 'How long passes took, as the queue sees it.',
    labelNames: ['name'],
    buckets: RECONCILE_SECONDS,
  });
  took.zero(CONTROLLER);
  waited.zero(QUEUE);
  worked.zero(QUEUE);
  const adds = new Counter({
    name: 'workqueue_adds_total',
    help: 'Applications added to the queue.',
    labelNames: ['name'],
    registers,
  });
  const retries = new Counter({
    name: 'workqueue_retries_total',
    help: 'Applications put back to be tried again after a while.',
    labelNames: ['name'],
    registers,
  });
  adds.inc(QUEUE, 0);
  retries.inc(QUEUE, 0);
  gauge('workqueue_depth', 'Applications that are due and wait.', QUEUE, () => view()?.status.counts.queued ?? 0);
  gauge('controller_runtime_active_workers', 'Passes that run.', CONTROLLER, () => running.size);
  gauge('controller_runtime_max_concurrent_reconciles', 'Passes that may run at once.', CONTROLLER, concurrency);
  gauge('workqueue_unfinished_work_seconds', 'Age of all passes that run, together.', QUEUE, () =>
    agesMs().reduce((sum, ageMs) => sum + ageMs / 1000, 0),
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    'Age of the oldest pass that runs.',
    QUEUE,
    () => Math.max(0, ...agesMs()) / 1000,
  );
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

function requestMetrics(registry: Registry): Pick<ControllerObserver, 'request' | 'milestone'> {
  const requests = new Counter({
    name: 'portolan_requests_total',
    help: 'Requests to platforms, by operation and outcome.',
    labelNames: ['platform', 'operation', 'outcome'],
    registers: [registry],
  });
  const took = histogram(registry, {
    name: 'portolan_request_duration_seconds',
    help: 'How long requests to platforms took.',
    labelNames: ['platform', 'operation'],
    buckets: REQUEST_SECONDS,
  });
  const milestones = histogram(registry, {
    name: 'portolan_milestone_seconds',
    help: 'From a commit, or from when it was seen, to each milestone of an application.',
    labelNames: ['milestone', 'since'],
    buckets: MILESTONE_SECONDS,
  });
  return {
    request({ platform, operation, outcome, tookMs }) {
      requests.inc({ platform, operation, outcome });
      took.observe({ platform, operation }, tookMs / 1000);
    },
    milestone({ milestone, sinceCommitMs, sinceObservedMs }) {
      milestones.observe({ milestone, since: 'observed' }, sinceObservedMs / 1000);
      // The clock of whoever committed may be ahead of ours.
      if (sinceCommitMs !== null) milestones.observe({ milestone, since: 'commit' }, Math.max(0, sinceCommitMs) / 1000);
    },
  };
}

function deliveryMetrics(registry: Registry): DeliveryCounts {
  const registers = [registry];
  const sent = new Counter({
    name: 'portolan_notifications_sent_total',
    help: 'Notifications and traces that a receiver took.',
    labelNames: ['receiver'],
    registers,
  });
  const dropped = new Counter({
    name: 'portolan_notifications_dropped_total',
    help: 'Notifications and traces that a receiver did not get.',
    labelNames: ['receiver', 'reason'],
    registers,
  });
  const collapsed = new Counter({
    name: 'portolan_notifications_collapsed_total',
    help: 'Notifications that repeated an earlier one and were counted in its place.',
    labelNames: ['receiver'],
    registers,
  });
  return {
    sent: (receiver) => sent.inc({ receiver }),
    dropped: (receiver, reason) => dropped.inc({ receiver, reason }),
    collapsed: (receiver) => collapsed.inc({ receiver }),
  };
}

interface HistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  readonly buckets: number[];
}

function histogram<Label extends string>(registry: Registry, options: HistogramOptions<Label>): Histogram<Label> {
  return new Histogram({ ...options, registers: [registry] });
}
