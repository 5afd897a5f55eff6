import { join } from 'node:path';
import { defineCommand } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { markdownFiles, readNamedFile } from '../../session/files.ts';
import { paintFor } from '../../session/plan-view.ts';
import { renderMarkdown } from './render.ts';
import { codeEntry, listed, pageCalled, titleOf } from './topics.ts';

export const docsCommand = defineCommand({
  isData: true,
  about:
    'Shows a page of the documentation, or the entry of an error code. Without a topic, lists the pages. Reads only the pages of the program.',
  exitCodes: [EXIT.ok, EXIT.invalid],
  seeAlso: ['explain', 'schema'],
  examples: `
Examples:
  portolan docs                        all pages
  portolan docs tutorial               one page
  portolan docs runbook/expired-token  one page, if its name alone is not unique
  portolan docs ledger/locked          the cause and the remedy of an error, by its code
  portolan docs glossary | less`,
  parameters: (command) => command.argument('[topic]', 'name of a page, or code of an error'),
  async run({ terminal: { out }, packageRoot }, _options, [topic]) {
    const folder = join(packageRoot, 'docs');
    const read = (page: string): string =>
      Buffer.from(readNamedFile(join(folder, `${page}.md`), 'a page of the documentation')).toString('utf8');
    const pages = markdownFiles(folder).map((file) => file.replace(/\.md$/, ''));
    const paint = paintFor(out);
    if (topic === undefined) {
      const titles = listed(pages).map(({ name, page }) => ({ name, title: titleOf(read(page)) }));
      out.write(renderList(titles));
      return;
    }
    const text = codeEntry(topic, pages, read) ?? read(pageCalled(topic, pages));
    out.write(renderMarkdown(text, out.columns, paint));
  },
});

function renderList(pages: readonly { readonly name: string; readonly title: string }[]): string {
  const width = Math.max(...pages.map(({ name }) => name.length));
  const lines = pages.map(({ name, title }) => `  ${name.padEnd(width)}  ${title}`);
  return `Pages:\n${lines.join('\n')}\n\nportolan docs TOPIC shows a page, portolan docs CODE the entry of an error code.\n`;
}
