import type { Paint } from '../../../report/text.ts';
import { wrap } from '../../terminal/text.ts';

/** Wider lines are hard to read. */
const WIDTH_MAX = 100;

const LINK = /!?\[([^\]]*)\]\([^)]*\)/g;
/** A link to another page, whose name is a topic. */
const PAGE_LINK = /(?<!!)\[([^\]]*)\]\((?:[^)\s]*\/)?([a-z][\w-]*)\.md(?:#[^)]*)?\)/g;

/** Renders a page for a terminal: paragraphs are wrapped, tables become lists, and links show their text. */
export function renderMarkdown(text: string, columns: number, paint: Paint): string {
  const width = Math.min(columns, WIDTH_MAX);
  const blocks = blocksOf(text.replace(/<!--[^]*?-->\n?|^<\/?details>.*\n?/gm, ''));
  const rendered = blocks.map((block) => renderBlock(block, width, paint)).filter((part) => part !== '');
  return `${rendered.join('\n\n')}\n`;
}

/** Returns blocks: a fenced block, or lines without an empty line between them. */
function blocksOf(text: string): readonly string[] {
  return text
    .split(/^(```[^]*?^```)$/m)
    .flatMap((part) => (part.startsWith('```') ? [part] : part.split(/\n{2,}/)))
    .map((block) => block.replace(/^\n+|\s+$/g, ''))
    .filter((block) => block !== '');
}

function renderBlock(block: string, width: number, paint: Paint): string {
  if (block.startsWith('```mermaid')) return '';
  if (block.startsWith('```')) {
    const lines = block.split('\n').slice(1, -1);
    return lines.map((line) => (line === '' ? '' : `    ${line}`)).join('\n');
  }
  const [, heading] = /^#+ (.*)/.exec(block) ?? [];
  if (heading !== undefined) {
    const rest = block.split('\n').slice(1).join('\n');
    const below = rest === '' ? '' : `\n\n${renderBlock(rest, width, paint)}`;
    return paint('title', plain(heading)) + below;
  }
  if (block.startsWith('|')) return renderTable(block.split('\n'), width);
  const items = block.split(/\n(?= *(?:[-*]|\d+\.) )/);
  return items.map((item) => renderItem(item, width)).join('\n');
}

/** Renders a paragraph, or an item of a list with its mark. */
function renderItem(item: string, width: number): string {
  const [, mark = ''] = /^( *(?:(?:[-*]|\d+\.) )?)/.exec(item) ?? [];
  const text = plain(withTopics(item.slice(mark.length).replaceAll(/\s*\n\s*/g, ' ')));
  return wrap(text, width - mark.length)
    .map((line, at) => (at === 0 ? mark : ' '.repeat(mark.length)) + line)
    .join('\n');
}

/** Adds the topic of each linked page. */
function withTopics(text: string): string {
  return text.replace(PAGE_LINK, '$1 (`portolan docs $2`)');
}

/** Renders each row as its first cell, and below it the others. */
function renderTable(lines: readonly string[], width: number): string {
  const cells = (line: string): readonly string[] =>
    line
      .replace(/^\||\|$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => plain(cell.trim().replaceAll('\\|', '|')));
  const [header = [], , ...rows] = lines.map(cells);
  return rows
    .map(([first = '', ...rest]) => {
      const others = rest.flatMap((cell, at) => {
        const label = rest.length > 1 && (header[at + 1] ?? '') !== '' ? `${header[at + 1]}: ` : '';
        return cell === '' ? [] : wrap(label + cell, width - 4).map((line) => `    ${line}`);
      });
      return [...wrap(first, width), ...others].join('\n');
    })
    .join('\n');
}

/** Returns text without the marks of links, pictures and emphasis. Code keeps its characters. */
function plain(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part.slice(1, -1) : plainWords(part)))
    .join('')
    .replace(LINK, '$1');
}

function plainWords(text: string): string {
  return text
    .replaceAll(/\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])/g, '')
    .replaceAll('&lt;', '<')
    .replace(/\\([*_\\[\]])/g, '$1');
}
