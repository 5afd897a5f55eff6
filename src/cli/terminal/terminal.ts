import { invalidInput } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';

/** One output stream of the process. Results go to `out`, everything else to `err`. */
export interface Output {
  write(text: string): void;
  /** It is a terminal with a movable cursor. */
  readonly isTerminal: boolean;
  /** Current width in characters; 80 without a terminal. */
  readonly columns: number;
  /** Current height in lines; 24 without a terminal. */
  readonly rows: number;
  /** Text may have colour: the output is a terminal, or a flag or variable requires it. */
  readonly color: boolean;
  /** The same output without line breaking; undefined: this one breaks no lines. See `fitting`. */
  readonly whole?: Output;
  /** Mark of our own control sequences; undefined: every sequence passes. See `guarded`. */
  readonly mark?: string;
}

/** The terminal of a command. Tests give one that collects text. */
export interface Terminal {
  readonly out: Output;
  readonly err: Output;
  /** Standard input. */
  input(): AsyncIterable<Uint8Array>;
  /** Asks for one line, with the question on `err`; undefined where no person can answer. */
  ask?(question: string): Promise<string>;
  /** For `guarded`: three random numbers of four digits. */
  readonly mark?: string;
}

/** Returns the same output with another way to write. Its size stays current, because windows change. */
export function writingTo(
  output: Output,
  write: (text: string) => void,
  color = output.color,
  mark = output.mark,
): Output {
  return {
    write,
    ...(mark === undefined ? {} : { mark }),
    isTerminal: output.isTerminal,
    color,
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows;
    },
  };
}

/** Marks our own control sequences, so that they reach the terminal. */
export function own(output: Output, sequences: string): string {
  return output.mark === undefined ? sequences : sequences.replaceAll('\u001b[', `\u001b[${output.mark};`);
}

/** Writes a result as JSON. */
export function writeJson(result: object, { out }: Pick<Terminal, 'out'>): void {
  out.write(`${JSON.stringify({ formatVersion: 1, ...result }, null, 2)}\n`);
}

/**
 * Asks for confirmation. Only `y` and `yes` confirm.
 * @param question `Apply 3 changes?`
 * @param flag the flag to pass where no person can answer: `--yes`.
 * @throws PortolanError `cli/no-terminal` where no person can answer.
 */
export async function confirm(terminal: Terminal, question: string, flag: string): Promise<boolean> {
  if (terminal.ask === undefined) {
    throw invalidInput(
      'cli/no-terminal',
      `${question} The question needs a terminal, and there is none. Nothing was changed.`,
      `Pass ${flag} to proceed without a question.`,
    );
  }
  const answer = await terminal.ask(`${safeLine(question)} [y/N] `);
  return /^y(?:es)?$/i.test(answer.trim());
}
