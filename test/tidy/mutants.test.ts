import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { driverMutants } from '../simulation/drivers/mutants.ts';
import { modelMutants } from '../simulation/model/mutants.ts';

test('each mutant of the simulator changes a piece that is in its file exactly once', () => {
  const moved = [...driverMutants, ...modelMutants].filter(({ file, find }) => {
    const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
    return text.split(find).length !== 2;
  });
  expect(moved.map(({ name, file, find }) => `${name}: ${file}: ${find}`)).toEqual([]);
});
