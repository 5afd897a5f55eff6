import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';

/** What `checks.ts` needs to know of a run of the tests. */
export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Names of all tests, and the messages of those that failed. */
  readonly said: readonly string[];
  /** What tests wrote to standard output, where it is shown. */
  readonly told: string;
}

/** Writes a `TestReport` to the file that CHECKS_TEST_REPORT names. */
export default class CheckReporter implements Reporter {
  #told = '';
  #isSilent = true;

  onInit({ config }: Vitest): void {
    this.#isSilent = config.silent !== false;
  }

  onUserConsoleLog({ type, content }: { readonly type: 'stdout' | 'stderr'; readonly content: string }): void {
    if (type === 'stdout' && !this.#isSilent) this.#told += content;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    // A file that could not be loaded, and an error outside any test.
    const broken = modules.filter((module) => module.errors().length > 0).length + unhandled.length;
    const report: TestReport = {
      passed: count('passed'),
      failed: count('failed') + broken,
      skipped: count('skipped'),
      said: tests.flatMap((test) => [test.fullName, ...(test.result().errors ?? []).map(({ message }) => message)]),
      told: this.#told,
    };
    const file = process.env.CHECKS_TEST_REPORT;
    if (file === undefined) return;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(report));
  }
}
