import measure from 'fast-string-truncated-width';

/** Columns that a text takes on a terminal; escape sequences of colour take none. */
export function displayWidth(text: string): number {
  return measure(text).width;
}

const COLOUR = /(\u001b\[[0-9;]*m)/;
/** The mark of a sequence of ours; see `guarded`. */
const MARK = /\u001b\[((?:\d{4};){3})/;
/** Made when something has to be cut: it loads tables that most commands never need. */
let graphemes: Intl.Segmenter | undefined;

/** The text if it takes at most so many columns, else as much of it as fits before an ellipsis. Colour ends with it. */
export function fit(text: string, width: number, ellipsis = '…'): string {
  if (displayWidth(text) <= width) return text;
  const end = displayWidth(ellipsis) <= width ? ellipsis : '';
  const room = width - displayWidth(end);
  let kept = '';
  let used = 0;
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  // The library would cut as well, but between unusual characters it cuts too late.
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

/** As `fit`, with spaces behind it up to the width. */
export function fitted(text: string, width: number, ellipsis = '…'): string {
  const kept = fit(text, width, ellipsis);
  return `${kept}${' '.repeat(Math.max(0, width - displayWidth(kept)))}`;
}

/** Lines of at most so many columns, broken between words where one fits. Plain text only. */
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

/** `1 object`, `2 objects`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** Sentences as one remedy, each with a capital, without those that have nothing to say. */
export function sentences(...parts: readonly (string | undefined)[]): string {
  const said = parts.flatMap((part) => (part === undefined || part === '' ? [] : [part]));
  return said.map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`).join(' ');
}

/** Returns an argument as a shell takes it: quoted where needed. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
