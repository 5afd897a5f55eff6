import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { pagesIn, textOf } from './markdown.ts';
import { blocksOf, patternOf, runPage, withExitCodes } from './run-page.ts';

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

test('blocks are told apart by their marks, and outputs belong to the block before them', () => {
  const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\`\n`;
  const page = [
    fence('sh', 'a') + fence('text', '…\nA\n\nB'),
    `<!-- not run: it needs a cluster -->\n${fence('sh', 'b')}${fence('text', 'C')}`,
    `<!-- otherwise: no backup -->\n${fence('sh', 'c')}${fence('text', 'D')}`,
  ].join('\n');
  expect(blocksOf(page)).toEqual({
    steps: [{ commands: 'a\n', expected: ['A', 'B'] }],
    others: [{ commands: 'c\n', expected: ['D'] }],
    unrun: [{ commands: 'b\n', reason: 'it needs a cluster' }],
  });
  expect(withExitCodes('a | b\nportolan plan    # only reads: exit code 4\n')).toBe(
    'a | b\nends_with 4 portolan plan\n',
  );
  expect('took 3 s,  1 (write)').toMatch(patternOf('took …, 1 (write)'));
  expect('took 3 s,\n1 (write)').not.toMatch(patternOf('took …, 1 (write)'));
});

test('the tutorial and all pages of the runbook are run', () => {
  expect(RUN).toContain('docs/tutorial.md');
  expect(RUN.filter((page) => page.startsWith('docs/runbook/')).length).toBe(10);
});
