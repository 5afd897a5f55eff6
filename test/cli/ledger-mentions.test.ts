import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pagesIn } from '../docs/markdown.ts';
import { projectRoot, runHere } from './running.ts';

/** Every `portolan ledger …` that a message, a help text or a page tells somebody to type. */
function mentions(): { readonly where: string; readonly command: string; readonly flags: readonly string[] }[] {
  const sources = readdirSync(join(projectRoot, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name}`);
  return [...sources, ...pagesIn('docs').filter((page) => !page.includes('reference/'))].flatMap((path) => {
    const text = readFileSync(join(projectRoot, path), 'utf8');
    return [...text.matchAll(/portolan ledger ([a-z]+)([^\n]*)/g)].map(([, command = '', rest = ''], n) => {
      // What follows in the sentence is about other commands.
      const args = rest.split(/[;)]|, | and /)[0] ?? '';
      const flags = [...args.matchAll(/--[a-z][a-z-]+/g)].map(([flag]) => flag);
      return { where: `${path} (${n + 1})`, command, flags };
    });
  });
}

test.for(mentions())('$where: portolan ledger $command takes $flags', async ({ command, flags }) => {
  const help = await runHere(['ledger', command, '--help']);
  expect(help).toMatchObject({ code: 0, err: '' });
  expect(help.out).toMatch(new RegExp(`^Usage: portolan ledger ${command} `));
  for (const flag of flags) expect(help.out).toContain(flag);
});

test('the messages that send people here are among them', () => {
  const commands = new Set(mentions().map(({ command }) => command));
  for (const command of ['resolve', 'confirm', 'retry', 'forget', 'restore', 'compact', 'list'])
    expect(commands).toContain(command);
});
