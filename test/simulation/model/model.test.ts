import { expect, test } from 'vitest';
import { modelDeathOf } from './deaths.ts';
import { explore } from './explore.ts';
import { modelMutants } from './mutants.ts';
import { explorationOf } from './report.ts';

/** All of it: npm run test:long, or npm run simulate -- --exhaustive. The least of states: fewer would mean that it no longer reaches them. */
const parts: readonly (readonly [scenario: string, faults: number, states: number])[] = [
  ['create both', 1, 94],
  ['update one and close the other', 0, 42],
  ['remove one, and meanwhile close the other beyond the budget', 0, 66],
];

for (const [name, faults, least] of parts) {
  test(`every order of steps with ${faults} crashes or lost answers: ${name}`, async () => {
    const { violation, path, executions, states } = await explore(explorationOf(name, faults));
    console.log(`${executions} executions, ${states} states of ledger and platform`);
    expect(violation, path.join('\n')).toBeUndefined();
    expect(states).toBeGreaterThan(least);
  });
}

/** Schedules find the others too, with the mutants of the protocol and of the drivers; the model finds them in `npm run test:long`. */
const OWN = [
  'the fence is ignored',
  'the budget is not written down before the send',
  'a restart forgets what the day has spent',
];
const own = modelMutants.filter(({ name }) => OWN.includes(name));

test('the mutants that the suite takes are there', () => {
  expect(own.map(({ name }) => name)).toEqual(OWN);
});

for (const mutant of own) {
  test(`the model finds: ${mutant.name}`, async () => {
    const { by, message } = await modelDeathOf(mutant);
    expect(mutant.rightly, message).toContain(by);
  });
}
