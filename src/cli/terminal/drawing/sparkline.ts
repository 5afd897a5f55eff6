import type { Glyphs } from './glyphs.ts';

/** One line of bars; a gap is a space. A flat line sits in the middle. */
export function sparkline(values: readonly (number | undefined)[], { bars }: Glyphs): string {
  const present = values.filter((value) => value !== undefined);
  const [low, high] = [Math.min(...present), Math.max(...present)];
  const levelOf = (value: number): number =>
    high <= low
      ? Math.floor(bars.length / 2)
      : Math.min(bars.length - 1, Math.floor(((value - low) / (high - low)) * bars.length));
  return values.map((value) => (value === undefined ? ' ' : bars[levelOf(value)])).join('');
}
