/** `[epoch seconds, value]`, in the order of time. */
export type Sample = readonly [number, number];

const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const PLOT_ROWS = 5;

/** What a stretch of samples comes to. */
export interface Summary {
  readonly min: number;
  readonly max: number;
  readonly last: number;
}

/** undefined: there is no sample. */
export function summarize(samples: readonly Sample[]): Summary | undefined {
  const last = samples.at(-1);
  if (last === undefined) return undefined;
  let [min, max] = [last[1], last[1]];
  for (const [, value] of samples) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { min, max, last: last[1] };
}

/**
 * Averages samples into equal stretches of time.
 * @returns `width` values; undefined where a stretch has no sample, because a gap is not a zero.
 */
export function bucket(
  samples: readonly Sample[],
  startSeconds: number,
  endSeconds: number,
  width: number,
): readonly (number | undefined)[] {
  const sums = Array.from({ length: width }, () => ({ total: 0, count: 0 }));
  const span = Math.max(endSeconds - startSeconds, 1);
  for (const [atSeconds, value] of samples) {
    if (atSeconds < startSeconds || atSeconds > endSeconds) continue;
    const at = Math.min(width - 1, Math.floor(((atSeconds - startSeconds) / span) * width));
    const sum = sums[at];
    if (sum === undefined) continue;
    sum.total += value;
    sum.count += 1;
  }
  return sums.map(({ total, count }) => (count === 0 ? undefined : total / count));
}

/** One line of block characters; a gap is a space. A flat line sits in the middle. */
export function sparkline(values: readonly (number | undefined)[]): string {
  const { low, high } = rangeOf(values);
  return values.map((value) => (value === undefined ? ' ' : BLOCKS[levelOf(value, low, high, BLOCKS.length)])).join('');
}

/**
 * A plot with its axes: values up, time across.
 * @param label writes a value for the axis, with its unit.
 * @returns lines without line feeds.
 */
export function plot(
  values: readonly (number | undefined)[],
  startSeconds: number,
  endSeconds: number,
  label: (value: number) => string,
): readonly string[] {
  const { low, high } = rangeOf(values);
  const steps = PLOT_ROWS * BLOCKS.length;
  const labels = [label(high), ...Array<string>(PLOT_ROWS - 2).fill(''), label(low)];
  const margin = Math.max(...labels.map((text) => text.length));
  const lines = labels.map((text, row) => {
    const below = (PLOT_ROWS - 1 - row) * BLOCKS.length;
    const cells = values.map((value) => {
      if (value === undefined) return ' ';
      const filled = levelOf(value, low, high, steps) + 1 - below;
      return filled <= 0 ? ' ' : (BLOCKS[Math.min(filled, BLOCKS.length) - 1] ?? ' ');
    });
    return `${text.padStart(margin)} ┤${cells.join('')}`.trimEnd();
  });
  const [from, to] = [timeLabel(startSeconds), timeLabel(endSeconds)];
  const gap = Math.max(1, values.length - from.length - to.length);
  return [
    ...lines,
    `${' '.repeat(margin)} └${'─'.repeat(values.length)}`,
    `${' '.repeat(margin + 2)}${from}${' '.repeat(gap)}${to}`,
  ];
}

/** `2026-11-20 14:05Z`: nobody has to guess a time zone. */
function timeLabel(epochSeconds: number): string {
  return `${new Date(epochSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

function rangeOf(values: readonly (number | undefined)[]): { readonly low: number; readonly high: number } {
  const present = values.filter((value) => value !== undefined);
  if (present.length === 0) return { low: 0, high: 1 };
  return { low: Math.min(...present), high: Math.max(...present) };
}

function levelOf(value: number, low: number, high: number, levels: number): number {
  if (high <= low) return Math.floor(levels / 2);
  return Math.min(levels - 1, Math.floor(((value - low) / (high - low)) * levels));
}
