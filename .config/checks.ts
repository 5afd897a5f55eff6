/**
 * Everything that must hold before a change is taken: `npm test`. The static checks run side by side, then the tests.
 * Green is short; a check that fails shows all it said.
 *
 *   --only a,b   only these checks (names as printed)
 *   --long       the long tests too, and how well the tests hold what must not be wrong (`npm run quality`)
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { TestReport } from './reporter.ts';

interface Check {
  readonly name: string;
  /** Program in node_modules/.bin, or `node`, and its arguments; several are run in a row. */
  readonly commands: readonly (readonly [string, ...string[]])[];
}

interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly output: string;
}

type TestCounts = Pick<TestReport, 'passed' | 'failed' | 'skipped'>;

const root = fileURLToPath(new URL('..', import.meta.url));
const testReport = join(root, '.vitest', 'report.json');
/** As many as cores of a small machine: more only makes each slower. */
const LANES = 2;

const STATIC_CHECKS: readonly Check[] = [
  // The longest first: the lanes then end together.
  { name: 'dead-code', commands: [['knip', '--no-progress', '--config', '.config/knip.json']] },
  {
    name: 'typecheck',
    commands: [
      ['tsc', '--project', 'tsconfig.json', '--noEmit'],
      ['tsc', '--project', 'src/dashboard/tsconfig.json', '--noEmit'],
    ],
  },
  {
    name: 'package',
    commands: [
      ['node', '.config/build.ts'],
      ['publint', 'run', '--strict', '--pack', 'npm'],
    ],
  },
  {
    name: 'lint',
    commands: [['oxlint', '--deny-warnings', 'src', 'test', '.config']],
  },
  { name: 'format', commands: [['biome', 'format', '.']] },
  {
    name: 'schemas',
    commands: [
      ['node', '.config/schemas.ts', '--check'],
      ['node', '.config/reference.ts', '--check'],
    ],
  },
];

const QUALITY: Check = { name: 'quality', commands: [['node', '.config/quality.ts']] };

const { values } = parseArgs({ options: { only: { type: 'string' }, long: { type: 'boolean', default: false } } });
process.exitCode = await main(values.only?.split(','), values.long);

async function main(only: readonly string[] | undefined, long: boolean): Promise<number> {
  const names = [...STATIC_CHECKS.map((check) => check.name), 'tests', QUALITY.name];
  const unknown = only?.filter((name) => !names.includes(name)) ?? [];
  if (unknown.length > 0) {
    console.error(`no such check: ${unknown.join(', ')}. There are: ${names.join(', ')}`);
    return 1;
  }
  const wanted = (name: string): boolean => only === undefined || only.includes(name);
  const results = await inLanes(STATIC_CHECKS.filter((check) => wanted(check.name)));
  let counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };
  if (wanted('tests')) {
    const { result, found } = await runTests(long);
    counts = found;
    results.push(result);
  } else {
    counts = { ...counts, passed: results.filter((result) => result.ok).length };
  }
  if (long && wanted(QUALITY.name)) {
    const result = await runCheck(QUALITY);
    report(result);
    // Its table is worth reading when all is well, too.
    if (result.ok) console.log(result.output.trimEnd());
    results.push(result);
  }
  // A check that fails is a failure too, so that the closing line never says 0 failed under a bad exit code.
  const failedChecks = results.filter((result) => !result.ok && result.name !== 'tests');
  const failed = counts.failed + failedChecks.length;
  if (failedChecks.length > 0) console.log(`failed checks: ${failedChecks.map((result) => result.name).join(', ')}`);
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  console.log(`${counts.passed} passed, ${failed} failed${skipped}`);
  return results.every((result) => result.ok) && failed === 0 ? 0 : 1;
}

async function inLanes(checks: readonly Check[]): Promise<CheckResult[]> {
  const queue = [...checks];
  const results: CheckResult[] = [];
  const lane = async (): Promise<void> => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
      const result = await runCheck(check);
      report(result);
      results.push(result);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

async function runCheck(check: Check): Promise<CheckResult> {
  const startedMs = performance.now();
  let output = '';
  let ok = true;
  for (const [program, ...args] of check.commands) {
    const done = await run(program, args, {});
    output += done.output;
    ok = done.code === 0;
    if (!ok) break;
  }
  return { name: check.name, ok, seconds: (performance.now() - startedMs) / 1000, output };
}

/** How the secrets begin that tests plant: whatever the whole suite says, none of it may hold one. */
function plantedIn(output: string): readonly string[] {
  const planted = ['canary-token', 'canary-store-key', 'canary-inline', 'kill-store-key', 'full-disk-key'];
  const said = existsSync(testReport) ? output + readFileSync(testReport, 'utf8') : output;
  return planted.filter((secret) => said.includes(secret));
}

async function runTests(long: boolean): Promise<{ result: CheckResult; found: TestCounts }> {
  rmSync(testReport, { force: true });
  const startedMs = performance.now();
  // The long tests say what they counted and measured, which is worth reading when all is well, too.
  const args = ['run', '--config', '.config/vitest.config.ts', `--silent=${long ? 'false' : 'passed-only'}`];
  const reporters = ['--reporter=default', '--reporter=./.config/reporter.ts'];
  const done = await run('vitest', [...args, ...reporters], {
    CHECKS_TEST_REPORT: testReport,
    ...(long ? { PORTOLAN_TEST_LONG: '1' } : {}),
  });
  const found = readReport(done.code === 0);
  const seconds = (performance.now() - startedMs) / 1000;
  const leaked = plantedIn(done.output);
  const ok = done.code === 0 && found.failed === 0 && leaked.length === 0;
  const leaks = leaked.map((planted) => `\nthe output of the tests shows a planted secret: ${planted}…`).join('');
  const result = { name: 'tests', ok, seconds, output: done.output + leaks };
  report(result);
  if (long && ok) console.log(found.told.trimEnd());
  return { result, found };
}

/** A run that left no report, or ended badly without a failure of its own, is a failure. */
function readReport(exitedWell: boolean): TestReport {
  if (!existsSync(testReport)) return { passed: 0, failed: 1, skipped: 0, said: [], told: '' };
  const found = JSON.parse(readFileSync(testReport, 'utf8')) as TestReport;
  return found.failed === 0 && !exitedWell ? { ...found, failed: 1 } : found;
}

function report(result: CheckResult): void {
  console.log(`${result.ok ? 'ok    ' : 'FAILED'} ${result.name.padEnd(10)} ${result.seconds.toFixed(1)} s`);
  if (!result.ok) console.log(result.output.trimEnd());
}

function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; output: string }> {
  const file = program === 'node' ? process.execPath : join(root, 'node_modules', '.bin', program);
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd: root, env: { ...process.env, NO_COLOR: '1', ...env } });
    let output = '';
    const take = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', (error) => resolve({ code: 1, output: `${file} could not be started: ${error.message}` }));
    child.on('close', (code, signal) => {
      if (signal !== null) output += `\n${program} was ended by ${signal}`;
      resolve({ code: code ?? 1, output });
    });
  });
}
