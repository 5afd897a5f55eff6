import { expect, test } from 'vitest';
import { ERROR_NOTES } from '../../.config/error-notes.ts';
import { scanCodes } from '../../.config/error-scan.ts';
import { codeTexts } from '../../.config/reference-errors.ts';
import { pagesIn, root, textOf } from './markdown.ts';

const AREAS = pagesIn('docs/reference/errors').filter((page) => !page.endsWith('README.md'));
const documented = AREAS.flatMap((page) =>
  [...textOf(page).matchAll(/^## (\S+)\n\n- \*\*Cause\*\*: (.+)\n- \*\*Remedy\*\*: (.+)$/gm)].map(
    ([, code = '']) => code,
  ),
);

test('every code of the program has a page with cause and remedy, and every page has a code of the program', () => {
  const known = codeTexts(root).map(({ code }) => code);
  expect(known.length).toBeGreaterThan(400);
  expect(documented.toSorted()).toEqual(known.toSorted());
  expect(AREAS.flatMap((page) => [...textOf(page).matchAll(/^## (\S+)/gm)].map(([, code]) => code)).length).toBe(
    documented.length,
  );
});

test('codes are found where they are declared, with the texts beside them', () => {
  const uses = scanCodes(root);
  const of = (code: string) => uses.filter((use) => use.code === code);
  // An object, a call, a constant of another file, and a row of a table.
  expect(of('ledger/full')[0]?.named['message']).toMatch(/^The disk of the ledger <location> is full/);
  expect(of('ledger/missing').some(({ texts }) => texts[1]?.startsWith('Check the path'))).toBe(true);
  expect(of('application/vanished').some(({ named }) => named['message'] !== undefined)).toBe(true);
  expect(of('source/remote-tls')[0]?.texts[0]).toBe('its certificate is not trusted');
});

test('every code that a page written by people names is a code of the program', () => {
  const areas = new Set(documented.map((code) => code.split('/')[0]));
  const pages = ['README.md', 'SECURITY.md', 'src/README.md', ...pagesIn('docs')].filter(
    (page) => !page.startsWith('docs/reference/errors/'),
  );
  const named = pages.flatMap((page) =>
    [...textOf(page).matchAll(/`\[?([a-z]+\/[a-z-]+)\]?`/g)].map(([, code = '']) => ({ page, code })),
  );
  const codes = named.filter(({ code }) => areas.has(code.split('/')[0]));
  expect(codes.length).toBeGreaterThan(30);
  expect(codes.filter(({ code }) => !documented.includes(code))).toEqual([]);
});

test('a code that only tests make is not taken for one of the program', () => {
  expect(documented).not.toContain('test/only');
  expect(Object.keys(ERROR_NOTES).length).toBeLessThan(documented.length / 2);
});

test('no cause and no remedy of a page leaves out its noun', () => {
  const known = codeTexts(root);
  const bad = known.filter(
    ({ cause, remedy }) =>
      // A sentence that begins with an unnamed value, a value that is computed, or a remedy without an action.
      /^‹…›|‹Math›|^It(?:s| is) /.test(cause) || /^Follow the message\.$|^‹|Expected:|^.{0,11}$/.test(remedy),
  );
  expect(bad.map(({ code, cause, remedy }) => `${code}: ${cause} | ${remedy}`)).toEqual([]);
});
