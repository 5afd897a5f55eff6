/** Start and end of an axis of values, and the values that have labels. */
export interface Scale {
  readonly low: number;
  readonly high: number;
  /** Lowest first. */
  readonly ticks: readonly number[];
}

/**
 * Returns an axis whose ends and ticks are round numbers, with as little spare room as possible. It starts at zero when
 * the values come near zero: a change of 1 % must not look like a collapse, and a collapse must be visible.
 * @param rows of the picture: ticks fall on rows at equal distances.
 * @param base of the unit: 1024 for bytes.
 */
export function scaleOf(min: number, max: number, rows: number, base: 10 | 1024 = 10): Scale {
  const [from, to] = withRoom(min >= 0 && min <= max * 0.4 ? 0 : min, max);
  const counts = intervalCounts(rows);
  let best: { readonly low: number; readonly step: number; readonly intervals: number } | undefined;
  for (const step of roundSteps((to - from) / Math.max(...counts), base)) {
    const low = Math.floor(from / step);
    const needed = Math.ceil(to / step) - low;
    const intervals = counts.find((count) => count >= needed);
    if (intervals === undefined) continue;
    if (best === undefined || step * intervals < best.step * best.intervals) best = { low, step, intervals };
  }
  if (best === undefined) return { low: from, high: to, ticks: [from, to] };
  const { low, step, intervals } = best;
  const ticks = Array.from({ length: intervals + 1 }, (_, at) => tidy((low + at) * step));
  return { low: tidy(low * step), high: tidy((low + intervals) * step), ticks };
}

/**
 * Returns the numbers of intervals that divide the rows evenly with a free row between two ticks, fewest first. One
 * interval would show too little.
 */
function intervalCounts(rows: number): readonly number[] {
  const gaps = Math.max(1, rows - 1);
  const counts = Array.from({ length: gaps }, (_, at) => at + 1).filter((count) => gaps % count === 0);
  const airy = counts.filter((count) => count >= 2 && gaps / count >= 2);
  return airy.length > 0 ? airy : [1];
}

/** Adds room to a flat line, so that it is drawn in the middle. */
function withRoom(min: number, max: number): readonly [number, number] {
  if (max - min > Math.max(Math.abs(min), Math.abs(max)) * 1e-9) return [min, max];
  const room = max === 0 ? 1 : Math.abs(max) / 2;
  return [max - room, max + room];
}

/** Yields steps of 1, 2, 2.5 and 5 times a power of ten, or powers of two; the smallest possible one first. */
function* roundSteps(least: number, base: 10 | 1024): Iterable<number> {
  if (base === 1024) {
    const power = 2 ** Math.floor(Math.log2(least));
    for (const times of [1, 2, 4, 8, 16]) yield times * power;
    return;
  }
  const power = 10 ** Math.floor(Math.log10(least));
  for (const times of [1, 2, 2.5, 5, 10, 20, 25, 50, 100]) yield times * power;
}

/** Rounds 0.30000000000000004 to 0.3. */
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}

const STEPS_SECONDS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
];

/** One moment on an axis of time. */
export interface TimeTick {
  readonly seconds: number;
  readonly label: string;
}

/** Returns at most `ticksMax` round moments in UTC: `12:30`, with seconds or the date where needed. */
export function timeTicks(startSeconds: number, endSeconds: number, ticksMax: number): readonly TimeTick[] {
  const span = endSeconds - startSeconds;
  const step =
    STEPS_SECONDS.find((seconds) => span / seconds <= Math.max(1, ticksMax)) ?? Math.ceil(span / 86_400) * 86_400;
  const ticks: TimeTick[] = [];
  for (let seconds = Math.ceil(startSeconds / step) * step; seconds <= endSeconds; seconds += step)
    ticks.push({ seconds, label: timeLabel(seconds, step) });
  return ticks;
}

function timeLabel(seconds: number, step: number): string {
  const iso = new Date(seconds * 1000).toISOString();
  if (step >= 86_400 || seconds % 86_400 === 0) return iso.slice(5, 10);
  return step < 60 ? iso.slice(11, 19) : iso.slice(11, 16);
}
