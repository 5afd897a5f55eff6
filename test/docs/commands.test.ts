import { parse, parseAllDocuments } from 'yaml';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../src/configuration/configuration.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { commandPaths } from '../cli/command-tree.ts';
import { runHere } from '../cli/running.ts';
import { pagesIn, textOf } from './markdown.ts';

/** Pages that people write. The others come from the program. */
const PAGES = ['README.md', ...pagesIn('docs').filter((page) => !textOf(page).startsWith('<!-- Generated'))];
/** The platform to which the patterns of the pages refer. */
const PLATFORM = `apiVersion: portolan/v1
kind: Platform
metadata: { name: default }
spec: { url: "https://console.example.com", auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } } }
---
`;
const NAMES = commandPaths().map((words) => words.join(' '));

/** Returns the command lines of a page, in blocks and in sentences, each with its command and its long flags. */
function mentionsIn(text: string): readonly { readonly command: string; readonly flags: readonly string[] }[] {
  const lines = [...text.matchAll(/(?<![\w/.-])portolan ([a-z][^\n`|;#)]*)/g)].map(([, line = '']) => line);
  return lines.flatMap((line) => {
    const words = line.split(/\s+/);
    const command = [words.slice(0, 2).join(' '), words[0] ?? ''].find((name) => NAMES.includes(name));
    const flags = [...(line.split(/ (?:2?>|&&) /)[0]?.matchAll(/(?<=\s)--[a-z][a-z-]+/g) ?? [])].map(([flag]) => flag);
    return command === undefined ? [] : [{ command, flags }];
  });
}

test('every flag in a command line of a page is a flag of that command', async () => {
  const mentions = PAGES.flatMap((page) => mentionsIn(textOf(page)).map((mention) => ({ page, ...mention })));
  expect(mentions.length).toBeGreaterThan(150);
  const faults: string[] = [];
  for (const [command, uses] of Map.groupBy(mentions, (mention) => mention.command)) {
    const { out } = await runHere([...command.split(' '), '--help']);
    for (const { page, flags } of uses)
      for (const flag of flags) if (!out.includes(flag)) faults.push(`${page}: portolan ${command} ${flag}`);
  }
  expect(faults).toEqual([]);
});

test('a flag that a command does not have is found', () => {
  expect(mentionsIn('run `portolan ledger list --nothing`')).toEqual([
    { command: 'ledger list', flags: ['--nothing'] },
  ]);
});

test('every block of YAML is YAML, and a block of Settings is accepted', () => {
  for (const page of PAGES) {
    for (const [, block = ''] of textOf(page).matchAll(/^```yaml\n([^]*?)^```$/gm)) {
      expect(
        parseAllDocuments(block).flatMap(({ errors }) => errors),
        page,
      ).toEqual([]);
      const isSettings = block.startsWith('server:');
      if (!isSettings && (parse(block.split('\n---')[0] ?? '') as { kind?: string } | null)?.kind !== 'Settings')
        continue;
      const text = isSettings ? `apiVersion: portolan/v1\nkind: Settings\nspec:\n${block.replace(/^/gm, '  ')}` : block;
      expect(loadConfiguration(kindDeclarations, `${PLATFORM}${text}`, 'portolan.yaml').problems, page).toEqual([]);
    }
  }
});
