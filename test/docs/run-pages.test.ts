import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { pagesIn, textOf } from './markdown.ts';
import { blocksOf, runPage } from './run-page.ts';

/** Pages whose commands need more than a shell and a sandbox, each with a test of its own. */
const OWN_TEST = ['docs/how-to/several-controllers.md'];
const PAGES = ['docs/tutorial.md', ...pagesIn('docs/how-to'), ...pagesIn('docs/runbook')].filter(
  (page) => !page.endsWith('README.md') && !OWN_TEST.includes(page),
);
const RUN = PAGES.filter((page) => blocksOf(textOf(page)).steps.length > 0);

test.for(RUN)('%s does what it says', async (page) => {
  await runPage(page);
});

test.for(PAGES)('every block of %s that is not run is valid shell and says why it is not run', (page) => {
  const { unrun } = blocksOf(textOf(page));
  for (const { commands, reason } of unrun) {
    expect(reason.length).toBeGreaterThan(10);
    execFileSync('bash', ['-n', '-c', commands]);
  }
});

test('the tutorial and all pages of the runbook are run', () => {
  expect(RUN).toContain('docs/tutorial.md');
  expect(RUN.filter((page) => page.startsWith('docs/runbook/')).length).toBe(10);
});
