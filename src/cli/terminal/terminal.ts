import { invalidInput } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';

/** One output of the process. Results go to `out`, progress and everything else to `err`. */
export interface Output {
  write(text: string): void;
  /** Somebody looks at it, and the cursor can be moved. */
  readonly isTerminal: boolean;
  /** Width in characters, as it is now; 80 where there is no terminal. */
  readonly columns: number;
  /** Height in lines, as it is now; 24 where there is no terminal. */
  readonly rows: number;
  /** Text may be coloured: it is a terminal, or a flag or variable asks for it. */
  readonly color: boolean;
  /** What our own control sequences bear; undefined: this output passes all of them. See `guarded`. */
  readonly mark?: string;
}

/** What a command knows of the terminal. Tests give one that collects text. */
export interface Terminal {
  readonly out: Output;
  readonly err: Output;
  /** Standard input. */
  input(): AsyncIterable<Uint8Array>;
  /** Asks for one line, with the question on `err`; undefined where nobody can answer. */
  ask?(question: string): Promise<string>;
  /** For `guarded`: three numbers of four digits that nobody can guess. */
  readonly mark?: string;
}

/** The same output, written to in another way. Its size is read when it is asked for: windows change. */
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

/**
 * Asks for a yes. Anything but `y` or `yes` is a no.
 * @param question `Apply 3 actions?`
 * @param flag what to pass where nobody can answer: `--yes`.
 * @throws PortolanError `cli/no-terminal` where there is nobody to ask.
 */
export async function confirm(terminal: Terminal, question: string, flag: string): Promise<boolean> {
  if (terminal.ask === undefined) {
    throw invalidInput(
      'cli/no-terminal',
      `${question} Nobody can answer: this does not run on a terminal. Nothing was changed.`,
      `Pass ${flag} to go ahead without a question.`,
    );
  }
  const answer = await terminal.ask(`${safeLine(question)} [y/N] `);
  return /^y(?:es)?$/i.test(answer.trim());
}
