import { expect, test } from 'vitest';
import { modelDeathOf } from './deaths.ts';
import { modelMutants } from './mutants.ts';
import { exhaustive } from './report.ts';

test(
  'every order of steps with up to three crashes or lost answers',
  async () => {
    const lines: string[] = [];
    const exitCode = await exhaustive({
      faultsMax: Number.POSITIVE_INFINITY,
      workers: 2,
      write: (text) => lines.push(text),
    });
    console.log(lines.join(''));
    expect(exitCode).toBe(0);
  },
  60 * 60_000,
);

for (const mutant of modelMutants) {
  test(`the model finds: ${mutant.name}`, async () => {
    const { by, message } = await modelDeathOf(mutant);
    expect(mutant.rightly, message).toContain(by);
  });
}
