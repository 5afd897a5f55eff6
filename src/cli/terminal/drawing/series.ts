import { areJoined, type Sample, type TimeWindow } from '../../../model/series.ts';
import type { Glyphs } from './glyphs.ts';

/**
 * Averages samples into equal intervals of time. With fewer samples than intervals, values between two neighbours without
 * a gap are interpolated.
 * @returns `width` values; undefined where samples are missing, because a gap is not a zero.
 */
export function bucket(samples: readonly Sample[], window: TimeWindow, width: number): readonly (number | undefined)[] {
  const { startSeconds, endSeconds } = window;
  const sums = Array.from({ length: width }, () => ({ total: 0, count: 0 }));
  const span = Math.max(endSeconds - startSeconds, 1);
  const placeOf = (seconds: number): number =>
    Math.min(width - 1, Math.floor(((seconds - startSeconds) / span) * width));
  const inside = samples.filter(([at]) => at >= startSeconds && at <= endSeconds);
  for (const [at, value] of inside) {
    const sum = sums[placeOf(at)];
    if (sum === undefined) continue;
    sum.total += value;
    sum.count += 1;
  }
  const values = sums.map(({ total, count }) => (count === 0 ? undefined : total / count));
  for (const [at, later] of inside.entries()) {
    const earlier = inside[at - 1];
    if (earlier === undefined || !areJoined(earlier, later, window)) continue;
    const [from, to] = [placeOf(earlier[0]), placeOf(later[0])];
    for (let place = from + 1; place < to; place += 1)
      values[place] = earlier[1] + ((later[1] - earlier[1]) * (place - from)) / (to - from);
  }
  return values;
}

/** Draws one line of bars. A gap is a space; a flat line is in the middle. */
export function sparkline(values: readonly (number | undefined)[], { bars }: Glyphs): string {
  const present = values.filter((value) => value !== undefined);
  const [low, high] = [Math.min(...present), Math.max(...present)];
  const levelOf = (value: number): number =>
    high <= low
      ? Math.floor(bars.length / 2)
      : Math.min(bars.length - 1, Math.floor(((value - low) / (high - low)) * bars.length));
  return values.map((value) => (value === undefined ? ' ' : bars[levelOf(value)])).join('');
}
