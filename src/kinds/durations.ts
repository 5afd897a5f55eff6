import { parseDuration } from '../model/duration.ts';
import type { SpecProblem } from './kind.ts';

const LONGEST_MS = 24 * 3600 * 1000;

/** A time that has passed the schema's pattern must also be one that can be waited for: more than 0, at most a day. */
export function durationProblems(text: string, path: string): readonly SpecProblem[] {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined && durationMs > 0 && durationMs <= LONGEST_MS) return [];
  return [
    {
      code: 'schema/duration',
      path,
      message: `${path.split('.').at(-1)} is ${text}`,
      expected: 'more than 0s and at most 24h',
    },
  ];
}
