const DAY_SECONDS = 86_400;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Returns a time of day in UTC: `09:05`, with seconds where they are not zero. */
export function clockText(seconds: number): string {
  const text = new Date(seconds * 1000).toISOString();
  return text.slice(11, seconds % 60 === 0 ? 16 : 19);
}

/** Returns a day: `23 Nov`. */
export function dayText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

/** Returns the labels of ticks: times of day, and the day where one begins. */
export function tickTexts(ticks: readonly number[]): readonly string[] {
  return ticks.map((tick) => (tick % DAY_SECONDS === 0 ? dayText(tick) : clockText(tick)));
}
