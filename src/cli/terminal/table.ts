import { safeLine } from '../../model/text.ts';
import type { Output } from './terminal.ts';
import { displayWidth, fit, fitted, textOfLines, wrap } from './text.ts';

const GAP = '   ';

/**
 * Formats a table as kubectl does: upper-case headers, no lines, aligned by display width.
 * @param rows cells as text; `undefined` and `""` are shown as `-`, so that no column of a line is empty for `awk`.
 * @param out where the table is shown. It fits a terminal: a last column with sentences is wrapped, and other columns for which
 * there is no room go below their line. Nothing is cut. Absent: the table may have any width.
 * @returns lines, each with a line feed.
 */
export function renderTable(
  headers: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
  out?: Pick<Output, 'isTerminal' | 'columns'>,
): string {
  const columns = headers.map((title) => ({ title }));
  const lines = tableLines(columns, rows);
  const fits = out?.isTerminal !== true || Math.max(...lines.map(displayWidth)) <= out.columns;
  return textOfLines(fits ? lines : fittedLines(columns, rows, out.columns));
}

/** Less room than this is too narrow for a column of sentences. */
const SENTENCE_COLUMNS_MIN = 24;

function fittedLines(
  columns: readonly Column[],
  rows: readonly (readonly (string | undefined)[])[],
  widthMax: number,
): readonly string[] {
  const widths = naturalWidths(columns, rows);
  const widthOf = (shown: readonly number[]): number =>
    shown.reduce((sum, at) => sum + (widths[at] ?? 0), GAP.length * (shown.length - 1));
  const last = columns.length - 1;
  let shown = [...columns.keys()];
  if (widthOf(shown.slice(0, -1)) + GAP.length + SENTENCE_COLUMNS_MIN <= widthMax) {
    const beside = {
      columns: columns.slice(0, -1),
      title: columns[last]?.title ?? '',
      rows,
      narrowest: SENTENCE_COLUMNS_MIN,
    };
    return reasonTableLines({ ...beside, long: 'wrap', paintBelow: (text) => text }, { columns: widthMax });
  }
  while (shown.length > 1 && widthOf(shown) > widthMax) {
    // The first column names the row, so it stays.
    const widest = shown.slice(1).reduce((most, at) => ((widths[at] ?? 0) >= (widths[most] ?? 0) ? at : most));
    shown = shown.filter((at) => at !== widest);
  }
  const pick = <Item>(items: readonly Item[]): readonly (Item | undefined)[] => shown.map((at) => items[at]);
  const [head = '', ...lines] = tableLines(
    shown.flatMap((at) => columns[at] ?? []),
    rows.map(pick),
  );
  return [head, ...lines.flatMap((line, row) => [line, ...factLines(columns, rows[row] ?? [], shown, widthMax)])];
}

/** Returns the cells of a row that have no column: `    origin: observed, state: present`. A cell breaks only if it must. */
function factLines(
  columns: readonly Column[],
  row: readonly (string | undefined)[],
  shown: readonly number[],
  widthMax: number,
): readonly string[] {
  const facts = columns.flatMap(({ title }, at) => {
    const cell = safeLine(row[at] ?? '');
    return cell === '' || shown.includes(at) ? [] : `${title}: ${cell}`;
  });
  const room = Math.max(1, widthMax - FACTS_INDENT.length);
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    const beside = `${last}, ${fact}`;
    if (last !== undefined && displayWidth(beside) <= room) lines[lines.length - 1] = beside;
    else lines.push(...wrap(fact, room));
  }
  return lines.map((line) => `${FACTS_INDENT}${line}`);
}

const FACTS_INDENT = '    ';

/** Describes how to draw a column. */
export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** Minimum width in a narrow terminal; without it, the column keeps its width. */
  readonly narrowest?: number;
  /** Colours a cell after it was cut and padded. */
  readonly paint?: (text: string, row: number) => string;
}

export interface TableLimits {
  /** Width of the terminal; undefined: the table may have any width, and nothing is cut. */
  readonly columns?: number | undefined;
  readonly ellipsis?: string;
}

