import { test } from 'vitest';
import { holdToItsCost } from './cost.ts';

test('one file changed among 500 costs one blob, one parsing and one resource', async () => {
  await holdToItsCost(50);
});
