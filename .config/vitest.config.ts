import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests named `*.long.test.ts` run only with `npm run test:long`, which sets this variable. */
const long = process.env.PORTOLAN_TEST_LONG === '1';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    exclude: long ? [] : ['test/**/*.long.test.ts'],
    pool: 'forks',
    testTimeout: long ? 600_000 : 30_000,
    hookTimeout: 60_000,
    // Nobody's own settings may decide what a test sees.
    env: { NO_COLOR: '1', TZ: 'UTC' },
    coverage: { provider: 'v8', include: ['src/**/*.ts'] },
  },
});
