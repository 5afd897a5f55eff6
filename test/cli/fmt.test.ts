import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replaceTextFile } from '../../src/cli/session/files.ts';
import { folderOf } from './platform.ts';
import { collectingTerminal, runHere, runProcess } from './running.ts';

const LAID_OUT = `apiVersion: portolan/v1
kind: Application
metadata: { name: shop } # the shop
spec: { team: team-a, region: region-1, appId: 42 }
`;
const OTHERWISE = `kind: Application
apiVersion: portolan/v1
metadata: { name: 'shop' } # the shop
spec: { appId: 42, team: team-a, region: region-1 }
`;
const FAULTY = OTHERWISE.replace('appId: 42', 'appId: forty');

test('files are written in place, and named; those that are laid out are not touched', async () => {
  const folder = folderOf({ 'a.yaml': OTHERWISE, 'b.yaml': LAID_OUT });
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'sub', 'c.yml'), OTHERWISE);
  writeFileSync(join(folder, 'd.json'), '{"apiVersion":"portolan/v1"}');
  chmodSync(join(folder, 'a.yaml'), 0o640);
  const { ino } = statSync(join(folder, 'b.yaml'));
  expect(await runProcess(['fmt'], { cwd: folder })).toEqual({ code: 0, out: 'a.yaml\nsub/c.yml\n', err: '' });
  expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe(LAID_OUT);
  expect(readFileSync(join(folder, 'sub', 'c.yml'), 'utf8')).toBe(LAID_OUT);
  expect(statSync(join(folder, 'a.yaml')).mode & 0o777).toBe(0o640);
  expect(statSync(join(folder, 'b.yaml')).ino).toBe(ino);
  expect(await runHere(['fmt', folder])).toEqual({ code: 0, out: '', err: '' });
});

test.for([
  [['a.yaml'], {}, 'a.yaml\n'],
  [['-f', 'a.yaml', '-f', 'b.yaml'], {}, 'a.yaml\nb.yaml\n'],
  [['a.yaml', '-f', 'b.yaml'], {}, 'a.yaml\nb.yaml\n'],
  [[], { PORTOLAN_FILENAME: 'b.yaml' }, 'b.yaml\n'],
  [['a.yaml'], { PORTOLAN_FILENAME: 'b.yaml' }, 'a.yaml\n'],
] as const)('%j with %j names the files', async ([args, env, out]) => {
  const cwd = folderOf({ 'a.yaml': OTHERWISE, 'b.yaml': OTHERWISE, 'c.yaml': OTHERWISE });
  expect(await runProcess(['fmt', '--check', ...args], { cwd, env })).toMatchObject({ code: 1, out });
});

test('JSON has a layout of its own, and is left as it is', async () => {
  const file = join(folderOf({ 'a.json': '{"apiVersion":"portolan/v1"}' }), 'a.json');
  expect(await runHere(['fmt', file])).toEqual({
    code: 0,
    out: '',
    err: `note: ${file} is JSON and was not changed\n`,
  });
});

test('a file behind a link is written where it is', async () => {
  const folder = folderOf({ 'real.yaml': OTHERWISE });
  symlinkSync('real.yaml', join(folder, 'link.yaml'));
  expect(await runHere(['fmt', join(folder, 'link.yaml')])).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, 'real.yaml'), 'utf8')).toBe(LAID_OUT);
});

test('a file that was changed since it was read is left as it is now', () => {
  const folder = folderOf({ 'a.yaml': 'theirs' });
  expect(() => replaceTextFile(join(folder, 'a.yaml'), 'ours', Buffer.from('as it was read'))).toThrow(
    `${join(folder, 'a.yaml')} was changed while it was formatted. It was not overwritten.`,
  );
  expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe('theirs');
  expect(readdirSync(folder)).toEqual(['a.yaml']);
});

