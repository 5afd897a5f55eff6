import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checkFiles, type Rule } from './checker.ts';
import { ALLOWED, FILE_LINES_MAX, FUNCTION_LINES_MAX } from './rules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Every TypeScript file of the project, by its path from the root. */
function projectFiles(): Map<string, string> {
  const paths = ['src', 'test', '.config'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

test('the whole project keeps to the rules', () => {
  const files = projectFiles();
  expect(files.size).toBeGreaterThan(20);
  const findings = checkFiles(files, ALLOWED);
  expect(findings.map(({ file, line, rule, message }) => `${file}:${line} ${rule}: ${message}`)).toEqual([]);
});

/** Returns the functions that a text names, as `reconcile(work, …)` or as `reconcile`, and that no file imports and calls. */
function uncalled(text: string, files: ReadonlyMap<string, string>): readonly string[] {
  const sources = [...files].filter(([path]) => path.startsWith('src/')).map(([, source]) => source);
  const isFunction = (name: string): boolean =>
    sources.some((source) => new RegExp(`^export (?:async )?function ${name}\\b`, 'm').test(source));
  const isCalled = (name: string): boolean =>
    sources.some(
      (source) =>
        new RegExp(`^import [^;]*\\b${name}\\b[^;]* from `, 'm').test(source) &&
        new RegExp(`\\b${name}\\(`).test(source),
    );
  const named = [...text.matchAll(/`(\w+)(\([^`]*\))?`/g)].flatMap(([, name = '', call]) =>
    // `apply` alone is a command.
    call !== undefined || (/[a-z][A-Z]/.test(name) && isFunction(name)) ? [name] : [],
  );
  return named.filter((name) => !isCalled(name));
}

test('every function that src/README.md names has a caller in src', () => {
  const readme = readFileSync(join(root, 'src/README.md'), 'utf8');
  expect(readme).toContain('`reconcile(work, world, options, policy)`');
  expect(uncalled(readme, projectFiles())).toEqual([]);
});

test('a function without a caller is found, whether it is named as a call or not', () => {
  const files = new Map([
    ['src/plan/a.ts', 'export function lonely() {}\nexport async function idleNow() {}\nexport function busy() {}'],
    ['src/cli/b.ts', "import { busy } from '../plan/a.ts';\nbusy();\nlonely();"],
    ['test/c.test.ts', "import { lonely } from '../src/plan/a.ts';\nlonely();"],
  ]);
  const text = 'It calls `lonely(work)`, then `idleNow`, then `busy`; `--wait` and `other` are no functions.';
  expect(uncalled(text, files)).toEqual(['lonely', 'idleNow']);
});

const long = (lines: number): string => `${'  a();\n'.repeat(lines)}`;

/** One planted fault per rule, and what looks like it and is none. */
const FAULTS: readonly (readonly [what: string, path: string, text: string, rule: Rule | undefined])[] = [
  ['a broken file', 'src/plan/a.ts', 'export const = 1;', 'syntax'],
  ['an import from below', 'src/model/a.ts', "import { b } from '../plan/b.ts';\nb();", 'layer'],
  [
    'an import of types from below',
    'src/model/a.ts',
    "import type { B } from '../plan/b.ts';\nexport type A = B;",
    'layer',
  ],
  ['a dynamic import from below', 'src/plan/a.ts', "await import('../cli/b.ts');", 'layer'],
  ['an import type from below', 'src/plan/a.ts', "export type A = import('../cli/b.ts').B;", 'layer'],
  ['a re-export from below', 'src/plan/a.ts', "export * from '../cli/b.ts';", 'layer'],
  ['a folder that is no layer', 'src/stuff/a.ts', 'export const a = 1;', 'layer'],
  ['an import from the tests', 'src/plan/a.ts', "import { b } from '../../test/b.ts';\nb();", 'layer'],
  ['an import from above', 'src/plan/a.ts', "import { b } from '../model/b.ts';\nb();", undefined],
  ['the sandbox importing kinds', 'src/sandbox/a.ts', "import { b } from '../kinds/b.ts';\nb();", 'layer'],
  ['a short time limit', 'test/a.test.ts', "test('a', () => {}, 30_000);", 'short-time-limit'],
  ['a short limit in options', 'test/a.test.ts', "test('a', { timeout: 60_000 }, () => {});", 'short-time-limit'],
  ['a short poll', 'test/a.test.ts', 'await expect.poll(() => 1, { timeout: 10_000 }).toBe(1);', 'short-time-limit'],
  ['a long time limit', 'test/a.test.ts', "test('a', () => {}, 3_600_000);", undefined],
  ['a loop of its own', 'src/cli/a.ts', "import { rounds } from '../reconcile/rounds.ts';\nrounds();", 'spine'],
  ['a guard of its own', 'src/cli/a.ts', "import { guardScope } from '../plan/guard.ts';\nguardScope();", 'spine'],
  [
    'a guard of windows of its own',
    'src/controller/a.ts',
    "import { guardWindow } from '../plan/guard.ts';\nguardWindow();",
    'spine',
  ],
  ['a budget of its own', 'src/server/a.ts', "import { guardBudget as g } from '../plan/budget.ts';\ng();", 'spine'],
  ['a loop behind a namespace', 'src/cli/a.ts', "import * as r from '../reconcile/rounds.ts';\nr.rounds();", 'spine'],
  ['a loop that is loaded later', 'src/cli/a.ts', "(await import('../reconcile/rounds.ts')).rounds();", 'spine'],
  ['a re-export of a guard', 'src/cli/a.ts', "export { guardRun } from '../reconcile/guards.ts';", 'spine'],
  ['a word of the guards', 'src/cli/a.ts', "import { mayPrune } from '../plan/guard.ts';\nmayPrune();", undefined],
  [
    'a guard in a policy',
    'src/controller/account.ts',
    "import { tollOf } from '../plan/guard.ts';\ntollOf();",
    undefined,
  ],
  ['a dumping ground', 'src/plan/utils/a.ts', 'export const a = 1;', 'folder-name'],
  ['a dumping ground of tests', 'test/helpers/a.ts', 'export const a = 1;', 'folder-name'],
  [
    'a diff that knows the platform',
    'src/kinds/x/diff.ts',
    "import type { B } from '../../platform/b.ts';\nexport type A = B;",
    'kind-is-pure',
  ],
  ['calls that know the platform', 'src/kinds/x/calls.ts', "import { b } from '../../platform/b.ts';\nb();", undefined],
  [
    'the kind called platform',
    'src/configuration/store/spec.ts',
    "import type { B } from '../platform/spec.ts';\nexport type A = B;",
    undefined,
  ],
  [
    'the sandbox running the client',
    'src/sandbox/a.ts',
    "import { b } from '../platform/b.ts';\nb();",
    'sandbox-stands-alone',
  ],
  [
    'the sandbox knowing its types',
    'src/sandbox/a.ts',
    "import type { B } from '../platform/b.ts';\nexport type A = B;",
    undefined,
  ],
  [
    'the sandbox knowing its types, one by one',
    'src/sandbox/a.ts',
    "import { type B } from '../platform/b.ts';\nexport type A = B;",
    undefined,
  ],
  ['the time', 'src/plan/a.ts', 'export const a = Date.now();', 'ambient'],
  ['the time as a date', 'src/plan/a.ts', 'export const a = new Date();', 'ambient'],
  ['a date of something', 'src/plan/a.ts', 'export const a = new Date(0);', undefined],
  ['a timer', 'src/plan/a.ts', 'setTimeout(() => {}, 1);', 'ambient'],
  [
    'a timer by import',
    'src/plan/a.ts',
    "import { setTimeout as s } from 'node:timers/promises';\nawait s(1);",
    'ambient',
  ],
  ['chance', 'src/plan/a.ts', 'export const a = Math.random();', 'ambient'],
  [
    'chance by import',
    'src/plan/a.ts',
    "import { randomUUID } from 'node:crypto';\nexport const a = randomUUID();",
    'ambient',
  ],
  [
    'a hash',
    'src/plan/a.ts',
    "import { createHash } from 'node:crypto';\nexport const a = createHash('sha256');",
    undefined,
  ],
  ['the environment', 'src/plan/a.ts', 'export const a = process.env.HOME;', 'ambient'],
  [
    'a member called process',
    'src/plan/a.ts',
    'export const a = (b: { process: number }): number => b.process;',
    undefined,
  ],
  ['printing', 'src/plan/a.ts', 'console.log(1);', 'ambient'],
  ['a request', 'src/plan/a.ts', "await fetch('http://x');", 'ambient'],
  ['a member called fetch', 'src/plan/a.ts', 'export const a = { fetch: 1 };', undefined],
  ['a file', 'src/plan/a.ts', "import { readFileSync } from 'node:fs';\nreadFileSync('x');", 'ambient'],
  ['a file by its older name', 'src/plan/a.ts', "import { readFileSync } from 'fs';\nreadFileSync('x');", 'ambient'],
  [
    'a type of a database',
    'src/plan/a.ts',
    "import type { DatabaseSync } from 'node:sqlite';\nexport type A = DatabaseSync;",
    undefined,
  ],
  ['the time in a test', 'test/plan/a.test.ts', 'export const a = Date.now();', undefined],
  ['a long file', 'test/plan/a.ts', long(FILE_LINES_MAX + 1), 'file-size'],
  ['a long function', 'src/plan/a.ts', `function a(): void {\n${long(FUNCTION_LINES_MAX)}}\na();`, 'function-size'],
  [
    'a function of many functions',
    'src/plan/a.ts',
    `function a(): void {\n${`  const b = () => {\n${long(14)}};\n`.repeat(4)}}\na();`,
    'function-size',
  ],
  [
    'a function that just fits',
    'src/plan/a.ts',
    `function a(): void {\n${long(FUNCTION_LINES_MAX - 2)}}\na();`,
    undefined,
  ],
  ['any', 'src/plan/a.ts', 'export const a: any = 1;', 'unexplained-any'],
  ['any that is explained', 'src/plan/a.ts', '// The parser has no types.\nexport const a: any = 1;', undefined],
  ['looking away', 'src/plan/a.ts', '// @ts-expect-error\nexport const a: string = 1;', 'unexplained-suppression'],
  [
    'looking away with a reason',
    'src/plan/a.ts',
    '// oxlint-disable-next-line no-eval -- a test of eval\na();',
    undefined,
  ],
  [
    'a secret shown',
    'src/cli/a.ts',
    'export const a = (b: { reveal(): string }): string => b.reveal();',
    'secret-revealed',
  ],
  [
    'a secret on the wire',
    'src/platform/a.ts',
    'export const a = (b: { reveal(): string }): string => b.reveal();',
    undefined,
  ],
];

test.for(FAULTS)('%s in %s', ([, path, text, rule]) => {
  const found = checkFiles(new Map([[path, text]]), {}).map((finding) => finding.rule);
  expect([...new Set(found)]).toEqual(rule === undefined ? [] : [rule]);
});

test.for([
  ['a statement', "import { b } from './b.ts';\nb();"],
  ['types alone', "import type { B } from './b.ts';\nexport type A = B;"],
  ['a dynamic import', "await import('./b.ts');"],
  ['a re-export', "export * from './b.ts';"],
] as const)('a cycle of three files is found that %s closes', ([, text]) => {
  const files = new Map([
    ['src/plan/a.ts', text],
    ['src/plan/b.ts', "import { c } from './c.ts';\nc();"],
    ['src/plan/c.ts', "await import('./a.ts');"],
  ]);
  expect(checkFiles(files, {}).map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
    'cycle: src/plan/a.ts → src/plan/b.ts → src/plan/c.ts → src/plan/a.ts',
  ]);
});

test('an allowance lets one file do one thing, and must be needed', () => {
  const files = new Map([['src/plan/a.ts', 'export const a = Date.now();\nconsole.log(a);']]);
  const uses = { 'src/plan/a.ts': { uses: ['clock', 'files'], reason: 'test' } } as const;
  expect(checkFiles(files, uses).map(({ rule, line }) => `${rule} ${line}`)).toEqual([
    'ambient 2',
    'stale-allowance 1',
  ]);
});
