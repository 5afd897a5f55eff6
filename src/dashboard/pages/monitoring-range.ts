/** The times that the page offers, which end now. */
export const RANGES = [
  { name: '1h', words: 'hour', lengthMs: 3_600_000 },
  { name: '6h', words: '6 hours', lengthMs: 6 * 3_600_000 },
  { name: '24h', words: '24 hours', lengthMs: 24 * 3_600_000 },
  { name: '7d', words: '7 days', lengthMs: 7 * 86_400_000 },
  { name: '30d', words: '30 days', lengthMs: 30 * 86_400_000 },
] as const;

/** The shown time. `live`: it ends now, and new samples appear. */
export type Range =
  | { readonly type: 'live'; readonly name: string; readonly lengthMs: number }
  | { readonly type: 'fixed'; readonly fromMs: number; readonly toMs: number };

/** Shorter times have one value only. */
const SHORTEST_MS = 60_000;
/** The limit of the API. */
const LONGEST_MS = 31 * 86_400_000;

/** Returns the time in a query: `range=6h`, or `from` and `to` as ISO times. A faulty one counts as absent. */
export function rangeOf(query: URLSearchParams): Range {
  const [fromMs, toMs] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
  if (fromMs !== undefined && toMs !== undefined && fromMs < toMs && toMs - fromMs <= LONGEST_MS)
    return { type: 'fixed', fromMs, toMs };
  const { name, lengthMs } = RANGES.find((range) => range.name === query.get('range')) ?? RANGES[0];
  return { type: 'live', name, lengthMs };
}

/** Returns the change of the query that shows a time, moved or cut to what exists. */
export function zoomed(fromMs: number, toMs: number, nowMs: number): Readonly<Record<string, string | undefined>> {
  const lengthMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, toMs - fromMs));
  const middleMs = (fromMs + toMs) / 2;
  const endMs = Math.min(nowMs, middleMs + lengthMs / 2);
  const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
  return { range: undefined, from: iso(endMs - lengthMs), to: iso(endMs) };
}
