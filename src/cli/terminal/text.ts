import measure from 'fast-string-truncated-width';

/** Returns the number of columns that a text takes on a terminal; escape sequences of colour take none. */
export function displayWidth(text: string): number {
  return measure(text).width;
}

const COLOUR = /(\u001b\[[0-9;]*m)/;
/** The mark of our escape sequences; see `guarded`. */
const MARK = /\u001b\[((?:\d{4};){3})/;
/** Created when text has to be cut: it loads tables that most commands never need. */
let graphemes: Intl.Segmenter | undefined;

/** Returns a text cut to a width, with an ellipsis if it was longer. Ends any colour. */
export function fit(text: string, width: number, ellipsis = '…'): string {
  if (displayWidth(text) <= width) return text;
  const end = displayWidth(ellipsis) <= width ? ellipsis : '';
  const room = width - displayWidth(end);
  let kept = '';
  let used = 0;
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  // The library can cut too, but it cuts too late between unusual characters.
  for (const part of text.split(COLOUR)) {
    if (COLOUR.test(part)) {
      kept += part;
      continue;
    }
    for (const { segment } of graphemes.segment(part)) {
      used += displayWidth(segment);
      if (used > room) return `${kept}${kept.includes('\u001b') ? `\u001b[${MARK.exec(kept)?.[1] ?? ''}0m` : ''}${end}`;
      kept += segment;
    }
  }
  return kept;
}

/** Returns a text cut to a width on a terminal. Elsewhere programs read it, so nothing is cut. */
export function shortOnTerminal(text: string, width: number, out: { readonly isTerminal: boolean }): string {
  return out.isTerminal ? fit(text, width) : text;
}

/** Returns a text cut as by `fit` and padded with spaces to the width. */
export function fitted(text: string, width: number, ellipsis = '…'): string {
  const kept = fit(text, width, ellipsis);
  return `${kept}${' '.repeat(Math.max(0, width - displayWidth(kept)))}`;
}

/** Breaks plain text into lines of a width, between words where possible. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (displayWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line.trimEnd());
    line = word;
    while (displayWidth(line) > width) {
      const head = fit(line, width, '');
      if (head === '') break;
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}

/** Returns lines as a text. Each of them ends with a line break. */
export function textOfLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns a number with its noun: `1 object`, `2 objects`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** Joins sentences into one text, each with a capital letter, and omits empty ones. */
export function sentences(...parts: readonly (string | undefined)[]): string {
  const said = parts.flatMap((part) => (part === undefined || part === '' ? [] : [part]));
  return said.map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`).join(' ');
}

/** Returns an argument as a shell takes it: quoted where needed. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
