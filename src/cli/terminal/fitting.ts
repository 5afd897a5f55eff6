import { continued, wrapped } from './help-layout.ts';
import { type Output, writingTo } from './terminal.ts';
import { displayWidth } from './text.ts';

/** In a narrower terminal, a line has room for about one word, so text overflows instead. */
const COLUMNS_MIN = 30;
/** Text that moves the cursor draws a picture that has the right width already. */
const MOVES_CURSOR = /\u001b\[[\d;?]*[A-Zhl]/;
const IS_COMMAND = /^\s*portolan /;
/** A log line or a result as JSON. */
const IS_JSON = /^[{[]["{[]/;
/** `  + `, `    → `, `! `, `- `: the mark of an entry. */
const MARK = /^\s*(?:[^\p{L}\p{N}\s"'({[\u001b]{1,2} |i (?=\S))/u;

/**
 * Returns an output whose lines fit the terminal: longer ones are broken between words. A word that is longer than the
 * terminal, such as a digest, stays whole, so that it can be copied. Off a terminal, text stays as it is.
 */
export function fitting(output: Output): Output {
  if (!output.isTerminal) return output;
  const fitted = writingTo(output, (text) => output.write(fitText(text, output.columns)));
  return Object.assign(fitted, { whole: unbroken(output) });
}

/** Returns the output without line breaking, for logs: one event is one line. */
export function unbroken(output: Output): Output {
  return output.whole ?? output;
}

/** Breaks lines that are wider than the terminal. Commands break where a shell continues the line. */
export function fitText(text: string, columns: number): string {
  if (displayWidth(text) <= columns || columns < COLUMNS_MIN || MOVES_CURSOR.test(text)) return text;
  return text
    .split('\n')
    .flatMap((line) => (displayWidth(line) <= columns ? [line] : brokenLine(line, columns)))
    .join('\n');
}

function brokenLine(line: string, columns: number): readonly string[] {
  if (IS_JSON.test(line)) return [line];
  const plain = line.replace(/\u001b\[[\d;]*m/g, '');
  const indent = plain.length - plain.trimStart().length;
  if (IS_COMMAND.test(plain)) return continued(line, columns, ' '.repeat(indent + 4));
  const hanging = indent > 0 ? indent + 2 : (MARK.exec(plain)?.[0].length ?? 0);
  const lines = wrapped(withBreaks(line, columns - hanging), columns, ' '.repeat(Math.min(hanging, columns / 2)));
  // A question ends in a space, where the answer begins.
  return [...lines.slice(0, -1), `${lines.at(-1)}${/\s*$/.exec(line)?.[0] ?? ''}`];
}

/** Lets a value of JSON that is longer than a line break after its commas. */
function withBreaks(line: string, width: number): string {
  return line.replace(/\S+/g, (word) => (displayWidth(word) <= width ? word : word.replace(/,(?=["{[\d])/g, ', ')));
}
