import {
  type ComponentMonitor,
  type ComponentSeries,
  monitoredTable,
  type MonitorItem,
  monitorItemTable,
  type MonitorSeries,
  seriesTable,
} from './records.ts';
import { recordOf, recordsOf } from './envelope.ts';
import type { Fields } from './fields.ts';
import { recordReader } from './record-fields.ts';

const monitoredOf = recordReader(monitoredTable);
const monitorItemOf = recordReader(monitorItemTable);
const labelsOf = recordReader(seriesTable);

/** Decodes the monitoring history. It contains only components with the performance plug-in. */
export function decodeMonitors(json: unknown, where: string): readonly ComponentMonitor[] {
  return recordsOf(json, where).map((fields) => ({
    ...monitoredOf(fields),
    items: (fields.raw('monitors') ?? null) === null ? null : fields.records('monitors').map(itemOf),
  }));
}

/** Decodes the series of a Prometheus answer; the labels of each name its component. */
export function decodeSeries(json: unknown, where: string): readonly ComponentSeries[] {
  const data = recordOf(json, where).record('data');
  return data.records('result').map((result) => ({ ...labelsOf(result.record('metric')), ...seriesOf(result) }));
}

function itemOf(fields: Fields): MonitorItem {
  const data = (fields.raw('data') ?? null) === null ? undefined : fields.record('data');
  return {
    ...monitorItemOf(fields),
    series: data?.records('result').map(seriesOf) ?? [],
  };
}

/**
 * Decodes samples under `value` (documented) or `values` (Prometheus): a list of pairs, or one flat pair. A number may be a text.
 * Samples that are not numbers (`NaN`) are left out.
 */
function seriesOf(fields: Fields): MonitorSeries {
  const name = (fields.raw('values') ?? null) === null ? 'value' : 'values';
  const value = fields.raw(name) ?? [];
  if (!Array.isArray(value)) throw fields.drift(name, 'a list of samples');
  const pairs: readonly unknown[] = value.some((item) => Array.isArray(item)) || value.length === 0 ? value : [value];
  const samples = pairs.map((pair) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw fields.drift(name, 'pairs of a time and a value');
    const [time, sample] = pair.map((part: unknown) => numberOf(part, fields, name));
    return [time ?? Number.NaN, sample ?? Number.NaN] as const;
  });
  return { samples: samples.filter(([time, sample]) => Number.isFinite(time) && Number.isFinite(sample)) };
}

function numberOf(part: unknown, fields: Fields, name: string): number {
  if (typeof part === 'number') return part;
  if (typeof part === 'string' && part.trim() !== '') return Number(part);
  throw fields.drift(name, 'numbers, or numbers as text');
}
