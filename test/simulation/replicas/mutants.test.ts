import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { replicaDeathOf } from './deaths.ts';
import { replicaMutants } from './mutants.ts';

for (const mutant of replicaMutants)
  test(`killed: ${mutant.name}`, async () => {
    expect(await replicaDeathOf(mutant), 'it lives, or production dies too').toMatchObject({ isRight: true });
  });

test.for(replicaMutants)('what it changes is there once: $name', ({ file, find }) => {
  const source = readFileSync(new URL(`../../../src/${file}`, import.meta.url), 'utf8');
  expect(source.split(find)).toHaveLength(2);
});
