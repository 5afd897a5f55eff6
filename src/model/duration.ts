const DURATION = /^(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?$/;

/**
 * Reads `30s`, `10m`, `1h30m`: hours, minutes and seconds, in this order, each at most once.
 * @returns whole milliseconds, or `undefined` if the text is not a duration.
 */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (match === null || text === '') return undefined;
  const [, hours = '0', minutes = '0', seconds = '0'] = match;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}

declare const written: unique symbol;

/** A duration as a validated document has it: `90s`, or `100ms` where the schema allows that. */
export type DurationText = string & { readonly [written]: 'duration' };

/** Returns a duration in milliseconds. @param text a text that has passed its schema. */
export function durationMsOf(text: string): number {
  const ms = text.endsWith('ms') ? Number(text.slice(0, -2)) : parseDuration(text);
  if (ms === undefined) throw new Error(`the schema let ${text} pass as a duration`);
  return ms;
}

/** Returns the shortest text that `parseDuration` reads as the same time, rounded down to seconds: 5400000 → `1h30m`. */
export function formatDuration(durationMs: number): string {
  const total = Math.floor(durationMs / 1000);
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(total / 3600), 'h'],
    [Math.floor(total / 60) % 60, 'm'],
    [total % 60, 's'],
  ];
  const text = parts
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join('');
  return text === '' ? '0s' : text;
}
