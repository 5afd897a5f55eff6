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
  const live = new BottomLines(err);
  const asking = ask && {
    ask: async (question: string) => {
      live.show([]);
      const answer = await ask(question);
      live.isLineStart = true;
      return answer;
    },
  };
  return { terminal: { ...terminal, out: live.above(out), err: live.above(err), ...asking }, live };
}

class BottomLines implements LiveRegion {
  readonly #err: Output;
  #lines: readonly string[] = [];
  /** Lines on the screen now; 0 while somebody else's line is not at its end. */
  #drawn = 0;
  /** Of the terminal when they were drawn. */
  #width = 0;
  isLineStart = true;
  /** Of standard error, while the screen is given away. */
  #kept: string[] | undefined;

  constructor(err: Output) {
    this.#err = err;
  }

  get isVisible(): boolean {
    return this.#err.isTerminal;
  }

  get rows(): number {
    return Math.max(1, this.#err.rows - 1);
  }

  show(next: readonly string[]): void {
    const err = this.#err;
    if (!err.isTerminal || this.#kept !== undefined) return;
    const isDrawn = this.#drawn === next.length && this.#width === err.columns;
    if (isDrawn && next.every((line, at) => line === this.#lines[at])) return;
    this.#lines = next.slice(0, this.rows);
    const sequence = this.#erase() + this.#draw();
    if (sequence !== '') err.write(sequence);
  }

  yield(): () => void {
    this.show([]);
    this.#kept = [];
    return () => {
      const text = this.#kept?.join('') ?? '';
      this.#kept = undefined;
      if (text !== '') this.#err.write(text);
    };
  }

  /** What is written to it goes above the lines. */
  above(output: Output): Output {
    const err = this.#err;
    return writingTo(output, (text) => {
      if (!output.isTerminal || !err.isTerminal || text === '') {
        output.write(text);
        return;
      }
      if (this.#kept !== undefined) {
        if (output === err) this.#kept = [...this.#kept.slice(1 - KEPT_MAX), text];
        else output.write(text);
        return;
      }
      const before = this.#erase();
      if (before !== '') err.write(before);
      output.write(text);
      this.isLineStart = text.endsWith('\n');
      const after = this.#draw();
      if (after !== '') err.write(after);
    });
  }

  #erase(): string {
    const up = this.#drawn > 1 ? `\u001b[${this.#drawn - 1}A` : '';
    const sequence = this.#drawn > 0 ? `\r${up}\u001b[J` : '';
    this.#drawn = 0;
    return sequence;
  }

  #draw(): string {
    if (!this.isLineStart || this.#lines.length === 0) return '';
    this.#drawn = this.#lines.length;
    this.#width = this.#err.columns;
    // A line that wraps could not be taken away again.
    return this.#lines.map((line) => fit(line, this.#err.columns - 1)).join('\n');
  }
}
