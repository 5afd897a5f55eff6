import { expect, test } from 'vitest';
import { replicaDeathOf } from './deaths.ts';
import { QUICK_MUTANTS, replicaMutants } from './mutants.ts';

for (const mutant of replicaMutants.slice(0, QUICK_MUTANTS))
  test(`killed: ${mutant.name}`, async () => {
    expect(await replicaDeathOf(mutant), 'it lives, or production dies too').toMatchObject({ isRight: true });
  });
