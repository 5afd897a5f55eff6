import { formatDuration } from '../../../model/duration.ts';
import { safeLine } from '../../../model/text.ts';
import type { Paint } from '../../../report/text.ts';
import type { Glyphs } from '../../terminal/drawing/glyphs.ts';
import { gapsOf, summarize, type TimeWindow } from '../../../model/series.ts';
import { bucket, sparkline } from '../../terminal/drawing/series.ts';
import { tableLines } from '../../terminal/table.ts';
import { count, fit } from '../../terminal/text.ts';
import { type Chart, type ComponentCharts, titleOf } from '../../../views/charts.ts';
import { formatValue } from '../../../model/units.ts';

/** The settings of both views. */
export interface View {
  readonly window: TimeWindow;
  /** Width of the terminal. */
  readonly columns: number;
  /** False in pipes and files, where nothing may be cut. */
  readonly isCut: boolean;
  readonly glyphs: Glyphs;
  readonly paint: Paint;
}

/** A narrower terminal has no room for a table. */
const TABLE_COLUMNS_MIN = 72;
const SPARK = { least: 8, most: 40 } as const;
/** Spaces between columns. */
const GAP_COLUMNS = 3;

/** Formats one line for each series of each component: a sparkline, last, least and greatest value, and gaps. */
export function overviewLines(components: readonly ComponentCharts[], view: View): readonly string[] {
  return view.columns < TABLE_COLUMNS_MIN ? narrowLines(components, view) : wideLines(components, view);
}

/** Returns the texts beside the picture of a series; undefined: there is no data. */
export function factsOf({ samples, unit }: Chart, window: TimeWindow) {
  const summary = summarize(samples);
  if (summary === undefined) return undefined;
  const gaps = gapsOf(samples, window);
  return {
    last: formatValue(summary.last, unit),
    min: formatValue(summary.min, unit),
    max: formatValue(summary.max, unit),
    /** `''`: no sample is missing. */
    missing: gaps.count === 0 ? '' : `${count(gaps.count, 'gap')}, ${formatDuration(gaps.seconds * 1000)}`,
  };
}

/** Describes a series without data, which is never shown as zero. */
export function noDataText({ status }: Pick<Chart, 'status'>): string {
  return status === null ? 'no data' : `no data (status ${safeLine(status)})`;
}

interface Row {
  readonly name: string;
  readonly title: string;
  /** undefined: the component has no chart. */
  readonly chart: Chart | undefined;
  readonly facts: ReturnType<typeof factsOf>;
}

function wideLines(components: readonly ComponentCharts[], view: View): readonly string[] {
  const { window, columns, isCut, glyphs, paint } = view;
  const rows = components.flatMap(({ name, charts }): Row[] =>
    charts.length === 0
      ? [{ name, title: '', chart: undefined, facts: undefined }]
      : charts.map((chart) => ({ name, title: titleOf(chart), chart, facts: factsOf(chart, window) })),
  );
  const isAnyMissing = rows.some(({ facts }) => facts !== undefined && facts.missing !== '');
  const cells = (picture: (chart: Chart | undefined) => string) =>
    rows.map(({ name, title, chart, facts }) => [
      name,
      title,
      facts === undefined ? (chart === undefined ? 'no items' : noDataText(chart)) : picture(chart),
      facts?.last,
      facts?.min,
      facts?.max,
      ...(isAnyMissing ? [facts?.missing] : []),
    ]);
  const layout = [
    { title: 'component', narrowest: 10 },
    { title: 'item', narrowest: 10 },
    { title: 'trend', paint: (text: string) => paint('note', text) },
    { title: 'last', align: 'right' as const },
    { title: 'min', align: 'right' as const },
    { title: 'max', align: 'right' as const },
    ...(isAnyMissing ? [{ title: 'missing' }] : []),
  ];
  const [bare = ''] = tableLines(
    layout,
    cells(() => ''),
  );
  const width = sparkWidth(columns - bare.length + 'TREND'.length, window);
  const spark = (chart: Chart | undefined): string => sparkline(bucket(chart?.samples ?? [], window, width), glyphs);
  return tableLines(layout, cells(spark), isCut ? { columns, ellipsis: glyphs.ellipsis } : {});
}

/** With more columns than samples, columns would only repeat. */
function sparkWidth(room: number, { startSeconds, endSeconds, stepSeconds }: TimeWindow): number {
  const samples = Math.max(SPARK.least, Math.floor((endSeconds - startSeconds) / stepSeconds));
  return Math.max(SPARK.least, Math.min(SPARK.most, room, samples));
}

function narrowLines(components: readonly ComponentCharts[], view: View): readonly string[] {
  const { window, columns, glyphs, paint } = view;
  const cut = (text: string): string => (view.isCut ? fit(text, columns, glyphs.ellipsis) : text);
  return components.flatMap(({ name, charts }) => [
    paint('title', cut(safeLine(name))),
    ...(charts.length === 0 ? ['  no items'] : []),
    ...charts.flatMap((chart) => {
      const title = `  ${safeLine(titleOf(chart))}`;
      const facts = factsOf(chart, window);
      if (facts === undefined) return [cut(`${title}${' '.repeat(GAP_COLUMNS)}${noDataText(chart)}`)];
      const width = sparkWidth(columns - 4, window);
      return [
        cut(`${title}${' '.repeat(GAP_COLUMNS)}${facts.last}`),
        `    ${paint('note', sparkline(bucket(chart.samples, window, width), glyphs))}`,
        cut(`    min ${facts.min}  max ${facts.max}${facts.missing === '' ? '' : `  ${facts.missing}`}`),
      ];
    }),
  ]);
}
