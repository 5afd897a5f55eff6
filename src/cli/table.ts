import { safeLine } from '../model/text.ts';
import { displayWidth } from './text.ts';

const GAP = '   ';

/**
 * Columns as kubectl prints them: upper-case headers, no lines, aligned by what a terminal shows.
 * @param rows cells as text; `undefined` and `""` are shown as `-`, so that no column of a line is empty for `awk`.
 * @returns lines, each ended by a line feed.
 */
export function renderTable(headers: readonly string[], rows: readonly (readonly (string | undefined)[])[]): string {
  const cells = rows.map((row) => headers.map((_, at) => safeLine(row[at] ?? '') || '-'));
  const all = [headers.map((header) => header.toUpperCase()), ...cells];
  const widths = headers.map((_, at) => Math.max(...all.map((row) => displayWidth(row[at] ?? ''))));
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell + pad(cell, widths[at] ?? 0))).join(GAP);
  return `${all.map(line).join('\n')}\n`;
}

function pad(cell: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(cell)));
}
