import { expect, test } from 'vitest';
import { leases } from './report.ts';

test(
  'every state of the lease protocol',
  () => {
    const lines: string[] = [];
    const exitCode = leases((text) => lines.push(text));
    console.log(lines.join(''));
    expect(exitCode).toBe(0);
  },
  60 * 60_000,
);
