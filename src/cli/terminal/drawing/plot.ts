import type { Paint } from '../../../report/text.ts';
import { displayWidth } from '../text.ts';
import { type Scale, scaleOf, timeTicks } from './axis.ts';
import type { Glyphs } from './glyphs.ts';
import { areJoined, type Sample, summarize, type TimeWindow } from '../../../model/series.ts';

export interface PlotOptions {
  readonly window: TimeWindow;
  /** Width in characters, axes included. */
  readonly width: number;
  /** Height in lines, without the axis of time. */
  readonly height: number;
  /** Formats a value of the axis, with its unit. */
  readonly label: (value: number) => string;
  readonly base?: 10 | 1024;
  readonly glyphs: Glyphs;
  readonly paint: Paint;
}

/** Columns and rows of dots in one Braille character, and the bit of each. */
const DOTS = { across: 2, down: 4 } as const;
const BITS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const;
const TICK_LABEL_COLUMNS = 9;

/**
 * Draws a plot with axes: values up, time across. A line joins neighbours; gaps stay empty.
 * @param samples in order of time, at least one.
 * @returns lines without line feeds.
 */
export function plot(samples: readonly Sample[], options: PlotOptions): readonly string[] {
  const { window, width, height, label, base = 10, glyphs, paint } = options;
  const { axis } = glyphs;
  const { min, max } = summarize(samples) ?? { min: 0, max: 1 };
  const scale = scaleOf(min, max, height, base);
  const labels = rowLabels(scale, height, label);
  const margin = Math.max(...labels.map((text) => displayWidth(text ?? '')));
  const columns = Math.max(4, width - margin - 2);
  const canvas = new Canvas(columns, height, glyphs.isAscii);
  drawLine(canvas, samples, scale, window);
  const rows = canvas.rows().map((picture, row) => {
    const text = labels[row];
    const edge = text === undefined ? axis.up : axis.tickUp;
    const drawn = picture.trimEnd();
    const blank = ' '.repeat(margin - displayWidth(text ?? ''));
    return `${blank}${paint('dim', `${text ?? ''} ${edge}`)}${drawn === '' ? '' : paint('note', drawn)}`;
  });
  const below = timeAxis(window, columns, glyphs).map((line) => paint('dim', `${' '.repeat(margin + 1)}${line}`));
  return [...rows, ...below];
}

/** Returns the label of each row that has a tick, top row first. */
function rowLabels(scale: Scale, height: number, label: (value: number) => string): readonly (string | undefined)[] {
  const labels = Array.from<string | undefined>({ length: height });
  for (const tick of scale.ticks) {
    const up = (tick - scale.low) / (scale.high - scale.low);
    labels[Math.round((1 - up) * (height - 1))] = label(tick);
  }
  return labels;
}

function drawLine(canvas: Canvas, samples: readonly Sample[], scale: Scale, window: TimeWindow): void {
  const span = Math.max(1, window.endSeconds - window.startSeconds);
  const inside = samples.filter(([at]) => at >= window.startSeconds && at <= window.endSeconds);
  const points = inside.map(([at, value]) => ({
    x: Math.round(((at - window.startSeconds) / span) * (canvas.dotsAcross - 1)),
    y: Math.round(((value - scale.low) / (scale.high - scale.low)) * (canvas.dotsUp - 1)),
  }));
  for (const [at, to] of points.entries()) {
    const [former, sample] = [inside[at - 1], inside[at]];
    const from = points[at - 1];
    const isJoined = former !== undefined && sample !== undefined && areJoined(former, sample, window);
    canvas.line(isJoined && from !== undefined ? from : to, to);
  }
}

interface Point {
  readonly x: number;
  /** Upwards from 0. */
  readonly y: number;
}

/** Holds dots: several per character in Braille, one per character in ASCII. */
class Canvas {
  readonly dotsAcross: number;
  readonly dotsUp: number;
  readonly #dots = new Set<number>();
  readonly #columns: number;
  readonly #lines: number;
  readonly #isAscii: boolean;

  constructor(columns: number, lines: number, isAscii: boolean) {
    this.#columns = columns;
    this.#lines = lines;
    this.#isAscii = isAscii;
    this.dotsAcross = isAscii ? columns : columns * DOTS.across;
    this.dotsUp = isAscii ? lines : lines * DOTS.down;
  }

  line(from: Point, to: Point): void {
    const steps = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y), 1);
    for (let step = 0; step <= steps; step += 1) {
      const x = Math.round(from.x + ((to.x - from.x) * step) / steps);
      const y = Math.round(from.y + ((to.y - from.y) * step) / steps);
      this.#dots.add(y * this.dotsAcross + x);
    }
  }

  /** Returns the rows, top row first. */
  rows(): readonly string[] {
    return Array.from({ length: this.#lines }, (_, row) =>
      Array.from({ length: this.#columns }, (__, column) => this.#cell(column, row)).join(''),
    );
  }

  #has(x: number, down: number): boolean {
    return this.#dots.has((this.dotsUp - 1 - down) * this.dotsAcross + x);
  }

  #cell(column: number, row: number): string {
    if (this.#isAscii) return this.#has(column, row) ? '*' : ' ';
    let bits = 0;
    for (const [down, pair] of BITS.entries())
      for (const [across, bit] of pair.entries())
        if (this.#has(column * DOTS.across + across, row * DOTS.down + down)) bits |= bit;
    return bits === 0 ? ' ' : String.fromCodePoint(0x2800 + bits);
  }
}

/** Returns the line below the picture, and the labels below that line. */
function timeAxis(window: TimeWindow, columns: number, { axis }: Glyphs): readonly [string, string] {
  const { startSeconds, endSeconds } = window;
  const line = Array.from({ length: columns }, () => axis.across);
  let labels = '';
  for (const { seconds, label } of timeTicks(startSeconds, endSeconds, Math.floor(columns / TICK_LABEL_COLUMNS))) {
    const at = Math.round(((seconds - startSeconds) / Math.max(1, endSeconds - startSeconds)) * (columns - 1));
    // Centred below its tick, within the picture, and not over the previous label.
    const from = Math.min(Math.max(0, at - Math.floor(label.length / 2)), columns - label.length);
    line[at] = axis.tickAcross;
    if (from < 0 || (labels !== '' && from <= labels.length)) continue;
    labels = `${labels.padEnd(from)}${label}`;
  }
  return [`${axis.corner}${line.join('')}`, ` ${labels}`];
}
