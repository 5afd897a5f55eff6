import { safeLine } from '../model/text.ts';

/** Untrusted text in GitHub-flavoured Markdown: it must not format, link, mention, or end the element that contains it. */

/** An invisible character that is not part of a name. It separates `@` and `#` from the name that they would mention. */
const JOINER = '\u2060';

/** Returns a text as a code span, without mentions and links. */
export function code(text: string): string {
  const line = safeLine(text);
  if (line.trim() === '') return '` `';
  const fence = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** Returns the same as `code` for a table: a character that would end the cell becomes `\u007c`. */
export function cell(text: string): string {
  return code(safeLine(text).replaceAll('|', '\\u007c'));
}

/** Returns a sentence in which no character has a meaning in Markdown. */
export function prose(text: string): string {
  return (
    safeLine(text)
      .trim()
      .replace(/[\\`*_[\]{}<>&|~$@#]/g, '\\$&')
      .replace(/\\[@#]/g, `$&${JOINER}`)
      .replace(/\bGH-(?=\d)/gi, `$&${JOINER}`)
      // Addresses would become links, and `:x:` an emoji.
      .replace(/:(?=\/\/|[\w+-]+:)/g, '\\:')
      .replace(/\bwww\./gi, (www) => `${www.slice(0, -1)}\\.`)
      // At the start of an item, these characters would start a list or a heading.
      .replace(/^[-+=]/, '\\$&')
      .replace(/^(\d+)([.)])/, '$1\\$2')
  );
}

/** Escapes text and attribute values of HTML and XML. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Returns text within a tag of HTML. */
export function html(text: string): string {
  return escaped(safeLine(text)).replaceAll("'", '&#39;');
}

/** Returns a code block that none of its lines can end. */
export function fenced(language: string, lines: readonly string[]): string {
  const fence = fenceFor(lines);
  return [`${fence}${language}`, ...lines, fence].join('\n');
}

function fenceFor(lines: readonly string[]): string {
  return '`'.repeat(Math.max(3, ...lines.map((line) => longestRun(line) + 1)));
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
