import { expect, test } from 'vitest';
import { killerOf, killers } from './killers.ts';
import { mutants } from './mutants.ts';

const SEEDS_MAX = 5_000;

test('there are at least 25 mutants, each with its killer', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(25);
  expect(Object.keys(killers).sort()).toEqual(mutants.map(({ name }) => name).sort());
});

for (const mutant of mutants) {
  test(`killed: ${mutant.name}`, async () => {
    expect(await killerOf(mutant, SEEDS_MAX), 'it lives').toBeDefined();
  }, 120_000);
}
