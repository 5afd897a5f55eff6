import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ENGLISH_RULES, type EnglishException, englishFindings, withoutExceptions } from './english.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];

/** Lines that break a rule and stay, because another program, a standard or an older file wants these words. */
const EXCEPTIONS: readonly EnglishException[] = [
  {
    file: 'src/controller/conditions.ts',
    text: "const IN_SETTLE_WINDOW = 'Settling';",
    reason: 'a reason of conditions, which programs read; it means the settle window',
  },
  {
    file: 'src/source/folder-scan.ts',
    text: "code: 'source/unsettled',",
    reason: 'the code of an error, which programs read',
  },
];
const EXCEPTIONS_MAX = 30;

/**
 * Findings that each folder still has. A folder that is not listed has none. The numbers only fall: whoever fixes texts of a
 * folder lowers its number.
 */
const REMAINING: Readonly<Record<string, number>> = {
  'README.md': 2,
  'src/main.ts': 9,
  'src/cli': 669,
  'src/controller': 2,
  'src/ledger': 6,
  'src/plan': 18,
  'src/reconcile': 12,
  'src/sandbox': 8,
};

function texts(): ReadonlyMap<string, string> {
  const folders = ['src', 'docs', 'examples'].filter((folder) => existsSync(join(root, folder)));
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile() && (folder !== 'src' || /\.(?:ts|md|json)$/.test(entry.name)))
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/')),
  );
  return new Map([...PAGES, ...paths].map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

test('texts, comments and names are plain English', () => {
  const files = texts();
  expect(files.size).toBeGreaterThan(500);
  expect(EXCEPTIONS.length).toBeLessThanOrEqual(EXCEPTIONS_MAX);
  const findings = [...files].flatMap(([file, text]) => englishFindings(file, text));
  const { left, unused } = withoutExceptions(findings, EXCEPTIONS);
  expect(unused, 'exceptions that cover nothing').toEqual([]);
  const byFolder = Map.groupBy(left, ({ file }) => file.split('/').slice(0, 2).join('/'));
  for (const [folder, max] of Object.entries(REMAINING)) {
    const count = byFolder.get(folder)?.length ?? 0;
    if (count < max) console.log(`${folder}: ${count} findings of ${max}. Lower the number in REMAINING.`);
  }
  const excess = [...byFolder].flatMap(([folder, found]) => {
    const max = REMAINING[folder] ?? 0;
    if (found.length <= max) return [];
    const lines = found.map(({ file, line, use, text }) => `${file}:${line} write "${use}": ${text}`);
    return [`${folder}: ${found.length} findings, at most ${max}`, ...lines.slice(0, 50)];
  });
  expect(excess).toEqual([]);
});

test.each(ENGLISH_RULES)('the rule "$use" finds its sample', ({ use, sample }) => {
  expect(englishFindings('a.md', `A line.\n${sample}\n`)).toContainEqual({ file: 'a.md', line: 2, text: sample, use });
});

test('plain sentences break no rule', () => {
  const text = [
    '/** Returns the applications in sync. */',
    'An Application is not a Component, and there is no Application. 1 removal is pending ... and 2 removals are not.',
    '`settle` is the name of a setting; the settle window ends at noon.',
    'What is a scope? It is an application on the platform.',
  ].join('\n');
  expect(englishFindings('a.md', text)).toEqual([]);
});

test('an exception covers its line alone, and one that covers nothing is found', () => {
  const findings = englishFindings('a.md', 'A person is told.\nAnother one is told too.\n');
  const exceptions = [
    { file: 'a.md', text: 'A person', reason: 'a sample' },
    { file: 'b.md', text: 'A person', reason: 'a sample' },
  ];
  const { left, unused } = withoutExceptions(findings, exceptions);
  expect(left.map(({ line }) => line)).toEqual([2]);
  expect(unused).toEqual(exceptions.slice(1));
});
