import { expect, test } from 'vitest';
import { deathOf, killers } from './killers.ts';
import { unchanged } from './mutant.ts';
import { mutants } from './mutants.ts';

const SEEDS_MAX = 5_000;

test('there are at least 25 mutants, each with its killer', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(25);
  expect(Object.keys(killers).sort()).toEqual(mutants.map(({ name }) => name).sort());
});

for (const mutant of mutants) {
  test(`killed: ${mutant.name}`, async () => {
    const death = await deathOf(mutant, SEEDS_MAX);
    expect(death, 'it lives').toBeDefined();
    expect(killers[mutant.name]?.[0], 'what may kill it').toContain(death?.by);
  });
}

test.for(mutants)('it would be noticed if it died of something else: $name', async ({ name }) => {
  const broken = () => {
    throw new Error('a breakage that has nothing to do with it');
  };
  expect(await deathOf({ ...unchanged, name, world: broken }, SEEDS_MAX)).toMatchObject({ by: 'BUG', isRight: false });
});
