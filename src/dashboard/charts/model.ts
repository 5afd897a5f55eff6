import type { MonitoringMark } from '../../model/monitoring.ts';

/** One line of a chart. */
export interface ChartSeries {
  readonly label: string;
  /** From 0; decides colour and dashes. */
  readonly tone: number;
  /** One for each time; null: there is no sample. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  /** The subject of the chart, for people who do not see it. */
  readonly label: string;
  /** Epoch seconds, in equal steps. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  readonly marks?: readonly MonitoringMark[];
  readonly height?: number;
  /** Charts of one group show their cursors at the same time. */
  readonly group: string;
  /** The requested time, which may still be loading: keys pan and zoom from it. Absent: that of `times`. */
  readonly requested?: Span;
  /** Called with epoch milliseconds. */
  readonly onZoom?: (fromMs: number, toMs: number) => void;
  /** Called with the index of the time at the cursor; undefined: it has left. */
  readonly onCursor?: (index: number | undefined) => void;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Number of colours for series. Further series repeat them with other dashes. */
const COLORS = 6;
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

/** Returns the name of the colour of a series. */
export function colorOf(tone: number): string {
  return `var(--series-${(tone % COLORS) + 1})`;
}

/** Returns the lengths of dashes and gaps of a series, in pixels; empty: a solid line. Neighbours differ in both. */
export function dashOf(tone: number): readonly number[] {
  return DASHES[(tone + Math.floor(tone / COLORS)) % DASHES.length] ?? [];
}
