import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { GENERATED } from '../../.config/markdown.ts';
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
  {
    file: 'src/cli/commands/run.ts',
    text: 'branch, tag or commit to follow',
    reason: 'the plain verb: the daemon follows a branch',
  },
  { file: 'src/cli/commands/tree/tree.ts', text: "jq '.. |", reason: 'an operator of jq' },
  { file: 'src/cli/commands/completion/scripts.ts', text: 'local -a answer', reason: 'code of a shell' },
  {
    file: 'src/ledger/migrations.ts',
    text: '-- What is only observed',
    reason: 'a released migration is never edited',
  },
  { file: 'src/plan/doubts.ts', text: "code: 'intent/settling',", reason: 'the code of a hold, which programs read' },
  {
    file: 'src/reconcile/resolution/manual-resolution.ts',
    text: "code: 'ledger/intent-settling',",
    reason: 'the code of an error, which programs read',
  },
  { file: '.config/error-notes.yaml', text: 'intent/settling:', reason: 'the code of a hold' },
  { file: '.config/error-notes.yaml', text: 'ledger/intent-settling:', reason: 'the code of an error' },
  {
    file: 'src/reconcile/apply/world.ts',
    text: 'timingOf({ settle }: Settings)',
    reason: 'the name of the setting of the settle window',
  },
];
const EXCEPTIONS_MAX = 30;

function texts(): ReadonlyMap<string, string> {
  const folders = ['src', 'docs', 'examples'].filter((folder) => existsSync(join(root, folder)));
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile() && (folder !== 'src' || /\.(?:tsx?|css|html|md|json)$/.test(entry.name)))
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/')),
  );
  const all = [...PAGES, ...paths, '.config/error-notes.yaml'].map(
    (path) => [path, readFileSync(join(root, path), 'utf8')] as const,
  );
  // Generated pages consist of texts of src, which are checked there.
  return new Map(all.filter(([, text]) => !text.startsWith(GENERATED)));
}

test('texts, comments and names are plain English', () => {
  const files = texts();
  expect(files.size).toBeGreaterThan(500);
  expect(EXCEPTIONS.length).toBeLessThanOrEqual(EXCEPTIONS_MAX);
  const findings = [...files].flatMap(([file, text]) => englishFindings(file, text));
  const { left, unused } = withoutExceptions(findings, EXCEPTIONS);
  expect(unused, 'exceptions that cover nothing').toEqual([]);
  expect(left.map(({ file, line, use, text }) => `${file}:${line} write "${use}": ${text}`)).toEqual([]);
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
