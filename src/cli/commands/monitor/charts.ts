import { didYouMean } from '../../../manifest/suggest.ts';
import { invalidInput } from '../../../model/errors.ts';
import type { ComponentMonitor, MonitorItem } from '../../../platform/records.ts';
import type { Sample } from '../../terminal/drawing/series.ts';
import { sentences } from '../../terminal/text.ts';
import { guessUnit, type Unit } from './units.ts';

/** One series of one item. */
export interface Chart {
  readonly item: string;
  /** Counts from 1 where the item has several series; the API has no other name for them. */
  readonly series: number | undefined;
  readonly unit: Unit;
  /** As the platform says it. */
  readonly status: string | null;
  /** In the order of time; empty: nothing is known. */
  readonly samples: readonly Sample[];
}

/** Everything that is known of one component. */
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

/** What is shown of what the platform answered. @throws PortolanError `invalid` when a filter names something that is not there. */
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
    throw invalidInput(
      `monitor/no-${what}`,
      `No ${what} called ${name} reports monitoring history. Nothing is shown.`,
      sentences(didYouMean(name, offered), offered.length > 0 ? `There is: ${offered.join(', ')}.` : ''),
    );
  }
  return all.filter((one) => namesOf(one).some((name) => names.includes(name)));
}

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
 * The series that have samples, in the order of time. A server that answers to the letter of the documents sends every
 * sample as a series of its own: those are one.
 */
function seriesOf({ series }: MonitorItem): readonly (readonly Sample[])[] {
  const filled = series.map(({ samples }) => samples).filter((samples) => samples.length > 0);
  const isShattered = filled.length > 1 && filled.every((samples) => samples.length === 1);
  const whole = isShattered ? [filled.flat()] : filled;
  return whole.map((samples) => samples.toSorted(([left], [right]) => left - right));
}

/** `request_time`, `request_time #2`. */
export function titleOf({ item, series }: Chart): string {
  return series === undefined ? item : `${item} #${series}`;
}
