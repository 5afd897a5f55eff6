import { fit } from './text.ts';
import { type Output, type Terminal, writingTo } from './terminal.ts';

/**
 * Lines at the bottom of the terminal that are drawn again and again, below everything that stays. Nothing appears where
 * standard error is no terminal.
 */
export interface LiveRegion {
  readonly isVisible: boolean;
  /** How many lines there is room for. */
  readonly rows: number;
  /** Shows these lines, each cut to the width, in place of those before; none takes the region away. */
  show(lines: readonly string[]): void;
  /**
   * The whole screen is somebody else's for a while: nothing is drawn, and what is written to standard error meanwhile is
   * kept until the screen is given back.
   * @returns gives it back.
   */
  yield(): () => void;
}

/** Of what is kept while the screen is given away: a watch may run for days. */
const KEPT_MAX = 200;

/**
 * A terminal on which a live region and all other output stay out of each other's way: whatever is written while the
 * region is there goes above it, also from logs, and also to standard output where that is the same terminal.
 */
export function withLiveRegion(terminal: Terminal): { readonly terminal: Terminal; readonly live: LiveRegion } {
  const { out, err, ask } = terminal;
  let lines: readonly string[] = [];
  /** Lines on the screen now; 0 while somebody else's line is not at its end. */
  let drawn = 0;
  /** Of the terminal when they were drawn. */
  let width = 0;
  let isLineStart = true;
  /** Of standard error, while the screen is given away. */
  let kept: string[] | undefined;

  function erase(): string {
    const up = drawn > 1 ? `\u001b[${drawn - 1}A` : '';
    const sequence = drawn > 0 ? `\r${up}\u001b[J` : '';
    drawn = 0;
    return sequence;
  }

  function draw(): string {
    if (!isLineStart || lines.length === 0) return '';
    drawn = lines.length;
    width = err.columns;
    // A line that wraps could not be taken away again.
    return lines.map((line) => fit(line, err.columns - 1)).join('\n');
  }

  function above(output: Output): Output {
    return writingTo(output, (text) => {
      if (!output.isTerminal || !err.isTerminal || text === '') {
        output.write(text);
        return;
      }
      if (kept !== undefined) {
        if (output === err) kept = [...kept.slice(1 - KEPT_MAX), text];
        else output.write(text);
        return;
      }
      const before = erase();
      if (before !== '') err.write(before);
      output.write(text);
      isLineStart = text.endsWith('\n');
      const after = draw();
      if (after !== '') err.write(after);
    });
  }

  const live: LiveRegion = {
    isVisible: err.isTerminal,
    get rows() {
      return Math.max(1, err.rows - 1);
    },
    show(next) {
      if (!err.isTerminal || kept !== undefined) return;
      const same = drawn === next.length && next.every((line, at) => line === lines[at]) && width === err.columns;
      if (same) return;
      lines = next.slice(0, live.rows);
      const sequence = erase() + draw();
      if (sequence !== '') err.write(sequence);
    },
    yield() {
      live.show([]);
      kept = [];
      return () => {
        const text = kept?.join('') ?? '';
        kept = undefined;
        if (text !== '') err.write(text);
      };
    },
  };
  const asking = ask && {
    ask: async (question: string) => {
      live.show([]);
      const answer = await ask(question);
      isLineStart = true;
      return answer;
    },
  };
  return { terminal: { ...terminal, out: above(out), err: above(err), ...asking }, live };
}
