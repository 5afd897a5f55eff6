import { useMemo, useState } from 'preact/hooks';
import type { MonitoringHistory, MonitoringSeries } from '../../model/monitoring.ts';
import { formatValue, type Unit } from '../../model/units.ts';
import { nowMs } from '../clock.ts';
import { LazyChart } from '../charts/lazy-chart.tsx';
import type { ChartSeries, Span } from '../charts/model.ts';
import { Swatch } from '../charts/swatch.tsx';
import { clockText } from '../charts/time-axis.ts';
import { Scroll } from '../parts/scroll.tsx';
import { Time } from '../parts/time.tsx';
import { setQuery } from '../router.ts';
import { zoomed } from './monitoring-range.ts';

/** A series with its name. */
export interface NamedSeries extends ChartSeries {
  readonly unit: Unit;
}

/** One chart for each item: the components are its lines. */
export function Panels({ shown, requested }: Pick<PanelProps, 'shown' | 'requested'>) {
  const times = useMemo(() => timesOf(shown), [shown]);
  const panels = useMemo(() => panelsOf(shown), [shown]);
  return (
    <div class="panels">
      {panels.map(({ item, unit, series }) => (
        <Panel key={item} item={item} unit={unit} series={series} times={times} shown={shown} requested={requested} />
      ))}
    </div>
  );
}

export function timesOf({ fromMs, toMs, stepMs }: MonitoringHistory): readonly number[] {
  return Array.from({ length: Math.round((toMs - fromMs) / stepMs) + 1 }, (_, at) => (fromMs + at * stepMs) / 1000);
}

interface PanelFacts {
  readonly item: string;
  readonly unit: Unit;
  readonly series: readonly NamedSeries[];
}

/** Groups series by item. A component has the same colour in each chart. */
export function panelsOf({ series, components }: MonitoringHistory): readonly PanelFacts[] {
  const names = new Map(components.map(({ serviceId, name }) => [serviceId, name]));
  const ids = [...names.keys()];
  const several = (item: string, serviceId: string): boolean =>
    series.filter((one) => one.item === item && one.serviceId === serviceId).length > 1;
  const labelOf = ({ serviceId, item, number }: MonitoringSeries): string =>
    `${names.get(serviceId) ?? serviceId}${several(item, serviceId) ? ` #${number}` : ''}`;
  return [...Map.groupBy(series, ({ item }) => item)].map(([item, its]) => ({
    item,
    unit: its[0]?.unit ?? 'plain',
    series: its.map((one) => ({
      label: labelOf(one),
      tone: ids.indexOf(one.serviceId) + one.number - 1,
      values: one.values,
      unit: one.unit,
    })),
  }));
}

interface PanelProps extends PanelFacts {
  readonly times: readonly number[];
  readonly shown: MonitoringHistory;
  readonly requested: Span;
}

function Panel({ item, unit, series, times, shown, requested }: PanelProps) {
  const [at, setAt] = useState<number>();
  const format = useMemo(() => (value: number) => formatValue(value, unit), [unit]);
  const changeMs = shown.marks.findLast(({ type }) => type === 'change')?.atMs;
  return (
    <figure class="card panel">
      <figcaption>
        <h2>{item}</h2>
        {unit === 'plain' ? null : <span class="panel-unit">{UNIT_WORDS[unit]}</span>}
        <span class="panel-at">{at === undefined ? 'last values' : `values at ${clockText(times[at] ?? 0)}`}</span>
      </figcaption>
      <LazyChart
        label={item}
        group="monitoring"
        height={220}
        times={times}
        series={series}
        marks={shown.marks}
        format={format}
        requested={requested}
        onZoom={(from, to) => setQuery(zoomed(from, to, nowMs()))}
        onCursor={setAt}
      />
      <Scroll label={`Values of ${item}`}>
        <table class="panel-legend">
          <thead>
            <tr>
              <th>Component</th>
              <th class="number">Value</th>
              <th class="number">Min</th>
              <th class="number">Max</th>
              {changeMs === undefined ? null : (
                <>
                  <th class="number">Mean before</th>
                  <th class="number">Mean after</th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {series.map((one) => (
              <Row key={one.label} series={one} at={at} shown={shown} changeMs={changeMs} format={format} />
            ))}
          </tbody>
        </table>
      </Scroll>
      {changeMs === undefined ? null : (
        <p class="panel-note">
          Mean before and after the last change, <Time at={changeMs} />.
        </p>
      )}
    </figure>
  );
}

const UNIT_WORDS: Readonly<Record<Exclude<Unit, 'plain'>, string>> = {
  bytes: 'bytes',
  milliseconds: 'milliseconds',
  seconds: 'seconds',
  percent: 'percent',
  'per-second': 'per second',
  cores: 'cores',
};

interface RowProps {
  readonly series: NamedSeries;
  readonly at: number | undefined;
  readonly shown: MonitoringHistory;
  readonly changeMs: number | undefined;
  readonly format: (value: number) => string;
}

function Row({ series: { label, tone, values }, at, shown, changeMs, format }: RowProps) {
  const present = values.filter((value) => value !== null);
  const text = (value: number | null | undefined): string =>
    value === null || value === undefined ? 'no data' : format(value);
  const current = at === undefined ? present.at(-1) : values[at];
  const { before, after } = changeMs === undefined ? {} : aroundChange(values, shown, changeMs);
  return (
    <tr>
      <th scope="row">
        <span class="panel-name">
          <Swatch tone={tone} />
          {label}
        </span>
      </th>
      <td class="number">{text(current)}</td>
      <td class="number">{text(least(present))}</td>
      <td class="number">{text(greatest(present))}</td>
      {changeMs === undefined ? null : (
        <>
          <td class="number">{text(before)}</td>
          <td class="number">
            {text(after)}
            {before === undefined || after === undefined || before === 0 ? null : (
              <span class="panel-change"> {signed((after / before - 1) * 100)}</span>
            )}
          </td>
        </>
      )}
    </tr>
  );
}

/** Returns the means of the values before and after a time; undefined: there are none. */
export function aroundChange(
  values: readonly (number | null)[],
  { fromMs, stepMs }: Pick<MonitoringHistory, 'fromMs' | 'stepMs'>,
  changeMs: number,
): { readonly before: number | undefined; readonly after: number | undefined } {
  const border = Math.ceil((changeMs - fromMs) / stepMs);
  return { before: mean(values.slice(0, Math.max(0, border))), after: mean(values.slice(Math.max(0, border))) };
}

function mean(values: readonly (number | null)[]): number | undefined {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? undefined : present.reduce((sum, value) => sum + value, 0) / present.length;
}

function least(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.min(...values);
}

function greatest(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}

function signed(percent: number): string {
  const rounded = Math.round(percent);
  return `${rounded > 0 ? '+' : rounded < 0 ? '−' : '±'}${Math.abs(rounded)} %`;
}
