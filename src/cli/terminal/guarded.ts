import { safeText } from '../../model/text.ts';
import type { LiveRegion } from './live-region.ts';
import { type Terminal, writingTo } from './terminal.ts';

/** Mark of our escape sequences when the process gives none. */
const KNOWN_MARK = '2718;2818;2845';

type Environment = Readonly<Record<string, string | undefined>>;

/** The terminal of a command, and the live region at its bottom. */
interface Shown {
  readonly terminal: Terminal;
  readonly live: LiveRegion;
}

/**
 * Returns a terminal that protects people, logs and other programs. A control character, an escape sequence or a
 * character that reorders text is written as `\u001b`, whatever its origin: a file name, a manifest or a platform. JSON
 * keeps its value that way. Only sequences with our secret mark pass.
 */
export function guarded({ terminal, live }: Shown, env: Environment): Shown {
  const { out, err, ask } = terminal;
  // The terminal of a command that runs another one is already guarded.
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

/**
 * Returns text for a file or a channel without escape sequences. Keeps a carriage return before a line feed, as in CSV.
 */
export function safeOutput(text: string): string {
  return text.split('\r\n').map(safeText).join('\r\n');
}

/**
 * Changes text so that GitHub Actions finds no command in it: it obeys every log line that starts with `::`, and `##[`
 * anywhere.
 */
export function withoutCommands(text: string, env: Environment): string {
  if (env['GITHUB_ACTIONS'] !== 'true') return text;
  return text.replace(/^(\s*):(?=:)/gm, '$1: ').replaceAll('##[', '## [');
}
