/** `[epoch seconds, value]`. */
export type Sample = readonly [number, number];

/** The requested window. Times in epoch seconds. */
export interface TimeWindow {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly stepSeconds: number;
}

/** Returns minimum, maximum and last value of samples; undefined when there are none. */
export function summarize(samples: readonly Sample[]) {
  const last = samples.at(-1);
  if (last === undefined) return undefined;
  let [min, max] = [last[1], last[1]];
  for (const [, value] of samples) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { min, max, last: last[1], lastSeconds: last[0] };
}

/** A distance of this many steps between two samples means that samples are missing between them. */
const GAP_STEPS = 1.5;

/** Returns whether no sample is missing between two neighbours. */
export function areJoined([earlier]: Sample, [later]: Sample, { stepSeconds }: TimeWindow): boolean {
  return later - earlier <= stepSeconds * GAP_STEPS;
}

export interface Gaps {
  readonly count: number;
  readonly seconds: number;
}

/** Counts gaps: between two samples, before the first and after the last. No sample at all is one gap. */
export function gapsOf(samples: readonly Sample[], window: TimeWindow): Gaps {
  const { startSeconds, endSeconds, stepSeconds } = window;
  const times = samples.map(([at]) => at);
  // Adds one sample just before the window and one just after it.
  const edges = [startSeconds - stepSeconds, ...times, endSeconds + stepSeconds];
  let count = 0;
  let seconds = 0;
  for (const [at, later] of edges.entries()) {
    const earlier = edges[at - 1];
    if (earlier === undefined) continue;
    const isEdge = at === 1 || at === edges.length - 1;
    // The ends of a window need not coincide with samples.
    if (later - earlier <= stepSeconds * (isEdge ? 1 + GAP_STEPS : GAP_STEPS)) continue;
    count += 1;
    seconds += later - earlier - stepSeconds;
  }
  return { count, seconds: Math.min(seconds, endSeconds - startSeconds) };
}
