import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { moreFaults } from '../../src/manifest/file.ts';
import { LIMITS } from '../../src/manifest/limits.ts';
import { loadManifests } from '../../src/manifest/load.ts';

/** Codes of the faults of one file. */
function codes(content: string | Uint8Array): readonly string[] {
  return loadManifests({ kinds: kindDeclarations, files: [{ path: 'a.yaml', content }] }).problems.map(
    ({ code }) => code,
  );
}

const flow = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const blockList = (depth: number) => `${'- '.repeat(depth)}x`;
const blockMap = (depth: number) =>
  Array.from({ length: depth }, (_, level) => `${' '.repeat(level)}k:${level === depth - 1 ? ' x' : ''}`).join('\n');
const keys = (count: number) => Array.from({ length: count }, (_, index) => `k${index}: 1`).join('\n');

test.for([
  ['bytes of a file', 'limit/file-size', (size: number) => '#'.repeat(size), LIMITS.fileBytes],
  [
    'bytes, not characters, of a file',
    'limit/file-size',
    (size: number) => `#${'é'.repeat(Math.ceil((size - 1) / 2))}`,
    LIMITS.fileBytes - 1,
  ],
  [
    'words and signs of a file',
    'limit/lexemes',
    (count: number) => '#\n'.repeat(count).slice(0, count),
    LIMITS.lexemes,
  ],
  ['levels of brackets', 'limit/depth', flow, LIMITS.depth],
  ['levels of lists', 'limit/depth', blockList, LIMITS.depth],
  ['levels of maps', 'limit/depth', blockMap, LIMITS.depth],
  ['keys of a map', 'limit/keys', keys, LIMITS.keysPerMap],
  ['characters of a value', 'limit/scalar', (length: number) => `a: ${'x'.repeat(length)}`, LIMITS.scalarLength],
] as const)('%s: the limit itself is allowed, one more is not', ([, code, make, limit]) => {
  expect(codes(make(limit))).not.toContain(code);
  expect(codes(make(limit + 1))).toContain(code);
});

test('files of a source', () => {
  const files = Array.from({ length: LIMITS.files + 1 }, (_, index) => ({ path: `${index}.yaml`, content: '' }));
  expect(loadManifests({ kinds: kindDeclarations, files }).problems.map(({ code }) => code)).toEqual(['limit/files']);
  expect(loadManifests({ kinds: kindDeclarations, files: files.slice(1) }).problems).toEqual([]);
});

test('bytes of a source', () => {
  const content = Buffer.alloc(LIMITS.fileBytes, '#');
  const count = LIMITS.totalBytes / LIMITS.fileBytes;
  const files = Array.from({ length: count + 1 }, (_, index) => ({
    path: `${index}.yaml`,
    content,
    contentId: 'same',
  }));
  expect(loadManifests({ kinds: kindDeclarations, files }).problems.map(({ code }) => code)).toEqual([
    'limit/total-size',
  ]);
  expect(loadManifests({ kinds: kindDeclarations, files: files.slice(1) }).problems).toEqual([]);
});

test('a value may not grow over its limit by substitution', () => {
  const variables = new Map([['A', 'x'.repeat(LIMITS.scalarLength / 4)]]);
  const load = (text: string) =>
    loadManifests({ kinds: kindDeclarations, files: [{ path: 'a.yaml', content: text }], variables }).problems;
  expect(load('a: "${A}${A}${A}${A}"').map(({ code }) => code)).not.toContain('limit/scalar');
  expect(load('a: "${A}${A}${A}${A}."').map(({ code }) => code)).toContain('limit/scalar');
});

test('a file of nothing but faults reports a hundred of them, and says how many more there are', () => {
  const { problems } = loadManifests({
    kinds: kindDeclarations,
    files: [{ path: 'a.yaml', content: keys(3000).replace(/1$/gm, '0x1') }],
  });
  expect(problems).toHaveLength(101);
  expect(problems.at(-1)?.message).toMatch(/^2\d\d\d more faults of this file are not shown$/);
});

test('the sentence on faults that are not shown agrees in number', () => {
  expect(moreFaults(1, 0).message).toBe('1 more fault of this file is not shown');
  const problem = {
    code: 'source/link',
    position: { file: 'a.yaml', line: 1, column: 1 },
    path: '',
    message: 'it is a link',
  };
  const load = (count: number) =>
    loadManifests({ kinds: kindDeclarations, files: [], problems: Array.from({ length: count }, () => problem) });
  expect(load(LIMITS.problems + 1).problems.at(-1)?.message).toBe('1 more fault of the source is not shown');
  expect(load(LIMITS.problems + 2).problems.at(-1)?.message).toBe('2 more faults of the source are not shown');
});
