import { nowMs, tick } from '../clock.ts';

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'long' });
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** Returns a time in words: `5 minutes ago`, `in 2 hours`. */
export function relativeTime(atMs: number, nowMs: number): string {
  const ms = atMs - nowMs;
  const unit = UNITS.find(([, length]) => Math.abs(ms) >= length);
  if (unit === undefined) return ms > 0 ? 'in less than a minute' : 'just now';
  return RELATIVE.format(Math.trunc(ms / unit[1]), unit[0]);
}

/** Returns a time in UTC: `2026-11-20 12:00:00 UTC`. */
export function exactTime(atMs: number): string {
  return new Date(atMs)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}

/** A relative time; the exact one is in its attribute and its tooltip. */
export function Time({ at }: { readonly at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {relativeTime(at, Math.max(tick.value, nowMs()))}
    </time>
  );
}
