import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import type { Problem } from '../../src/model/problem.ts';
import { loadConfiguration } from '../../src/configuration/configuration.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import { nodeFileSystem, readSources } from '../../src/manifest/read.ts';
import { renderProblems } from '../../src/manifest/render.ts';
import { parseVariables } from '../../src/manifest/substitute.ts';

/**
 * Every folder of `broken/` is a set of files with faults; `golden/report.txt` in it is what a person is told.
 * `portolan.yaml` is read as the operator's configuration, `vars.env` as variables, the rest as manifests.
 * After a change of words: UPDATE_GOLDEN=1, and read the difference.
 */
const ROOT = 'test/manifest/broken';
const CASES = readdirSync(ROOT).sort();
const fs = nodeFileSystem(async function* () {});
const operator = { platforms: new Set(['default']), stores: new Set(['main']) };

async function problemsOf(name: string): Promise<readonly Problem[]> {
  const folder = join(ROOT, name);
  const configuration = join(folder, 'portolan.yaml');
  const variablesFile = join(folder, 'vars.env');
  const problems: Problem[] = [];
  if (existsSync(configuration))
    problems.push(...loadConfiguration(kindDeclarations, readFileSync(configuration), 'portolan.yaml').problems);
  let variables: ReadonlyMap<string, string> = new Map();
  if (existsSync(variablesFile)) {
    const parsed = parseVariables(readFileSync(variablesFile), 'vars.env');
    variables = parsed.variables;
    problems.push(...parsed.problems);
  }
  const sources = await readSources([folder], fs, { exclude: [configuration] });
  const files = sources.files.map((file) => ({ ...file, path: file.path.slice(folder.length + 1) }));
  const loaded = loadManifests({
    kinds: kindDeclarations,
    files,
    variables,
    operator,
    problems: [...problems, ...sources.problems],
  });
  expect(loaded.desired.size, 'no part of a faulty set is handed out').toBe(0);
  return loaded.problems;
}

test.for(CASES)('broken/%s is reported as its golden file says', async (name) => {
  const report = renderProblems(await problemsOf(name), { color: false });
  const golden = join(ROOT, name, 'golden', 'report.txt');
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(join(ROOT, name, 'golden'), { recursive: true });
    writeFileSync(golden, report);
  }
  expect(report).not.toBe('');
  expect(report, 'a secret is shown').not.toContain('hunter2');
  expect(report).toBe(readFileSync(golden, 'utf8'));
});

test('there are enough of them to be the specification of what is refused', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(75);
});
