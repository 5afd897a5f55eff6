import { PortolanError } from '../model/errors.ts';
import type { ComponentMonitor, ComponentSeries, MonitorSeries } from './records.ts';
import type { MonitorQuery, PlatformClient } from './client.ts';
import { listComponents } from './readings.ts';
import type { AppAddress } from './writes.ts';

/**
 * The source of samples. `region`: the range query of the region's metrics, which has every sample. `application`: the documented
 * endpoint of the application, from which a real server loses all samples of a range.
 */
export type MonitoringSource = 'region' | 'application';

export interface Monitoring {
  readonly source: MonitoringSource;
  /** The answer has series, and none of them has a sample. */
  readonly isEmpty: boolean;
  readonly monitors: readonly ComponentMonitor[];
}

/** A component whose series are requested. */
export interface MonitoredComponent {
  readonly serviceId: string;
  readonly displayName: string | null;
  readonly alias: string;
}

export interface MonitoringQuestion extends MonitorQuery {
  /** Absent: every component of the application that has series. */
  readonly components?: readonly MonitoredComponent[];
  /** Names of the items; absent: those that the documented endpoint has. */
  readonly items?: readonly string[];
}

/** The server's own expressions for the items of the documented endpoint, each for many components at once. */
const EXPRESSIONS: Readonly<Record<string, (ids: string) => string>> = {
  request_time: (ids) => `ceil(avg(app_requesttime{mode="avg",service_id=~"${ids}"})by(service_id))`,
  request: (ids) => `sum(ceil(increase(app_request{service_id=~"${ids}",method="total"}[1m])/12))by(service_id)`,
  request_client: (ids) => `max(app_requestclient{service_id=~"${ids}"})by(service_id)`,
};

/** Limit of components in one expression: it is part of an address, which may have about 2,000 characters. */
const COMPONENTS_PER_QUERY = 40;

/** Returns the history of an application's components, from the region's metrics if the server has them. */
export async function readMonitoring(
  client: PlatformClient,
  app: AppAddress,
  question: MonitoringQuestion,
): Promise<Monitoring> {
  const asked = { client, app, question };
  return (await byRegion(asked)) ?? (await byApplication(asked));
}

interface Asked {
  readonly client: PlatformClient;
  readonly app: AppAddress;
  readonly question: MonitoringQuestion;
}

/** Returns undefined if the server does not have the query, the query failed, or the components are unknown. */
async function byRegion(asked: Asked): Promise<Monitoring | undefined> {
  const { question } = asked;
  const items = question.items ?? Object.keys(EXPRESSIONS);
  if (items.some((item) => EXPRESSIONS[item] === undefined)) return undefined;
  try {
    const components = question.components ?? (await componentsOf(asked));
    if (components === undefined) return undefined;
    const monitors = await regionMonitors(asked, components, items);
    return monitors === undefined ? undefined : { source: 'region', isEmpty: false, monitors };
  } catch (error) {
    // The other source may answer, unless the process stops.
    if (!(error instanceof PortolanError) || error.code === 'platform/stopped') throw error;
    return undefined;
  }
}

/** Returns the components; undefined: the server cannot list them. Only the documented endpoint knows outer ports. */
async function componentsOf({ client, app, question }: Asked): Promise<readonly MonitoredComponent[] | undefined> {
  if (question.outerOnly === true) {
    const monitors = await client.monitor(app, question);
    return monitors.map(({ serviceId, componentName, componentAlias }) => ({
      serviceId,
      displayName: componentName,
      alias: componentAlias,
    }));
  }
  const listed = await client.read(listComponents, app);
  return listed.readable ? listed.value : undefined;
}

/** Leaves out components without series, as the documented endpoint does for those without the plug-in. */
async function regionMonitors(
  asked: Asked,
  components: readonly MonitoredComponent[],
  items: readonly string[],
): Promise<readonly ComponentMonitor[] | undefined> {
  const found = await Promise.all(items.map((item) => seriesOf(asked, components, item)));
  if (found.includes(undefined)) return undefined;
  const byItem = found.map((series) => Map.groupBy(series ?? [], ({ serviceId }) => serviceId));
  return components
    .filter(({ serviceId }) => byItem.some((series) => series.has(serviceId)))
    .map(({ serviceId, displayName, alias }) => ({
      serviceId,
      componentName: displayName ?? '',
      componentAlias: alias,
      items: items.map((name, index) => ({
        name,
        status: 'success',
        series: (byItem[index]?.get(serviceId) ?? []).map(({ samples }): MonitorSeries => ({ samples })),
      })),
    }));
}

async function seriesOf(
  { client, app, question: { start, end, stepSeconds } }: Asked,
  components: readonly MonitoredComponent[],
  item: string,
): Promise<readonly ComponentSeries[] | undefined> {
  const expression = EXPRESSIONS[item];
  if (expression === undefined) return undefined;
  const found: ComponentSeries[] = [];
  for (let from = 0; from < components.length; from += COMPONENTS_PER_QUERY) {
    const ids = components.slice(from, from + COMPONENTS_PER_QUERY).map(({ serviceId }) => serviceId);
    const answer = await client.regionSeries(app.region, {
      expression: expression(ids.join('|')),
      start,
      end,
      stepSeconds,
    });
    if (!answer.readable) return undefined;
    found.push(...answer.value);
  }
  return found;
}

async function byApplication({ client, app, question }: Asked): Promise<Monitoring> {
  const monitors = await client.monitor(app, question);
  const series = monitors.flatMap(({ items }) => items ?? []).flatMap((item) => item.series);
  return {
    source: 'application',
    isEmpty: series.length > 0 && series.every(({ samples }) => samples.length === 0),
    monitors,
  };
}

/** Returns the source in words, for output and conditions. */
export function sourceInWords({ source, isEmpty }: Pick<Monitoring, 'source' | 'isEmpty'>): string {
  if (source === 'region') return "the region's metrics";
  const what = 'the monitoring endpoint of the application';
  return isEmpty ? `${what}, whose answer has lost every sample` : what;
}
