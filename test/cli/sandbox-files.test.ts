import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkFaultRules } from '../../src/sandbox/faults.ts';
import { seedProblems } from '../../src/sandbox/seed-check.ts';
import { folderOf } from './platform.ts';
import { collectingTerminal, runHere, startProgram } from './running.ts';
import { until } from './scene.ts';

/** A file that the help of `sandbox` shows, as a person copies it. */
async function example(heading: string, columns: number): Promise<string> {
  const { terminal, text } = collectingTerminal({ columns });
  await runHere(['sandbox', '--help'], { terminal });
  const [, block = ''] = new RegExp(`^${heading}:\\n((?: .*\\n)+)`, 'm').exec(text.out) ?? [];
  return block;
}

test.for([40, 80, 120])('files of the sandbox can be copied from its help, at %i columns', async (columns) => {
  const seed: unknown = parse(await example('Example of a seed', columns));
  expect(seedProblems(seed)).toEqual([]);
  expect(seed).toMatchObject({ applications: [{ id: 42 }] });
  const faults: unknown = parse(await example('Example of a faults file', columns));
  expect(checkFaultRules(faults)).toHaveLength(3);
});

test('the sandbox starts with them', async () => {
  const cwd = folderOf({
    'seed.yaml': await example('Example of a seed', 80),
    'faults.yaml': await example('Example of a faults file', 80),
  });
  const args = ['sandbox', '--port', '0', '--seed', join(cwd, 'seed.yaml'), '--faults', join(cwd, 'faults.yaml')];
  const { child, ended, outputSoFar } = startProgram(args, { cwd });
  await until(() => outputSoFar().out.includes('Ctrl-C ends it') || child.exitCode !== null);
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0, out: expect.stringContaining('sandbox platform') });
});

test.for(['seed', 'faults', 'all'])('portolan schema %s prints a JSON Schema', async (word) => {
  const { code, out } = await runHere(['schema', word]);
  expect(code).toBe(0);
  expect(Object.keys(JSON.parse(out) as object)).toContain('type');
});
