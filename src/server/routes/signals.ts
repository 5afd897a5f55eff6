import type { MonitoringHistory } from '../../model/monitoring.ts';
import type { PlatformStatus } from '../../model/platform-status.ts';
import { ref } from '../../model/schema-words.ts';
import {
  monitoringWindow,
  POINTS_DEFAULT,
  POINTS_MAX,
  POINTS_MIN,
  seriesHistory,
  type TimeRange,
} from '../../views/monitoring.ts';
import { faultsOf } from '../faults.ts';
import { marksOf } from '../marks.ts';
import { json, type Reply, routesOf, type Services } from '../route.ts';
import { applicationNamed } from './queries.ts';

const name = { type: 'string', minLength: 1, maxLength: 256 } as const;
const time = { type: 'integer', minimum: 0, maximum: 8_640_000_000_000 } as const;

interface MonitoringQuery extends TimeRange {
  readonly component?: string;
  readonly item?: string;
}

/** Routes that answer where a fault is, and how an application does. */
export const signalRoutes = routesOf({
  'GET /api/v1/applications/{name}/monitoring': {
    operationId: 'getMonitoring',
    summary:
      'Returns the monitoring series of the components of an application, with the changes and the drift of that time. Callers share answers of up to 10 seconds, and a tenth of the requests to the platform.',
    access: 'viewer',
    waits: true,
    query: {
      component: { ...name, description: 'Only this component, by name, alias or id.' },
      item: { ...name, description: 'Only this item, such as request_time.' },
      from: { ...time, description: 'Start, in milliseconds since 1970. Default: an hour before the end.' },
      to: { ...time, description: 'End, in milliseconds since 1970. Default: now. At most 31 days after the start.' },
      points: {
        type: 'integer',
        minimum: POINTS_MIN,
        maximum: POINTS_MAX,
        default: POINTS_DEFAULT,
        description: 'The maximum number of values of a series. It determines the step.',
      },
    },
    answers: { 200: { description: 'The series.', schema: ref('Monitoring') } },
    handle: async ({ params, query }, { api, clock }) => {
      const { component, item, ...range } = query as MonitoringQuery;
      const { id } = applicationNamed(api, params['name']);
      const window = monitoringWindow(range, clock.now());
      const filter = {
        ...(component === undefined ? {} : { component: [component] }),
        ...(item === undefined ? {} : { item: [item] }),
      };
      const reading = await api.monitoring(id, window);
      const series = seriesHistory({ application: id, window, reading, filter });
      return json({ ...series, ...(await marksOf(api, id, series)) } satisfies MonitoringHistory);
    },
  },
  'GET /api/v1/platform': {
    operationId: 'getPlatform',
    summary:
      'Returns the state of platforms, regions, source, ledger and process, with every fault and the side where it is. Sends no request to a platform.',
    access: 'viewer-of-all',
    answers: { 200: { description: 'The state.', schema: ref('PlatformStatus') } },
    handle: (_, services) => platformStatus(services),
  },
  'GET /api/v1/replicas': {
    operationId: 'getReplicas',
    summary:
      'Returns all processes of the controller, and the leader of each platform and source with its epoch and the start of it.',
    access: 'viewer-of-all',
    answers: { 200: { description: 'The replicas.', schema: ref('Replicas') } },
    handle: async (_, { api }) => json(await api.replicas()),
  },
});

async function platformStatus({ api, clock, health, traffic, processFacts }: Services): Promise<Reply> {
  const { platforms, regions, ledger } = await api.dependencies();
  const { source, phase, startedMs, counts } = api.status();
  const { applications, queued, running, failing } = counts;
  const status: Omit<PlatformStatus, 'faults'> = {
    atMs: clock.now(),
    platforms: platforms.map(({ name: platform, url, load: { max, ...load } }) => ({
      name: platform,
      url,
      load: { ...load, concurrencyMax: max.concurrency, requestsPerSecondMax: max.requestsPerSecond },
      ...traffic.of(platform),
    })),
    regions,
    source,
    ledger,
    process: {
      ...processFacts(),
      phase,
      startedMs,
      lagMs: health.lag().lagMs,
      lagMaxMs: health.longestLagMs(),
    },
    queue: { applications, queued, running, failing },
  };
  return json({ ...status, faults: faultsOf(status) } satisfies PlatformStatus);
}
