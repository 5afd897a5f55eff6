import { displayWidth } from './text.ts';

/** Wider lines are hard to read on any terminal. */
export const HELP_COLUMNS_MAX = 100;

/** In a narrower terminal, a line has room for about one word, so text overflows instead. */
const COLUMNS_MIN = 30;

/**
 * Formats help text for a terminal: fills paragraphs, keeps the hanging indent of lists, and breaks long examples where a
 * shell continues the line. A line exceeds the width only when a single word does.
 */
export function layOut(text: string, columns: number): string {
  const width = Math.max(COLUMNS_MIN, Math.min(columns, HELP_COLUMNS_MAX));
  const laid: string[] = [];
  let isExample = false;
  let block: string[] = [];
  const flush = (): void => {
    if (block.length > 0) laid.push(...filled(block, width));
    block = [];
  };
  for (const line of text.split('\n')) {
    const indent = indentOf(line);
    if (line.trim() === '' || indent === 0) isExample = false;
    if (isExample) {
      laid.push(...example(line, width));
      continue;
    }
    const isOfBlock = block.length > 0 && line.trim() !== '' && continues(block, indent);
    if (!isOfBlock) flush();
    if (line.trim() === '') laid.push('');
    else block.push(line);
    // Sample files in the help stay as they are too, because people copy them.
    if (line === 'Examples:' || /^Example .*:$/.test(line)) {
      flush();
      isExample = true;
    }
  }
  flush();
  return laid.join('\n');
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/**
 * Returns whether a line belongs to a block: a paragraph continues with lines of the same indent, a list item with deeper
 * ones. A heading stands alone.
 */
function continues(block: readonly string[], indent: number): boolean {
  const [first = ''] = block;
  if (indentOf(first) === 0) return indent === 0 && !first.endsWith(':');
  return indent > indentOf(first);
}

function filled(block: readonly string[], width: number): string[] {
  const [first = '', ...rest] = block;
  const text = [first.trimEnd(), ...rest.map((line) => line.trim())].join(' ');
  const indent = indentOf(first);
  // `  --applied   it was done`: further lines are aligned with the second column.
  const column = /^\s+\S+(?: \S+)*?\s{2,}(?=\S)/.exec(text)?.[0].length ?? indent;
  return wrapped(text, width, ' '.repeat(column <= width / 2 ? column : indent + 2));
}

/** Breaks a text into lines. @param hanging indent of every line but the first. */
export function wrapped(text: string, width: number, hanging: string): string[] {
  const [, start = '', words = ''] = /^(\s*)(.*)$/s.exec(text) ?? [];
  const parts = Array.from(words.matchAll(/(\s*)(\S+)/g), ([, gap = '', word = '']) => ({ gap, word }));
  return fill(start, parts, width, hanging);
}

/** @param end what a line that continues ends with. */
function fill(
  start: string,
  parts: readonly { readonly gap: string; readonly word: string }[],
  width: number,
  hanging: string,
  end = '',
): string[] {
  const lines: string[] = [];
  let line = start;
  for (const [index, { gap, word }] of parts.entries()) {
    if (index === 0) line += word;
    else if (displayWidth(line) + gap.length + displayWidth(word) <= width - end.length) line += gap + word;
    else {
      lines.push(line + end);
      line = hanging + word;
    }
  }
  return [...lines, line];
}

/** Formats a command line with an optional comment. Its words stay whole, so that it can be copied. */
function example(line: string, width: number): string[] {
  if (displayWidth(line) <= width) return [line];
  const indent = ' '.repeat(indentOf(line));
  const [, command = line, comment] = /^(\s*\S.*?)\s{2,}(?:#\s*)?(\S.*)$/.exec(line) ?? [];
  const above = comment === undefined ? [] : wrapped(`${indent}# ${comment}`, width, `${indent}# `);
  return [...above, ...continued(command, width, `${indent}    `)];
}

/** Breaks a command line before an option or a pipe, or else before any word; never within quotes. */
export function continued(command: string, width: number, hanging: string): string[] {
  const words = [...command.trim().matchAll(/(?:'[^']*'|"[^"]*"|\S)+/g)].map(([word]) => word);
  const groups: string[] = [];
  for (const word of words) {
    const last = groups.at(-1);
    // The value of an option stays on its line.
    const belongs = last !== undefined && /(?:^| )(?:--?[\w-]+|\|)$/.test(last) && !/^[-|>]/.test(word);
    if (belongs) groups[groups.length - 1] = `${last} ${word}`;
    else groups.push(word);
  }
  const parts = groups.map((word) => ({ gap: ' ', word }));
  return fill(' '.repeat(indentOf(command)), parts, width, hanging, ' \\');
}
