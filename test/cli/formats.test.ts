import { expect, test } from 'vitest';
import { type Format, goldenPath, PLANS, written } from './formats.ts';

const EXIT_CODES: Readonly<Record<string, number>> = {
  empty: 0,
  'first-apply': 0,
  drift: 0,
  mixed: 0,
  held: 4,
  'not-observed': 1,
  'partly-failed': 1,
};

test.for(PLANS)('the plan "$name" in every format is as it was agreed, from one run', async (plan) => {
  const { run, files } = await written(plan);
  expect(run.code, run.err).toBe(EXIT_CODES[plan.name]);
  for (const [format, text] of files) {
    await expect(text, format).toMatchFileSnapshot(goldenPath(plan.name, format));
  }
  // The screen says what the file says.
  expect(files.get('text' satisfies Format)?.replace(/\n\n$/, '\n')).toContain(run.out.split('\n').at(-2));
});
