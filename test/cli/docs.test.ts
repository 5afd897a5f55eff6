import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderMarkdown } from '../../src/cli/commands/docs/render.ts';
import { displayWidth } from '../../src/cli/terminal/text.ts';
import { plainPaint } from '../../src/report/text.ts';
import { pagesIn } from '../docs/markdown.ts';
import { builtPackage } from '../support/program.ts';
import { collectingTerminal, projectRoot, runHere, runProcess } from './running.ts';

test('without a topic, the pages are listed by part', async () => {
  const { code, out, err } = await runHere(['docs']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^Pages:\n/);
  expect(out).toContain('reference/settings  ');
  expect(out).not.toContain('reference/errors/ledger');
});

test.for([
  ['settings', 'Settings\n'],
  ['reference/settings', 'Settings\n'],
  ['docs/reference/settings.md', 'Settings\n'],
  ['errors', 'Codes of errors, holds and notes\n'],
  ['errors/plan', 'Codes about plans\n'],
  ['plan', 'portolan plan\n'],
  ['ledger-list', 'portolan ledger list\n'],
  ['ledger/full', 'ledger/full\n\n- Cause: The disk of the ledger is full.'],
] as const)('%s shows its page', async ([topic, start]) => {
  const { code, out } = await runHere(['docs', topic]);
  expect(code).toBe(0);
  expect(out.slice(0, start.length)).toBe(start);
});

test('an unknown topic is refused, and what was meant is named', async () => {
  const run = await runHere(['docs', 'setings']);
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain('Did you mean settings?');
  expect((await runHere(['docs', 'ledger/lockd'])).err).toContain('cli/unknown-topic');
});

test.for([80, 40])('headings, lists, tables, links and code are readable in %i columns', async (columns) => {
  const page = readFileSync(join(projectRoot, 'test/cli/golden/docs.md'), 'utf8');
  await expect(renderMarkdown(page, columns, plainPaint)).toMatchFileSnapshot(`golden/docs-${columns}.txt`);
});

test('no page is wider than the terminal, except its code', async () => {
  for (const page of pagesIn('docs').filter((path) => !path.includes('reference/errors/'))) {
    const { terminal, text } = collectingTerminal({ columns: 60 });
    const topic = page.replace(/^docs\//, '');
    await runHere(['docs', topic], { terminal });
    const wide = text.out.split('\n').filter((line) => !line.startsWith('    ') && displayWidth(line) > 60);
    expect(wide, page).toEqual([]);
  }
});

test('the program as it is shipped finds its pages', async () => {
  const program = join(builtPackage(), 'dist', 'main.js');
  expect(existsSync(program)).toBe(true);
  const { code, out } = await runProcess(['docs', 'ledger/locked'], { program });
  expect({ code, start: out.split('\n')[0] }).toEqual({ code: 0, start: 'ledger/locked' });
});
