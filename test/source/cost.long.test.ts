import { test } from 'vitest';
import { holdToItsCost } from './cost.ts';

test('one file changed among 10,000 of 1,000 applications costs one blob, one parsing and one resource', async () => {
  await holdToItsCost(1_000);
});
