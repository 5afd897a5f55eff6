import { expect, test } from 'vitest';
import { detonate, expectHarmless } from './detonate.ts';

/** The costliest of all, by time and by memory; `bombs.long.test.ts` has every one. */
test.for([
  ['a list of lists 30 deep', 'dense'],
  ['a list of lists 30 deep', 'whole'],
  ['double quotes', 'dense'],
  ['components that are all one', 'dense'],
  ['unknown fields in many documents', 'dense'],
  ['references to nothing', 'dense'],
  ['a list of addresses with passwords', 'dense'],
  ['control characters', 'whole'],
  ['aliases of aliases', 'whole'],
] as const)('could take all time and memory: %s, %s', async ([name, size]) => {
  const cost = await detonate(name, size);
  expectHarmless(cost);
  expect(cost.exitCode, 'refused').toBe(3);
});
