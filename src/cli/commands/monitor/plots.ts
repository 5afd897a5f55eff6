import { safeLine } from '../../../model/text.ts';
import { plot } from '../../terminal/drawing/plot.ts';
import { displayWidth, fit, fitted } from '../../terminal/text.ts';
import { type Chart, type ComponentCharts, titleOf } from '../../../views/charts.ts';
import { factsOf, noDataText, type View } from './overview.ts';
import { formatValue } from '../../../model/units.ts';

/** Width of the plots of a component: below the minimum they are illegible, above the maximum they gain nothing. */
const BLOCK = { narrowest: 46, widest: 100 } as const;
/** Columns between two blocks. */
const GAP = 3;
/** Possible heights of a plot in lines, highest first: odd, so that ticks divide them evenly. */
const HEIGHTS = [9, 7, 5, 3] as const;
const HEIGHT_USUAL = 7;
/** Lines around a plot: title, axis of time, its labels, and an empty line. */
const AROUND_LINES = 4;

/** Draws every series as a plot with axes. Components are side by side where they fit. */
export function plotLines(components: readonly ComponentCharts[], view: View, height: number): readonly string[] {
  const arrangement = arrange(components.length, view.columns, BLOCK);
  const blocks = components.map((component) => blockOf(component, view, arrangement, height));
  return sideBySide(blocks, arrangement);
}

/** Returns the height at which all plots fit into a number of lines; undefined: they do not fit. */
export function heightWithin(
  components: readonly ComponentCharts[],
  { columns }: Pick<View, 'columns'>,
  lines: number | undefined,
): number | undefined {
  if (lines === undefined) return HEIGHT_USUAL;
  const { perRow } = arrange(components.length, columns, BLOCK);
  let plots = 0;
  let rows = 0;
  for (let first = 0; first < components.length; first += perRow) {
    plots += Math.max(...components.slice(first, first + perRow).map(({ charts }) => charts.length));
    rows += 1;
  }
  // Each row of components has a heading, and an empty line before the next row.
  const room = Math.floor((lines - 2 * rows) / Math.max(1, plots)) - AROUND_LINES;
  return HEIGHTS.find((height) => height <= room);
}

function blockOf(component: ComponentCharts, view: View, { width }: Arrangement, height: number): readonly string[] {
  const { paint, glyphs } = view;
  const { serviceId, name, charts } = component;
  const id = serviceId === name ? '' : `  (component ${safeLine(serviceId)})`;
  const head = fit(`${paint('title', safeLine(name))}${paint('dim', id)}`, width, glyphs.ellipsis);
  if (charts.length === 0) return [head, '  no data: the platform has no monitoring items for it'];
  return [head, ...charts.flatMap((chart, at) => [...(at > 0 ? [''] : []), ...chartLines(chart, view, width, height)])];
}

function chartLines(chart: Chart, view: View, width: number, height: number): readonly string[] {
  const { window, glyphs, paint } = view;
  const facts = factsOf(chart, window);
  const title = safeLine(titleOf(chart));
  if (facts === undefined) return [`  ${title}  ${noDataText(chart)}`];
  const { last, min, max, missing } = facts;
  const words = `  ${title}  last ${last}  min ${min}  max ${max}${missing === '' ? '' : `  missing: ${missing}`}`;
  // The overview shows the rest.
  const head = displayWidth(words) <= width ? words : `  ${title}  last ${last}`;
  const lines = plot(chart.samples, {
    window,
    width: width - 2,
    height,
    label: (value) => formatValue(value, chart.unit),
    base: chart.unit === 'bytes' ? 1024 : 10,
    glyphs,
    paint,
  });
  return [fit(head, width, glyphs.ellipsis), ...lines.map((line) => `  ${line}`)];
}

/** Number of blocks per row, and the width of each. */
interface Arrangement {
  readonly perRow: number;
  readonly width: number;
}

export function arrange(
  blocks: number,
  columns: number,
  { narrowest, widest }: { readonly narrowest: number; readonly widest: number },
): Arrangement {
  const room = Math.max(1, Math.floor((columns + GAP) / (narrowest + GAP)));
  const perRow = Math.max(1, Math.min(blocks, room));
  return { perRow, width: Math.min(widest, Math.floor((columns - GAP * (perRow - 1)) / perRow)) };
}

/** Places blocks of lines side by side, and in several rows where they do not fit. */
export function sideBySide(blocks: readonly (readonly string[])[], { perRow, width }: Arrangement): readonly string[] {
  const lines: string[] = [];
  for (let first = 0; first < blocks.length; first += perRow) {
    const row = blocks.slice(first, first + perRow);
    if (lines.length > 0) lines.push('');
    const height = Math.max(...row.map((block) => block.length));
    for (let at = 0; at < height; at += 1)
      lines.push(
        row
          .map((block) => fitted(block[at] ?? '', width))
          .join(' '.repeat(GAP))
          .trimEnd(),
      );
  }
  return lines;
}
