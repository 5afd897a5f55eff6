import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests named `*.long.test.ts` run only with `npm run test:long`, which sets this variable. */
const long = process.env.PORTOLAN_TEST_LONG === '1';

/** Those that take many minutes each: they start before all others. */
const LONG = /\.long\.test\.ts$/;
/** Files that take long for what they say: they start first, or one of them would run alone at the end. */
const SLOW =
  /\/test\/(?:ci|processes|simulation)\/|\/test\/cli\/(?:apply-|secrets|commands|conformance|installation|hardship|export|completion)|\/ledger\/processes|\/port-transitions|\/test\/(?:dashboard|docs|readme|redteam)\//;

/**
 * Folders whose files share worker processes. In a process of its own, each file would import the same modules again: a third
 * of its processor time. Their tests leave no state in modules or in the process.
 */
const SHARED = [
  'apply',
  'cli',
  'controller',
  'kinds',
  'ledger',
  'manifest',
  'model',
  'plan',
  'platform',
  'reconcile',
  'runtime',
  'sandbox',
  'server',
  'source',
].map((folder) => `test/${folder}/**/*.test.ts`);
/** It mocks a module of Node, which works only while nothing has imported that module. */
const MOCKS = 'test/controller/resolve-receiver.test.ts';
/** They share one Chromium; most need the one build of the dashboard, too. */
const BROWSER = ['test/dashboard/**/*.test.ts', 'test/docs/rendering.test.ts'];
const excluded = long ? [] : ['test/**/*.long.test.ts'];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification): number => (LONG.test(moduleId) ? 0 : SLOW.test(moduleId) ? 1 : 2);
    return sorted.sort((left, right) => place(left) - place(right));
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          isolate: false,
          include: SHARED,
          exclude: [...excluded, MOCKS],
          setupFiles: ['test/support/end-of-file.ts'],
          globalSetup: ['test/support/postgres-set-up.ts'],
        },
      },
      { extends: true, test: { name: 'mocks', include: [MOCKS] } },
      {
        extends: true,
        test: {
          name: 'browser',
          isolate: false,
          include: BROWSER,
          exclude: excluded,
          globalSetup: ['test/dashboard/set-up.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ['test/**/*.test.ts'], exclude: [...excluded, ...SHARED, ...BROWSER] },
      },
    ],
    pool: 'forks',
    // Half of the slow ones wait for other processes: two more workers use what they leave idle of two cores.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: SlowFirst },
    // They detect a hang: no test may fail only because the machine is busy.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    // Nobody's own settings may decide what a test sees.
    env: {
      NO_COLOR: '1',
      TZ: 'UTC',
      // For processes that run a part of the source: most of their time goes into stripping types and compiling.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../.vitest/compiled', import.meta.url)),
    },
    coverage: { provider: 'v8', include: ['src/**/*.ts'] },
  },
});
