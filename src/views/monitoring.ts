import { invalidInput } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { MonitoringHistory, MonitoringMark, MonitoringSeries } from '../model/monitoring.ts';
import type { TimeWindow } from '../model/series.ts';
import type { EpochMs } from '../model/time.ts';
import type { Monitoring } from '../platform/monitoring.ts';
import type { ComponentMonitor } from '../platform/records.ts';
import { amount } from '../plan/words.ts';
import { type Chart, type ChartFilter, chartsOf } from './charts.ts';
import type { HistoryEntry } from './history.ts';

/** Steps of even length in seconds, so that viewers of the same time request the same samples. */
const STEPS = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400] as const;
/** With fewer, 31 days would need a step longer than a day. */
export const POINTS_MIN = 31;
export const POINTS_MAX = 720;
export const POINTS_DEFAULT = 240;
const DEFAULT_MS = 3_600_000;
const LONGEST_DAYS = 31;
const LONGEST_MS = LONGEST_DAYS * 86_400_000;

export interface TimeRange {
  /** Default: now. A time in the future counts as now. */
  readonly to?: EpochMs | undefined;
  /** Default: an hour before `to`. */
  readonly from?: EpochMs | undefined;
  /** Maximum number of values of a series. */
  readonly points?: number | undefined;
}

/** Returns the window of a request, aligned to its step. @throws PortolanError `monitoring/bad-window` */
export function monitoringWindow(range: TimeRange, nowMs: EpochMs): TimeWindow {
  const toMs = Math.min(range.to ?? nowMs, nowMs);
  const fromMs = range.from ?? toMs - DEFAULT_MS;
  const refuse = (message: string, remedy: string): never => {
    throw invalidInput('monitoring/bad-window', message, remedy);
  };
  if (fromMs >= toMs) refuse('The time of the series begins at its end, or later.', 'Make from earlier than to.');
  if (toMs - fromMs > LONGEST_MS)
    refuse(`The time of the series is longer than ${LONGEST_DAYS} days.`, 'Make from later, or to earlier.');
  const seconds = (toMs - fromMs) / 1000 / Math.min(range.points ?? POINTS_DEFAULT, POINTS_MAX);
  const stepSeconds = STEPS.find((step) => step >= seconds) ?? STEPS[STEPS.length - 1] ?? 1;
  const aligned = (ms: EpochMs): number => Math.floor(ms / 1000 / stepSeconds) * stepSeconds;
  const endSeconds = aligned(toMs);
  return { startSeconds: Math.min(aligned(fromMs), endSeconds - stepSeconds), endSeconds, stepSeconds };
}

export interface MonitoringAnswer {
  readonly application: ResourceId;
  readonly window: TimeWindow;
  readonly reading: Monitoring & Pick<MonitoringHistory, 'scope' | 'readMs'>;
  readonly filter: ChartFilter;
}

/** Returns the series as a grid of values, without marks. @throws PortolanError `invalid` as `chartsOf` */
export function seriesHistory(answer: MonitoringAnswer): Omit<MonitoringHistory, 'marks' | 'marksComplete'> {
  const { application, window, reading, filter } = answer;
  const charts = chartsOf(reading.monitors, filter);
  return {
    application,
    scope: reading.scope,
    fromMs: window.startSeconds * 1000,
    toMs: window.endSeconds * 1000,
    stepMs: window.stepSeconds * 1000,
    source: reading.source,
    samplesLost: reading.isEmpty,
    readMs: reading.readMs,
    components: chartsOf(reading.monitors, {}).map(({ serviceId, name, alias }) => ({ serviceId, name, alias })),
    series: charts.flatMap(({ serviceId, charts: its }) =>
      its.map(
        ({ item, series, unit, status, samples }): MonitoringSeries => ({
          serviceId,
          item,
          number: series ?? 1,
          unit,
          status,
          values: gridOf(samples, window),
        }),
      ),
    ),
  };
}

/** Returns the answer of the platform from which a history was made, as far as the history has it. */
export function monitorsOf({ components, series, fromMs, stepMs }: MonitoringHistory): readonly ComponentMonitor[] {
  const samplesOf = (values: MonitoringSeries['values']) =>
    values.flatMap((value, at) => (value === null ? [] : [[(fromMs + at * stepMs) / 1000, value] as const]));
  return components.map(({ serviceId, name, alias }) => {
    const items = Map.groupBy(
      series.filter((one) => one.serviceId === serviceId),
      ({ item }) => item,
    );
    return {
      serviceId,
      componentName: name,
      componentAlias: alias,
      items: [...items].map(([item, its]) => ({
        name: item,
        status: its[0]?.status ?? null,
        series: its.map(({ values }) => ({ samples: samplesOf(values) })),
      })),
    };
  });
}

/** Returns one value for each step: the newest sample near it. null: there is none. */
function gridOf(samples: Chart['samples'], { startSeconds, endSeconds, stepSeconds }: TimeWindow) {
  const values: (number | null)[] = Array.from(
    { length: Math.round((endSeconds - startSeconds) / stepSeconds) + 1 },
    () => null,
  );
  for (const [seconds, value] of samples) {
    const at = Math.round((seconds - startSeconds) / stepSeconds);
    if (at >= 0 && at < values.length) values[at] = value;
  }
  return values;
}

/** Returns the mark of a history entry; undefined: another entry has it. */
export function markOf(entry: HistoryEntry): MonitoringMark | undefined {
  const { atMs } = entry;
  switch (entry.type) {
    case 'run': {
      const { changes, revision } = entry;
      // The row of the corrected drift says more.
      if (changes.every(({ cause }) => cause === 'drift')) return undefined;
      const resources = new Set(changes.map(({ resource }) => resource));
      const resource = resources.size === 1 ? (changes[0]?.resource ?? null) : null;
      const [first] = changes;
      const message =
        first === undefined
          ? amount(changes.length, 'change')
          : changes.length === 1
            ? first.summary
            : `${first.summary}, and ${amount(changes.length - 1, 'more change')}`;
      return { atMs, type: 'change', resource, revision, message };
    }
    case 'drift': {
      const fields = entry.changes.map(({ path }) => path).join(', ');
      const message = `${entry.isCorrected ? 'drift corrected' : 'drift'}${fields === '' ? '' : `: ${fields}`}`;
      const type = entry.isCorrected ? 'corrected' : 'drift';
      return { atMs, type, resource: entry.resource as ResourceId, revision: null, message };
    }
    case 'approval':
      return { atMs, type: 'other', resource: null, revision: null, message: `plan approved by ${entry.by}` };
    case 'event':
      return { atMs, type: 'other', resource: null, revision: null, message: `${entry.event} by ${entry.actor}` };
  }
}
