import { expect, test } from 'vitest';
import { exhaustive } from './report.ts';

test(
  'every order of steps with up to three crashes or lost answers',
  async () => {
    const lines: string[] = [];
    const exitCode = await exhaustive(Number.POSITIVE_INFINITY, (text) => lines.push(text));
    console.log(lines.join(''));
    expect(exitCode).toBe(0);
  },
  60 * 60_000,
);
