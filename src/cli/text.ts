/** Characters that take two columns of a terminal: CJK, kana, hangul, full-width forms and pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Characters that take none. */
const ZERO_WIDTH = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u;

/** Columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += ZERO_WIDTH.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
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

/**
 * Lines of a text that are at most so many columns wide, broken at spaces, and within a word only where it has no place of its
 * own.
 */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (displayWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const char of word) {
      if (line !== '' && displayWidth(line + char) > width) {
        lines.push(line);
        line = '';
      }
      line += char;
    }
  }
  return [...lines, line];
}
