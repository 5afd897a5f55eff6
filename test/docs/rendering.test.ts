/** Pages as a forge renders them: marked for GitHub Flavored Markdown, the style sheet of GitHub, and a real Chromium. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { marked } from 'marked';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { openBrowser, overflow, screenshot } from '../dashboard/browsing.ts';
import { pagesIn, root, textOf } from './markdown.ts';

const ADDRESS = 'http://forge.example.com';
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'src/README.md', ...pagesIn('docs')];
/** Pages of each kind, of which a long run makes pictures for people to look at. */
const LOOKED_AT = [
  'README.md',
  'docs/README.md',
  'docs/tutorial.md',
  'docs/how-to/undo-a-change.md',
  'docs/how-to/run-the-controller.md',
  'docs/concepts/a-lost-answer.md',
  'docs/concepts/a-pass.md',
  'docs/concepts/holds.md',
  'docs/runbook/README.md',
  'docs/runbook/ledger-lost.md',
  'docs/reference/settings.md',
  'docs/reference/errors/ledger.md',
];
const TYPES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };
const style = readFileSync(createRequire(import.meta.url).resolve('github-markdown-css/github-markdown.css'), 'utf8');

/** Returns a page with the width and the margins that GitHub gives it. */
function rendered(page: string): string {
  const html = marked.parse(textOf(page), { async: false });
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>${style} :root { color-scheme: light dark; } body { margin: 0; background: light-dark(#ffffff, #0d1117); }
.markdown-body { box-sizing: border-box; max-width: 980px; margin: 0 auto; padding: 45px; }
@media (max-width: 767px) { .markdown-body { padding: 15px; } }</style>
<article class="markdown-body">${html}</article></html>`;
}

/** Opens a browser in which the files of the project have addresses. */
async function open(width: number, theme: 'light' | 'dark'): Promise<Page> {
  const browser = await openBrowser();
  const context = await browser.newContext({ baseURL: ADDRESS, viewport: { width, height: 900 }, colorScheme: theme });
  onTestFinished(() => context.close());
  await context.route('**', async (route) => {
    const path = decodeURIComponent(new URL(route.request().url()).pathname).slice(1);
    if (path.endsWith('.md')) return route.fulfill({ contentType: 'text/html', body: rendered(path) });
    const type = TYPES[extname(path)];
    if (type === undefined || !existsSync(join(root, path))) return route.fulfill({ status: 404, body: '' });
    return route.fulfill({ contentType: type, body: readFileSync(join(root, path)) });
  });
  return context.newPage();
}

/** Returns what a reader of a page would miss: pictures that do not load, and tables that became text. */
const FAULTS = `[
  ...[...document.images].filter((image) => image.naturalWidth === 0).map((image) => 'picture ' + image.src),
  ...[...document.querySelectorAll('p, li')].filter((part) => /^\\s*\\|.*\\|\\s*$/m.test(part.textContent)).map((part) => 'table ' + part.textContent.slice(0, 60)),
]`;

for (const width of [360, 1280])
  test(`no page is wider than a window of ${width} px, and all pictures and tables are shown`, async () => {
    const page = await open(width, 'light');
    const faults: string[] = [];
    for (const path of PAGES) {
      await page.goto(`/${path}`);
      const wider = await overflow(page);
      if (wider > 0) faults.push(`${path}: ${wider} px too wide`);
      faults.push(...(await page.evaluate<string[]>(FAULTS)).map((fault) => `${path}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });

test('a page that is too wide, a lost picture and a broken table are found', async () => {
  const page = await open(360, 'light');
  await page.goto('/docs/README.md');
  await page.setContent('<p>| a | b |</p><img src="/nothing.png"><div style="width: 500px">wide</div>');
  expect(await overflow(page)).toBeGreaterThan(100);
  expect(await page.evaluate(FAULTS)).toEqual([`picture ${ADDRESS}/nothing.png`, 'table | a | b |']);
});

const isLong = process.env['PORTOLAN_TEST_LONG'] === '1';
for (const theme of ['light', 'dark'] as const)
  for (const width of [360, 1280])
    test.runIf(isLong)(`pictures of pages, ${theme}, ${width} px`, async () => {
      const page = await open(width, theme);
      for (const path of LOOKED_AT) {
        await page.goto(`/${path}`);
        await screenshot(page, `docs-${path.replaceAll(/[/.]/g, '-')}-${theme}-${width}`);
        expect(await overflow(page), path).toBe(0);
      }
    });
