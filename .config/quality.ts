/**
 * `npm run quality`: how well the tests hold what must not be wrong (`quality-parts.ts`). Branch coverage must be whole,
 * and of the mutants of each file (small mistakes put into the code one at a time) nine in ten must make a test fail.
 * Prints one table and every mutant that lived; ends with 1 below the bar.
 *
 *   --only a,b   only these parts (names as in the table)
 *   --fresh      forget what the last run found out about unchanged code and tests
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { chosenParts, QUALITY_PARTS, type QualityPart } from './quality-parts.ts';

const BRANCHES_MIN_PERCENT = 100;
const MUTANTS_MIN_PERCENT = 90;

const root = fileURLToPath(new URL('..', import.meta.url));
const work = join(root, '.vitest', 'quality');
const TEST_CONFIG = '.config/vitest.quality.ts';

interface Counted {
  readonly good: number;
  readonly all: number;
}

type MutantResult = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const { values } = parseArgs({ options: { only: { type: 'string' }, fresh: { type: 'boolean', default: false } } });
process.exitCode = await main(values.only, values.fresh);

async function main(only: string | undefined, fresh: boolean): Promise<number> {
  const unknown = (only?.split(',') ?? []).filter((name) => !QUALITY_PARTS.some((part) => part.name === name));
  if (unknown.length > 0) {
    console.error(
      `no such part: ${unknown.join(', ')}. There are: ${QUALITY_PARTS.map(({ name }) => name).join(', ')}`,
    );
    return 1;
  }
  process.chdir(root);
  if (only !== undefined) process.env.PORTOLAN_QUALITY_PARTS = only;
  const parts = chosenParts();
  const startedMs = performance.now();
  const branches = coverBranches(parts);
  if (branches === undefined) return 1;
  const mutants = await mutate(parts, fresh);
  const isGood = report(parts, branches, mutants);
  console.log(`${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
  return isGood ? 0 : 1;
}

/** Branches by file; undefined: a test failed, which was printed. */
function coverBranches(parts: readonly QualityPart[]): ReadonlyMap<string, Counted> | undefined {
  const folder = join(work, 'coverage');
  rmSync(folder, { recursive: true, force: true });
  const args = ['run', '--config', TEST_CONFIG, '--silent=passed-only', '--coverage.enabled'];
  const files = parts.flatMap((part) => part.files).map((file) => `--coverage.include=${file}`);
  const done = spawnSync(
    join(root, 'node_modules', '.bin', 'vitest'),
    [...args, ...files, '--coverage.reporter=json-summary', `--coverage.reportsDirectory=${folder}`],
    { cwd: root, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  );
  if (done.status !== 0) {
    console.error(done.stdout + done.stderr);
    return undefined;
  }
  const summary = JSON.parse(readFileSync(join(folder, 'coverage-summary.json'), 'utf8')) as Record<
    string,
    { branches: { total: number; covered: number } }
  >;
  return new Map(
    Object.entries(summary).map(([file, { branches }]) => [
      relative(root, file),
      { good: branches.covered, all: branches.total },
    ]),
  );
}

function mutate(parts: readonly QualityPart[], fresh: boolean): Promise<MutantResult[]> {
  return new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: TEST_CONFIG, related: false },
    mutate: parts.flatMap((part) => [...part.files]),
    coverageAnalysis: 'perTest',
    // The machine has other things to do, and a test that is starved of time looks like a mutant that hangs.
    concurrency: 1,
    incremental: true,
    incrementalFile: join(work, `incremental-${parts.map(({ name }) => name).join('-')}.json`),
    force: fresh,
    tempDirName: join('.vitest', 'stryker'),
    ignorePatterns: ['dist', 'coverage', 'reports', '.vitest'],
    // It reads one with TypeScript's former interface, which the compiler that is used here has no more.
    tsconfigFile: 'none.json',
    checkers: [],
    reporters: process.stdout.isTTY ? ['progress'] : [],
    logLevel: 'error' as never,
  }).runMutationTest();
}

function report(
  parts: readonly QualityPart[],
  branches: ReadonlyMap<string, Counted>,
  mutants: readonly MutantResult[],
): boolean {
  const rows = [['part', 'file', 'branches', 'mutants killed', 'lived']];
  const lived: string[] = [];
  let isGood = true;
  for (const part of parts) {
    for (const file of part.files) {
      const covered = branches.get(file) ?? { good: 0, all: 0 };
      const ofFile = mutants.filter(
        (mutant) => relative(root, join(root, mutant.fileName)) === file || mutant.fileName === join(root, file),
      );
      const valid = ofFile.filter(({ status }) => ['Killed', 'Timeout', 'Survived', 'NoCoverage'].includes(status));
      const survivors = valid.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
      const killed = { good: valid.length - survivors.length, all: valid.length };
      isGood &&= branches.has(file) && percent(covered) >= BRANCHES_MIN_PERCENT;
      isGood &&= percent(killed) >= MUTANTS_MIN_PERCENT;
      rows.push([part.name, file, share(covered), share(killed), String(survivors.length)]);
      lived.push(...survivors.map((mutant) => describe(file, mutant)));
    }
  }
  console.log(table(rows));
  if (lived.length > 0) console.log(`\nlived:\n${lived.join('\n')}`);
  console.log(
    `\n${isGood ? 'ok' : 'FAILED'}: each file needs ${BRANCHES_MIN_PERCENT} % of its branches covered and ${MUTANTS_MIN_PERCENT} % of its mutants killed`,
  );
  return isGood;
}

function describe(file: string, { location, mutatorName, replacement, status }: MutantResult): string {
  const { line, column } = location.start;
  const shown = (replacement ?? '').replace(/\s+/g, ' ').slice(0, 80);
  return `  ${file}:${line}:${column} ${mutatorName} → ${shown}${status === 'NoCoverage' ? ' (no test runs it)' : ''}`;
}

function percent({ good, all }: Counted): number {
  return all === 0 ? 100 : (100 * good) / all;
}

function share(counted: Counted): string {
  return `${counted.good}/${counted.all} ${percent(counted).toFixed(1)} %`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
