import { safeLine } from '../model/text.ts';

/** Text of strangers in GitHub-flavoured Markdown: nothing in it may format, link, mention or end what it stands in. */

/** Invisible, and no character of a name: it parts `@` and `#` from what they would mention. */
const JOINER = '\u2060';

/** A text as a code span, which mentions nobody and links nothing. */
export function code(text: string): string {
  const line = safeLine(text);
  if (line.trim() === '') return '` `';
  const fence = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** As `code`, in a table: what would end the cell is written as `\u007c`. */
export function cell(text: string): string {
  return code(safeLine(text).replaceAll('|', '\\u007c'));
}

/** A sentence as it is read, whatever characters are in it. */
export function prose(text: string): string {
  return (
    safeLine(text)
      .trim()
      .replace(/[\\`*_[\]{}<>&|~$@#]/g, '\\$&')
      .replace(/\\[@#]/g, `$&${JOINER}`)
      .replace(/\bGH-(?=\d)/gi, `$&${JOINER}`)
      // Addresses would become links, and `:x:` a picture.
      .replace(/:(?=\/\/|[\w+-]+:)/g, '\\:')
      .replace(/\bwww\./gi, (www) => `${www.slice(0, -1)}\\.`)
      // At the start of an item, a list or a heading would begin.
      .replace(/^[-+=]/, '\\$&')
      .replace(/^(\d+)([.)])/, '$1\\$2')
  );
}

/** Text and attribute values of HTML and XML. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Text within a tag of HTML. */
export function html(text: string): string {
  return escaped(safeLine(text)).replaceAll("'", '&#39;');
}

/** A code block that none of its lines can end. */
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