/** Formats a table. If it is too wide, columns with a minimum width shrink, widest first, until it fits. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly (string | undefined)[])[],
  { columns: widthMax, ellipsis = '…' }: TableLimits = {},
): readonly string[] {
  const cells = rows.map((row) => columns.map((_, at) => safeLine(row[at] ?? '') || '-'));
  const titles = columns.map(({ title }) => title.toUpperCase());
  const widths = naturalWidths(columns, cells);
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

export interface ReasonTable {
  /** All columns but the last. */
  readonly columns: readonly Column[];
  /** Title of the last column, which contains sentences. */
  readonly title: string;
  /** Cells of all columns. */
  readonly rows: readonly (readonly (string | undefined)[])[];
  /** If less room is left than this, a sentence goes below its line. */
  readonly narrowest: number;
  /** Says whether a sentence that is too long is cut or continues on the next line. */
  readonly long: 'cut' | 'wrap';
  /** Indent of a sentence below its line. */
  readonly indent?: (row: number) => string;
  readonly paintBelow: (text: string) => string;
}

/** Formats a table with sentences, for a terminal. */
export function reasonTableLines(
  { columns, title, rows, narrowest, long, indent = () => '    ', paintBelow }: ReasonTable,
  { columns: widthMax, ellipsis = '…' }: { readonly columns: number; readonly ellipsis?: string },
): readonly string[] {
  const split = (text: string, width: number): readonly string[] =>
    long === 'cut' ? [fit(text, width, ellipsis)] : wrap(text, width);
  const sentences = rows.map((row) => safeLine(row.at(-1) ?? ''));
  const cells = rows.map((row) => row.slice(0, -1));
  const longest = Math.max(title.length, ...sentences.map(displayWidth));
  const room = Math.min(narrowest, longest);
  const widest = Math.max(...tableLines(columns, cells).map(displayWidth));
  const least = leastWidth(columns, cells);
  const isBeside = least + GAP.length + room <= widthMax;
  const width = isBeside ? Math.min(widest, widthMax - GAP.length - room) : widthMax;
  const drawn = tableLines(columns, cells, { columns: width, ellipsis });
  const [head = '', ...lines] = drawn;
  const blank = ' '.repeat(Math.max(...drawn.map(displayWidth)));
  if (!isBeside)
    return [
      head,
      ...lines.flatMap((line, at) => {
        const text = sentences[at] ?? '';
        const lead = indent(at);
        const below = text === '' ? [] : split(text, Math.max(10, widthMax - displayWidth(lead)));
        return [line, ...below.map((part) => paintBelow(`${lead}${part}`))];
      }),
    ];
  const padded = (line: string): string => `${line}${' '.repeat(blank.length - displayWidth(line))}`;
  return [
    `${padded(head)}${GAP}${title.toUpperCase()}`,
    ...lines.flatMap((line, at) =>
      split(sentences[at] || '-', widthMax - blank.length - GAP.length).map(
        (part, nth) => `${nth === 0 ? padded(line) : blank}${GAP}${part}`,
      ),
    ),
  ];
}

/** Returns the width of the table with every column at its minimum. */
function leastWidth(columns: readonly Column[], rows: readonly (readonly (string | undefined)[])[]): number {
  const least = naturalWidths(columns, rows).map((width, at) => Math.min(width, columns[at]?.narrowest ?? width));
  return least.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1);
}

/** Returns the width of the widest cell of each column. */
function naturalWidths(columns: readonly Column[], rows: readonly (readonly (string | undefined)[])[]): number[] {
  return columns.map(({ title }, at) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(safeLine(row[at] ?? '')))),
  );
}

function cellText(
  text: string,
  width: number,
  { ellipsis, isRight, isLast }: { readonly ellipsis: string; readonly isRight: boolean; readonly isLast: boolean },
): string {
  const kept = fit(text, width, ellipsis);
  if (isRight) return `${' '.repeat(Math.max(0, width - displayWidth(kept)))}${kept}`;
  // The last column needs no padding, and lines must not end in spaces.
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
