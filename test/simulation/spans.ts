/** A time in which something was so. */
export interface Span {
  readonly fromMs: number;
  /** undefined: it is still so. */
  readonly untilMs: number | undefined;
}

/** Returns how much of the time between two moments lies in at least one of the spans. */
export function coveredMs(spans: readonly Span[], fromMs: number, toMs: number): number {
  let coveredToMs = fromMs;
  let sumMs = 0;
  for (const span of spans.toSorted((left, right) => left.fromMs - right.fromMs)) {
    const beginMs = Math.max(span.fromMs, coveredToMs);
    const endMs = Math.min(span.untilMs ?? toMs, toMs);
    if (endMs <= beginMs) continue;
    sumMs += endMs - beginMs;
    coveredToMs = endMs;
  }
  return sumMs;
}
