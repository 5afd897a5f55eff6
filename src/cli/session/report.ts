import { PortolanError } from '../../model/errors.ts';
import type { Surroundings } from './command.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import { safeLine } from '../../model/text.ts';

/**
 * Says on stderr why a command ended, and what to do next.
 * @returns the exit code that goes with it.
 */
export function reportError(error: unknown, { terminal, signal }: Pick<Surroundings, 'terminal' | 'signal'>): ExitCode {
  // Whatever fails once we were told to stop fails because of it: waits and reads are broken off.
  if (signal.aborted) {
    const where = error instanceof PortolanError ? `: ${safeLine(error.message)}` : '';
    terminal.err.write(`interrupted${where}\n`);
    return EXIT.interrupted;
  }
  if (error instanceof PortolanError) {
    terminal.err.write(`error: ${safeLine(error.message)}\n  ${safeLine(error.remedy)}\n  [${error.code}]\n`);
    return exitCodeOf(error.disposition);
  }
  // Anything else is a fault of this program, and only its stack says where.
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.err.write(
    `error: Portolan hit a fault of its own and stopped. What it had written down stays valid.\n${stack}\n` +
      '  Please report it with the lines above. Run the command again: it starts from what the platform says.\n',
  );
  return EXIT.failed;
}
