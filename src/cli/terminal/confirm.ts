import { PortolanError } from '../../model/errors.ts';
import type { Terminal } from './terminal.ts';
import { safeLine } from '../../model/text.ts';

/**
 * Asks for a yes. Anything but `y` or `yes` is a no.
 * @param question `Apply 3 actions?`
 * @param flag what to pass where nobody can answer: `--yes`.
 * @throws PortolanError `cli/no-terminal` where there is nobody to ask.
 */
export async function confirm(terminal: Terminal, question: string, flag: string): Promise<boolean> {
  if (terminal.ask === undefined) {
    throw new PortolanError({
      code: 'cli/no-terminal',
      disposition: 'invalid',
      message: `${question} Nobody can answer: this does not run on a terminal. Nothing was changed.`,
      remedy: `Pass ${flag} to go ahead without a question.`,
    });
  }
  const answer = await terminal.ask(`${safeLine(question)} [y/N] `);
  return /^y(?:es)?$/i.test(answer.trim());
}
