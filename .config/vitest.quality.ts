import { defineConfig, mergeConfig } from 'vitest/config';
import { chosenParts } from './quality-parts.ts';
import base from './vitest.config.ts';

const test = { ...base.test, include: [] };
delete test.projects;

/** Only the tests of the parts that are measured. */
export default mergeConfig(
  { ...base, test },
  defineConfig({ test: { include: chosenParts().flatMap(({ tests }) => tests), exclude: ['test/**/*.long.test.ts'] } }),
);
