import { expect, test } from 'vitest';
import { withRemedy } from '../../src/plan/words.ts';

test.for([
  ['it waits', 'Wait.', 'it waits. Wait.'],
  ['It waits.', 'Wait.', 'It waits. Wait.'],
  ['it waits', '', 'it waits'],
] as const)('a message and its remedy are two sentences: %s', ([message, remedy, text]) => {
  expect(withRemedy({ message, remedy })).toBe(text);
});
