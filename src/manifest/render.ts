import measure from 'fast-string-truncated-width';
import type { Problem } from '../model/problem.ts';

type Excerpt = NonNullable<Problem['excerpt']>;

const same = (text: string): string => text;
const sgr =
  (code: string) =>
  (text: string): string =>
    `\u001b[${code}m${text}\u001b[0m`;

const plain = { error: same, warning: same, place: same, strong: same };
const coloured = { error: sgr('1;31'), warning: sgr('1;33'), place: sgr('34'), strong: sgr('1') };

/**
 * Returns problems as text for people: position, line with the underlined part, expected value, hint, and a count at the end.
 * It escapes every control character of the input, so that no file can write to the terminal. It ends with a line break,
 * and is empty without problems.
 * @param columns width of the terminal, to which quoted lines are cut; undefined: they are not cut.
 */
export function renderProblems(
  problems: readonly Problem[],
  { color, columns }: { readonly color: boolean; readonly columns?: number | undefined },
): string {
  if (problems.length === 0) return '';
  const palette = color ? coloured : plain;
  const files = new Set(problems.flatMap(({ position }) => (position.of === 'option' ? [] : position.file))).size;
  const where = files === 0 ? '' : ` in ${files} ${files === 1 ? 'file' : 'files'}`;
  const count = `${counted(problems)}${where}`;
  return `${problems.map((problem) => renderProblem(problem, palette, columns)).join('\n')}\n${palette.strong(count)}\n`;
}

/** Returns `2 problems`, or `2 problems and 1 warning`. */
function counted(problems: readonly Problem[]): string {
  const warnings = problems.filter(({ severity }) => severity === 'warning').length;
  const amount = (count: number, word: string) => (count === 0 ? [] : [`${count} ${word}${count === 1 ? '' : 's'}`]);
  return [...amount(problems.length - warnings, 'problem'), ...amount(warnings, 'warning')].join(' and ');
}

function renderProblem(problem: Problem, palette: typeof plain, columns = Number.POSITIVE_INFINITY): string {
  const { place, strong } = palette;
  const { severity = 'error' } = problem;
  const mark = palette[severity];
  const { code, position, resource, path, message, expected, hint } = problem;
  const gutter = ' '.repeat(String(position.line).length);
  const excerpt = problem.excerpt && around(problem.excerpt, columns - gutter.length - 3);
  const lines = position.of === 'option' ? '' : `:${position.line}:${position.column}`;
  const where = `${printable(position.file)}${lines}`;
  const what = [resource, path === '' ? undefined : path].filter((part) => part !== undefined).map(printable);
  const text = [
    `${mark(severity)}${strong(`: ${printable(message)}`)} [${code}]`,
    `${gutter}${place('-->')} ${where}${what.length === 0 ? '' : `  ${what.join(' ')}`}`,
  ];
  if (excerpt !== undefined) {
    const before = printable(excerpt.line.slice(0, excerpt.caret));
    const marked = printable(excerpt.line.slice(excerpt.caret, excerpt.caret + excerpt.length));
    const after = printable(excerpt.line.slice(excerpt.caret + excerpt.length));
    text.push(
      `${gutter} ${place('|')}`,
      `${place(`${position.line} |`)} ${before}${marked}${after}`,
      `${gutter} ${place('|')} ${' '.repeat(measure(before).width)}${mark('^'.repeat(Math.max(1, measure(marked).width)))}`,
    );
  }
  if (expected !== undefined) text.push(`${gutter} = ${strong('expected')}: ${printable(expected)}`);
  if (hint !== undefined) text.push(`${gutter} = ${strong('hint')}: ${printable(hint)}`);
  return `${text.join('\n')}\n`;
}

/** Returns the part of a quoted line that has room, with the underlined text in it. */
function around(excerpt: Excerpt, width: number): Excerpt {
  const { line, caret, length } = excerpt;
  const shownWidth = measure(printable(line)).width;
  if (shownWidth <= width) return excerpt;
  // Some characters are two columns wide.
  const room = Math.max(8, Math.floor((width * line.length) / shownWidth));
  const marked = Math.min(length, Math.ceil(room / 2));
  const start = Math.max(0, Math.min(caret - Math.floor((room - marked) / 2), line.length - room));
  const end = start + room;
  const shown = `${start > 0 ? '…' : (line[0] ?? '')}${line.slice(start + 1, end - 1)}${end < line.length ? '…' : line.slice(end - 1, end)}`;
  return { line: shown, caret: caret - start, length: marked };
}

/** Returns a text with control and bidirectional characters as `\u{1b}`. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Returns problems for programs: one JSON object with a stable form and a line break. */
export function renderProblemsJson(problems: readonly Problem[]): string {
  return `${JSON.stringify({ problems }, null, 2)}\n`;
}
