import { fit } from './text.ts';
import { type Output, own, type Terminal, writingTo } from './terminal.ts';

/**
 * Draws lines at the bottom of the terminal repeatedly, below all other output. Does nothing where standard error is not
 * a terminal.
 */
export interface LiveRegion {
  readonly isVisible: boolean;
  /** Number of lines that fit. */
  readonly rows: number;
  /** Replaces the lines, each cut to the width. No lines remove the region. */
  show(lines: readonly string[]): void;
  /**
   * Gives the whole screen to other code. Until it is given back, nothing is drawn, and output to standard error is kept.
   * @returns a function that gives the screen back.
   */
  yield(): () => void;
}

/** Maximum number of kept outputs: a watch may run for days. */
const KEPT_MAX = 200;

/**
 * Returns a terminal whose live region and other output do not overlap: output goes above the region, also from logs, and
 * also on standard output where that is the same terminal.
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
  /** Lines on the screen now; 0 while another line is not complete. */
  #drawn = 0;
  /** Width of the terminal when they were drawn. */
  #width = 0;
  isLineStart = true;
  /** Output to standard error while another owner has the screen. */
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

  /** Returns an output that writes above the lines. */
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
    // The output of a command that another one runs is guarded already: only marked sequences pass, and no carriage return.
    const start = this.#err.mark === undefined ? '\r' : '\u001b[G';
    const sequence = this.#drawn > 0 ? own(this.#err, `${start}${up}\u001b[J`) : '';
    this.#drawn = 0;
    return sequence;
  }

  #draw(): string {
    if (!this.isLineStart || this.#lines.length === 0) return '';
    this.#drawn = this.#lines.length;
    this.#width = this.#err.columns;
    // A wrapped line could not be erased again.
    return this.#lines.map((line) => fit(line, this.#err.columns - 1)).join('\n');
  }
}
