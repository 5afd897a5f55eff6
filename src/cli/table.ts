import { safeLine } from '../model/text.ts';
import { displayWidth, fit, fitted } from './text.ts';

const GAP = '   ';

/**
 * Columns as kubectl prints them: upper-case headers, no lines, aligned by what a terminal shows.
 * @param rows cells as text; `undefined` and `""` are shown as `-`, so that no column of a line is empty for `awk`.
 * @returns lines, each ended by a line feed.
 */
export function renderTable(headers: readonly string[], rows: readonly (readonly (string | undefined)[])[]): string {
  return tableLines(
    headers.map((title) => ({ title })),
    rows,
  )
    .map((line) => `${line}\n`)
    .join('');
}

/** How a column is drawn. */
export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** It may become narrower where the terminal is too narrow, down to this; without it, never. */
  readonly narrowest?: number;
  /** Colours a cell that has been cut and padded already. */
  readonly paint?: (text: string, row: number) => string;
}

export interface TableLimits {
  /** Of the terminal; undefined: as wide as it needs to be, and nothing is cut. */
  readonly columns?: number | undefined;
  readonly ellipsis?: string;
}

/** A table as lines. Where it is too wide, the columns that may become narrower do: the widest first, until it fits. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly (string | undefined)[])[],
  { columns: widthMax, ellipsis = '…' }: TableLimits = {},
): readonly string[] {
  const cells = rows.map((row) => columns.map((_, at) => safeLine(row[at] ?? '') || '-'));
  const titles = columns.map(({ title }) => title.toUpperCase());
  const widths = columns.map((_, at) => Math.max(...[titles, ...cells].map((row) => displayWidth(row[at] ?? ''))));
  if (widthMax !== undefined) narrow(columns, widths, widthMax - GAP.length * (columns.length - 1));
  const draw = (row: readonly string[], nth: number): string => {
    const drawn = columns.map(({ align, paint }, at) => {
      const width = widths[at] ?? 0;
      const isLast = at === columns.length - 1;
      const text = cellText(row[at] ?? '', width, { ellipsis, isRight: align === 'right', isLast });
      return nth < 0 || paint === undefined ? text : paint(text, nth);
    });
    const line = drawn.join(GAP);
    return widthMax === undefined ? line : fit(line, widthMax, ellipsis);
  };
  return [draw(titles, -1), ...cells.map(draw)];
}

function cellText(
  text: string,
  width: number,
  { ellipsis, isRight, isLast }: { readonly ellipsis: string; readonly isRight: boolean; readonly isLast: boolean },
): string {
  const kept = fit(text, width, ellipsis);
  if (isRight) return `${' '.repeat(Math.max(0, width - displayWidth(kept)))}${kept}`;
  // Nothing follows, so nothing has to be lined up, and no line ends in spaces.
  return isLast ? kept : fitted(kept, width, ellipsis);
}

function narrow(columns: readonly Column[], widths: number[], widthMax: number): void {
  for (;;) {
    const excess = widths.reduce((sum, width) => sum + width, 0) - widthMax;
    if (excess <= 0) return;
    let widest = -1;
    for (const [at, { narrowest }] of columns.entries()) {
      const width = widths[at] ?? 0;
      if (narrowest !== undefined && width > narrowest && width > (widths[widest] ?? 0)) widest = at;
    }
    if (widest < 0) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}
