import { durationMsOf } from '../model/duration.ts';
import type { SpecProblem } from './kind.ts';

const DAY = { code: 'schema/duration', longestMs: 24 * 3600 * 1000, expected: 'more than 0s and at most 24h' };

/**
 * Returns a problem if a duration is outside of its bounds. The schema has checked its form.
 * @param bounds by default more than 0 and at most a day.
 */
export function durationProblems(text: string, path: string, bounds = DAY): readonly SpecProblem[] {
  const durationMs = durationMsOf(text);
  if (durationMs > 0 && durationMs <= bounds.longestMs) return [];
  const { code, expected } = bounds;
  return problemAt(path, code, `${path.split('.').at(-1)} is ${text}`, expected);
}

/** One problem, as the list that a check returns. */
export function problemAt(
  path: string,
  code: string,
  message: string,
  expected?: string,
  hint?: string,
): readonly SpecProblem[] {
  return [{ path, code, message, expected, hint }];
}

/** Returns the values that occur in a list again, with both indexes; undefined values are ignored. */
export function repeats<T>(
  values: readonly T[],
): readonly { readonly value: NonNullable<T>; readonly index: number; readonly first: number }[] {
  return values.flatMap((value, index) => {
    const first = values.indexOf(value);
    return value === undefined || value === null || first === index ? [] : [{ value, index, first }];
  });
}