test('--check writes nothing, and ends with 1 where a file is not laid out', async () => {
  const folder = folderOf({ 'a.yaml': OTHERWISE, 'b.yaml': LAID_OUT });
  const run = await runHere(['fmt', '--check', folder]);
  expect(run).toMatchObject({ code: 1, out: `${join(folder, 'a.yaml')}\n` });
  expect(run.err).toContain('1 file not formatted');
  expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe(OTHERWISE);
  expect(await runHere(['fmt', '--check', join(folder, 'b.yaml')])).toEqual({ code: 0, out: '', err: '' });
});

test('--diff shows what would change, and writes nothing', async () => {
  const folder = folderOf({ 'a.yaml': OTHERWISE });
  const run = await runProcess(['fmt', '--diff', 'a.yaml'], { cwd: folder });
  expect(run).toEqual({
    code: 0,
    err: '',
    out: `--- a.yaml
+++ a.yaml
@@ -1,4 +1,4 @@
-kind: Application
 apiVersion: portolan/v1
-metadata: { name: 'shop' } # the shop
-spec: { appId: 42, team: team-a, region: region-1 }
+kind: Application
+metadata: { name: shop } # the shop
+spec: { team: team-a, region: region-1, appId: 42 }
`,
  });
  expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe(OTHERWISE);
  expect((await runProcess(['fmt', '--diff', '--check', 'a.yaml'], { cwd: folder })).code).toBe(1);
});

test('where nearly every line changes, the difference is the whole file', async () => {
  const labels = Array.from({ length: 3000 }, (_, at) => `        k${at}: 'v w'\n`).join('');
  const before = `apiVersion: portolan/v1
kind: Application
metadata:
    name: shop
    labels:
${labels}spec: { team: team-a, region: region-1, appId: 42 }
`;
  const { terminal, text } = collectingTerminal({ input: before });
  expect((await runHere(['fmt', '--diff', '-'], { terminal })).code).toBe(0);
  expect(text.out).toContain('\n@@ -1,3006 +1,3006 @@\n-apiVersion: portolan/v1\n');
  expect(text.out).toContain("\n-        k2999: 'v w'\n");
  expect(text.out).toContain('\n+    k2999: v w\n');
});

test.for([
  [[], OTHERWISE, { code: 0, out: LAID_OUT, err: '' }],
  [[], LAID_OUT, { code: 0, out: LAID_OUT, err: '' }],
  [['--check'], OTHERWISE, { code: 1, out: '<stdin>\n', err: expect.stringContaining('1 file') }],
  [['--check'], LAID_OUT, { code: 0, out: '', err: '' }],
  [[], FAULTY, { code: 3, out: '', err: expect.stringContaining('<stdin>:4:16') }],
] as const)('standard input with %j', async ([flags, input, expected]) => {
  const { terminal, text } = collectingTerminal({ input });
  expect({ code: (await runHere(['fmt', ...flags, '-'], { terminal })).code, ...text }).toEqual(expected);
});

test('a file with faults is reported and left as it is, and the others are laid out', async () => {
  const folder = folderOf({ 'a.yaml': FAULTY, 'b.yaml': OTHERWISE, 'c.yaml': 'a: &x 1\nb: *x\n' });
  const run = await runProcess(['fmt', '.', 'gone.yaml'], { cwd: folder });
  expect(run).toMatchObject({ code: 3, out: 'b.yaml\n' });
  expect(run.err).toContain('a.yaml:4:16');
  expect(run.err).toContain('c.yaml:1:4');
  expect(run.err).toContain('gone.yaml');
  expect(run.err).toContain('Files with faults were not changed.');
  expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe(FAULTY);
  expect(readFileSync(join(folder, 'b.yaml'), 'utf8')).toBe(LAID_OUT);
});

test('a file that would be a bomb is refused within its limits', async () => {
  const folder = folderOf({ 'a.yaml': `${'['.repeat(50_000)}\n`, 'b.yaml': `a: ${'x'.repeat(300_000)}\n` });
  const run = await runHere(['fmt', folder]);
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain('limit/depth');
  expect(run.err).toContain('limit/file-size');
});
