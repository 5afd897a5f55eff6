import type { Output } from './terminal.ts';
import { safeLine } from '../model/text.ts';
import { displayWidth } from './text.ts';

/** What is going on, on stderr: one line that is rewritten on a terminal, a line per step elsewhere. */
export interface Progress {
  /** The step under way: `apply 3/7  Component/shop-web: open outer access of port 8080`. */
  step(text: string): void;
  /** A line that stays, on a terminal too: an outcome. */
  line(text: string): void;
  /** Takes the rewritten line away. Call it before anything else is printed, and at the end. */
  clear(): void;
}

const ERASE_LINE = '\r\u001b[2K';

export function createProgress(output: Output): Progress {
  return output.isTerminal ? rewritingProgress(output) : plainProgress(output);
}

function rewritingProgress(output: Output): Progress {
  let shown = false;
  const clear = (): void => {
    if (shown) output.write(ERASE_LINE);
    shown = false;
  };
  return {
    clear,
    step(text) {
      // A line that wraps could not be taken away again.
      output.write(`${ERASE_LINE}${fit(safeLine(text), output.columns - 1)}`);
      shown = true;
    },
    line(text) {
      clear();
      output.write(`${safeLine(text)}\n`);
    },
  };
}

function plainProgress(output: Output): Progress {
  let last: string | undefined;
  const line = (text: string): void => {
    // A step that is reported twice is one step.
    if (text !== last) output.write(`${safeLine(text)}\n`);
    last = text;
  };
  return { step: line, line, clear() {} };
}

function fit(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const char of text) {
    used += displayWidth(char);
    if (used > width) break;
    kept += char;
  }
  return `${kept}…`;
}
