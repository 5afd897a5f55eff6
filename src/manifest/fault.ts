import { LIMITS } from './limits.ts';
import type { SpecProblem } from '../kinds/kind.ts';
import type { Problem } from '../model/problem.ts';
import { compareText } from '../model/text.ts';

/** A `Problem` before its file is known: positions are offsets into the text, in UTF-16 code units. */
export interface Fault extends SpecProblem {
  readonly offset: number;
  /** The length of the underlined text; at least 1. */
  readonly length: number;
  readonly resource?: string;
}

/** A fault without its position. */
export type FaultWords = Pick<Fault, 'code' | 'message' | 'expected' | 'hint'>;

export function faultAt(offset: number, words: FaultWords, length = 1): Fault {
  return { offset, length, path: '', ...words };
}

/** A half-open range of offsets whose text must not be shown. */
export type Mask = readonly [start: number, end: number];

const EXCERPT_LENGTH_MAX = 160;

/** The text of one file. It converts faults to problems with positions. */
export class FileText {
  readonly file: string;
  readonly text: string;
  readonly #masks: readonly Mask[];
  #lineStarts: number[] | undefined;

  constructor(file: string, text: string, masks: readonly Mask[] = []) {
    this.file = file;
    this.text = text;
    this.#masks = masks;
  }

  position(offset: number): { readonly file: string; readonly line: number; readonly column: number } {
    return { file: this.file, ...this.place(offset) };
  }

  /** Returns line and column, both from 1. */
  place(offset: number): { readonly line: number; readonly column: number } {
    const starts = this.#starts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }

  problem(fault: Fault): Problem {
    const { offset, length, code, path, message, expected, hint, resource } = fault;
    const excerpt = this.#excerpt(offset, length);
    return {
      code,
      position: this.position(offset),
      ...(resource === undefined ? {} : { resource }),
      path: cut(path),
      message: cut(message),
      ...(expected === undefined ? {} : { expected: cut(expected) }),
      ...(hint === undefined ? {} : { hint: cut(hint) }),
      ...(excerpt === undefined ? {} : { excerpt }),
    };
  }

  #starts(): readonly number[] {
    if (this.#lineStarts === undefined) {
      this.#lineStarts = [0];
      for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1)) {
        this.#lineStarts.push(at + 1);
      }
    }
    return this.#lineStarts;
  }

  /** Returns the line of an offset, truncated around the fault, with masked secrets. */
  #excerpt(offset: number, length: number): Problem['excerpt'] {
    const start = this.text.lastIndexOf('\n', offset - 1) + 1;
    const newline = this.text.indexOf('\n', offset);
    const lineEnd = newline === -1 ? this.text.length : newline;
    const end = this.text[lineEnd - 1] === '\r' ? lineEnd - 1 : lineEnd;
    if (start >= end) return undefined;
    const caret = offset - start;
    const width = end - start;
    const from = width <= EXCERPT_LENGTH_MAX ? 0 : Math.max(0, caret - EXCERPT_LENGTH_MAX / 2);
    const to = Math.min(width, from + EXCERPT_LENGTH_MAX);
    const underline = Math.max(1, Math.min(length, to - from - (caret - from)));
    // Only the shown part is masked, because a line may be a whole file with many secrets.
    const line = this.#masked(start + from, start + to).replace(/\t/g, ' ');
    const cut = `${from > 0 ? '…' : ''}${line}${to < width ? '…' : ''}`;
    return { line: cut, caret: caret - from + (from > 0 ? 1 : 0), length: underline };
  }

  /** Masks character by character, so that the caret stays at its position. */
  #masked(start: number, end: number): string {
    let line = this.text.slice(start, end);
    for (const [maskStart, maskEnd] of this.#masks) {
      const from = Math.max(maskStart, start) - start;
      const to = Math.min(maskEnd, end) - start;
      if (from < to) line = line.slice(0, from) + '*'.repeat(to - from) + line.slice(to);
    }
    return line;
  }
}

/** Truncates a text: names may be as long as the file, and occur in many faults. */
function cut(text: string): string {
  return text.length <= LIMITS.problemTextLength ? text : `${text.slice(0, LIMITS.problemTextLength - 1)}…`;
}

/** Sorts problems by file, line and column. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (left, right) =>
      compareText(left.position.file, right.position.file) ||
      left.position.line - right.position.line ||
      left.position.column - right.position.column ||
      compareText(left.code, right.code),
  );
}
