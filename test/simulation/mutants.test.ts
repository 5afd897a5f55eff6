import { expect, test } from 'vitest';
import { killers, runKiller } from './killers.ts';
import { mutants } from './mutants.ts';

test('there are at least 25 mutants, each with its killer', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(25);
  expect(Object.keys(killers).sort()).toEqual(mutants.map(({ name }) => name).sort());
});

for (const mutant of mutants) {
  const killer = killers[mutant.name] ?? ['nothing', 0];
  test(`killed by ${killer[0]}: ${mutant.name}`, async () => {
    const genuine = await runKiller(killer);
    expect(genuine.violation, 'the genuine protocol lives').toBeUndefined();
    const { violation } = await runKiller(killer, mutant);
    expect(
      violation?.invariant,
      violation?.message ?? 'it survived: npm run simulate -- --mutants finds another killer',
    ).toBe(killer[0]);
  });
}
