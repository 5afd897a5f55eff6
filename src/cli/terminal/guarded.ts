import { safeText } from '../../model/text.ts';
import type { LiveRegion } from './live-region.ts';
import { type Output, type Terminal, writingTo } from './terminal.ts';

/** The mark of our sequences where the process gives none. */
const KNOWN_MARK = '2718;2818;2845';

type Environment = Readonly<Record<string, string | undefined>>;

/** The terminal of a command, and the lines at its bottom. */
interface Shown {
  readonly terminal: Terminal;
  readonly live: LiveRegion;
}

/**
 * The place where text leaves the process for people, logs and other programs. A control character, an escape sequence or a
 * character that reorders text is written as `\u001b`, whoever put it there: a file name, a manifest or a platform. JSON
 * keeps its value by that. Only sequences with our mark pass, which nobody else knows.
 */
export function guarded({ terminal, live }: Shown, env: Environment): Shown {
  const { out, err, ask } = terminal;
  // A command that runs another one has a guard already.
  if (out.mark !== undefined) return { terminal, live };
  const mark = terminal.mark ?? KNOWN_MARK;
  const ours = new RegExp(`\\u001b\\[${mark};([?0-9;]*[A-Za-z])`);
  const passed = (text: string): string =>
    text
      .split(ours)
      .map((part, at) => (at % 2 === 0 ? safeOutput(part) : `\u001b[${part}`))
      .join('');
  const toPeople = (text: string): string => passed(withoutCommands(text, env));
  return {
    terminal: {
      ...terminal,
      out: writingTo(out, (text) => out.write(passed(text)), out.color, mark),
      err: writingTo(err, (text) => err.write(toPeople(text)), err.color, mark),
      ...(ask === undefined ? {} : { ask: (question) => ask(toPeople(question)) }),
    },
    live: {
      isVisible: live.isVisible,
      get rows() {
        return live.rows;
      },
      show: (lines) => live.show(lines.map(passed)),
      yield: () => live.yield(),
    },
  };
}

/** Text for a file or a channel that obeys no sequence of ours. A carriage return before a line feed stays: CSV has it. */
export function safeOutput(text: string): string {
  return text.split('\r\n').map(safeText).join('\r\n');
}

/** Our own control sequences, marked so that they reach the terminal. */
export function own(output: Output, sequences: string): string {
  return output.mark === undefined ? sequences : sequences.replaceAll('\u001b[', `\u001b[${output.mark};`);
}

/**
 * Text for people that GitHub Actions takes no command from: it obeys every line of a log that begins with `::`, and `##[`
 * anywhere.
 */
export function withoutCommands(text: string, env: Environment): string {
  if (env['GITHUB_ACTIONS'] !== 'true') return text;
  return text.replace(/^(\s*):(?=:)/gm, '$1: ').replaceAll('##[', '## [');
}
