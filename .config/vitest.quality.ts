import { defineConfig, mergeConfig } from 'vitest/config';
import { chosenParts } from './quality-parts.ts';
import base from './vitest.config.ts';

/** Only the tests of the parts that are measured. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  defineConfig({ test: { include: chosenParts().flatMap(({ tests }) => tests) } }),
);
