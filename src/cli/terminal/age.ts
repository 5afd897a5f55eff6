import type { EpochMs } from '../../model/time.ts';

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
] as const;

/** Formats a length of time in one unit, or in two while the larger one is small: `45s`, `3m20s`, `45m`, `2d4h`. */
export function shortDuration(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000));
  const at = UNITS.findIndex(([size]) => seconds >= size);
  const [size, unit] = UNITS[at] ?? [1, 's'];
  const amount = Math.floor(seconds / size);
  const [smaller, smallerUnit] = UNITS[at + 1] ?? [0, ''];
  const rest = smaller === 0 ? 0 : Math.floor((seconds - amount * size) / smaller);
  return amount < 10 && rest > 0 ? `${amount}${unit}${rest}${smallerUnit}` : `${amount}${unit}`;
}

/** Formats a time relative to now: `3m20s ago`; in the future, `in 3m20s`. */
export function relativeTime(atMs: EpochMs, nowMs: EpochMs): string {
  return atMs > nowMs ? `in ${shortDuration(atMs - nowMs)}` : `${shortDuration(nowMs - atMs)} ago`;
}

/** Formats a time of today: `12:04:31Z`. */
export function clockTime(atMs: EpochMs): string {
  return `${new Date(atMs).toISOString().slice(11, 19)}Z`;
}
