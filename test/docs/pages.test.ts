import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { FILE_LINES_MAX } from '../tidy/rules.ts';
import { anchorsOf, linksOf, pagesIn, root, textOf } from './markdown.ts';

const PAGES = pagesIn('docs');
const OTHERS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'src/README.md',
  'examples/deploy/README.md',
];

test('no page has more lines than a file may have, and each has one title', () => {
  expect(PAGES.length).toBeGreaterThan(100);
  const long = PAGES.filter((page) => textOf(page).split('\n').length - 1 > FILE_LINES_MAX);
  expect(long).toEqual([]);
  const titles = PAGES.filter(
    (page) =>
      textOf(page)
        .replaceAll(/^```[^]*?^```$/gm, '')
        .match(/^# /gm)?.length !== 1,
  );
  expect(titles, 'pages without exactly one title').toEqual([]);
});

test('no link is dead: every file, and every heading', () => {
  const dead = [...PAGES, ...OTHERS].flatMap((page) =>
    linksOf(textOf(page)).flatMap((link) => {
      const [file = '', anchor] = link.split('#');
      const path = file === '' ? page : join(dirname(page), file);
      if (!existsSync(join(root, path))) return [`${page}: ${link}`];
      return anchor === undefined || !path.endsWith('.md') || anchorsOf(textOf(path)).has(anchor)
        ? []
        : [`${page}: ${link}, which has no such heading`];
    }),
  );
  expect(dead).toEqual([]);
});

test('a dead link and a dead heading are found', () => {
  expect(linksOf('[a](b.md#c) [d](https://e) ![f](g.png)')).toEqual(['b.md#c', 'g.png']);
  expect([...anchorsOf('# A `b` c\n\n## ledger/locked\n\n## A b c\n')]).toEqual(['a-b-c', 'ledgerlocked', 'a-b-c-1']);
});

test('every page can be reached from the index', () => {
  const seen = new Set(['docs/README.md']);
  for (const page of seen) {
    for (const link of linksOf(textOf(page))) {
      const path = join(dirname(page), link.replace(/#.*$/, ''));
      if (path.startsWith('docs/') && path.endsWith('.md')) seen.add(path);
    }
  }
  expect(PAGES.filter((page) => !seen.has(page))).toEqual([]);
});
