import type { MonitoringMark } from '../../../model/monitoring.ts';
import type { Monitoring } from '../../../platform/monitoring.ts';
import { type Scope } from '../../../model/ids.ts';
import { summarize, type TimeWindow } from '../../../model/series.ts';
import type { ComponentCharts } from '../../../views/charts.ts';
import type { Unit } from '../../../model/units.ts';

const iso = (seconds: number): string => new Date(Math.round(seconds * 1000)).toISOString();

/** The result of one observation of the platform. */
export interface Seen {
  readonly scope: Scope;
  readonly window: TimeWindow;
  readonly components: readonly ComponentCharts[];
  readonly monitoring: Pick<Monitoring, 'source' | 'isEmpty'>;
  /** Changes and drift, oldest first. Absent: only a controller knows them. */
  readonly marks?: readonly MonitoringMark[];
}

/** Returns the JSON document. Without data, `summary` is null and `samples` is empty. */
export function monitorDocument({ scope, window, components, monitoring: { source, isEmpty } }: Seen): object {
  return {
    formatVersion: 1,
    scope,
    from: iso(window.startSeconds),
    to: iso(window.endSeconds),
    stepSeconds: window.stepSeconds,
    source,
    samplesLost: isEmpty,
    components: components.map(({ charts, ...component }) => ({
      ...component,
      series: charts.map(({ item, series, unit, status, samples }) => {
        const summary = summarize(samples);
        return {
          item,
          number: series ?? 1,
          unit: unitName(unit),
          status,
          summary:
            summary === undefined
              ? null
              : { min: summary.min, max: summary.max, last: summary.last, lastTime: iso(summary.lastSeconds) },
          samples: samples.map(([seconds, value]) => ({ time: iso(seconds), value })),
        };
      }),
    })),
  };
}

/** Returns the unit; null where the name of the item does not suggest one. */
function unitName(unit: Unit): string | null {
  return unit === 'plain' ? null : unit;
}

const CSV_COLUMNS = 'time,platform,team,region,app_id,service_id,component,item,series,unit,value'.split(',');

/** Formats samples as CSV (RFC 4180), a line each. The columns and their order stay the same between versions. */
export function monitorCsv({ scope: { platform, team, region, appId }, components }: Seen): string {
  const rows = components.flatMap(({ serviceId, name, charts }) =>
    charts.flatMap(({ item, series, unit, samples }) =>
      samples.map(([seconds, value]) => [
        iso(seconds),
        platform,
        team,
        region,
        String(appId),
        serviceId,
        name,
        item,
        String(series ?? 1),
        unitName(unit) ?? '',
        String(value),
      ]),
    ),
  );
  return [CSV_COLUMNS, ...rows].map((row) => `${row.map(csvField).join(',')}\r\n`).join('');
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
