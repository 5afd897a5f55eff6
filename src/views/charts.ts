import { nearest } from '../manifest/suggest.ts';
import { invalidInput } from '../model/errors.ts';
import type { Sample } from '../model/series.ts';
import { guessUnit, type Unit } from '../model/units.ts';
import type { ComponentMonitor, MonitorItem } from '../platform/records.ts';

/** One series of one item. */
export interface Chart {
  readonly item: string;
  /** Number from 1 where the item has several series, for which the API has no names. */
  readonly series: number | undefined;
  readonly unit: Unit;
  /** The status in the answer of the platform. */
  readonly status: string | null;
  /** In order of time; empty: there is no data. */
  readonly samples: readonly Sample[];
}

/** The charts of one component. */
export interface ComponentCharts {
  readonly serviceId: string;
  readonly name: string;
  readonly alias: string;
  /** Empty: the platform has no items for it. */
  readonly charts: readonly Chart[];
}

export interface ChartFilter {
  /** By name, alias or id. */
  readonly component?: readonly string[] | undefined;
  readonly item?: readonly string[] | undefined;
}

/**
 * Filters the answer of the platform. @throws PortolanError `invalid` when a filter names an unknown component or item.
 */
export function chartsOf(monitors: readonly ComponentMonitor[], filter: ChartFilter): readonly ComponentCharts[] {
  const all = monitors.map(componentCharts);
  const namesOf = ({ serviceId, name, alias }: ComponentCharts): string[] => [name, alias, serviceId];
  const components = picked(all, namesOf, filter.component, 'component');
  const items = components.flatMap(({ charts }) => charts.map(({ item }) => item));
  const wanted = filter.item && new Set(picked([...new Set(items)], (item) => [item], filter.item, 'item'));
  if (wanted === undefined) return components;
  return components.map((one) => ({ ...one, charts: one.charts.filter(({ item }) => wanted.has(item)) }));
}

function picked<T>(
  all: readonly T[],
  namesOf: (one: T) => readonly string[],
  names: readonly string[] | undefined,
  what: string,
): readonly T[] {
  if (names === undefined) return all;
  for (const name of names) {
    if (all.some((one) => namesOf(one).includes(name))) continue;
    const offered = all.map((one) => namesOf(one)[0] ?? '');
    const meant = nearest(name, offered);
    const hint = meant === undefined ? '' : `Did you mean ${meant}? `;
    const existing = offered.length > 0 ? `There is: ${offered.join(', ')}.` : '';
    throw invalidInput(
      `monitor/no-${what}`,
      `No ${what} called ${name} reports monitoring history.`,
      `${hint}${existing}`.trimEnd(),
    );
  }
  return all.filter((one) => namesOf(one).some((name) => names.includes(name)));
}

/** Returns the charts in the answer of the platform about one component. */
function componentCharts({ serviceId, componentName, componentAlias, items }: ComponentMonitor): ComponentCharts {
  return {
    serviceId,
    name: componentName || componentAlias || serviceId,
    alias: componentAlias,
    charts: (items ?? []).flatMap(chartsOfItem),
  };
}

function chartsOfItem(item: MonitorItem): readonly Chart[] {
  const facts = { item: item.name, unit: guessUnit(item.name), status: item.status };
  const series = seriesOf(item);
  if (series.length === 0) return [{ ...facts, series: undefined, samples: [] }];
  return series.map((samples, at) => ({ ...facts, series: series.length === 1 ? undefined : at + 1, samples }));
}

/**
 * Returns the series that have samples, in order of time. A server that follows the documents literally sends every
 * sample as its own series: those are merged.
 */
function seriesOf({ series }: MonitorItem): readonly (readonly Sample[])[] {
  const filled = series.map(({ samples }) => samples).filter((samples) => samples.length > 0);
  const isShattered = filled.length > 1 && filled.every((samples) => samples.length === 1);
  const whole = isShattered ? [filled.flat()] : filled;
  return whole.map((samples) => samples.toSorted(([left], [right]) => left - right));
}

/** Returns the title of a chart: `request_time`, `request_time #2`. */
export function titleOf({ item, series }: Chart): string {
  return series === undefined ? item : `${item} #${series}`;
}
