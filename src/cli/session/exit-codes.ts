import { renderProblems } from '../../manifest/render.ts';
import { type Disposition, PortolanError } from '../../model/errors.ts';
import { safeLine } from '../../model/text.ts';
import { own, type Terminal } from '../terminal/terminal.ts';
import { FaultyInput, screenOf } from './problems.ts';

/** Holds the exit codes of the program; the table is in docs/reference/command-line.md. */
export const EXIT = {
  /** Done, or in sync, or a dry run that found changes. */
  ok: 0,
  /** Something failed. */
  failed: 1,
  /** Changes pending, only with `--detailed-exitcode`. */
  changesPending: 2,
  /** Manifests, configuration or arguments invalid. */
  invalid: 3,
  /** A safety rule stopped the plan, or a write is in doubt; a person must decide. */
  held: 4,
  /** The platform cannot be reached or refuses the credentials. */
  unreachable: 5,
  /** Another process uses the ledger. */
  locked: 6,
  /** Ended by a signal. Requests in flight are recorded. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Describes the exit codes in every help. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'done, or in sync, or a dry run that found changes',
  1: 'something failed',
  2: 'changes pending, only with --detailed-exitcode',
  3: 'manifests, configuration or arguments invalid',
  4: 'held: a safety rule stopped the plan, or a write is in doubt; a person must decide',
  5: 'the platform cannot be reached or refuses the credentials',
  6: 'another process uses the ledger',
  130: 'interrupted; what was in flight is recorded',
};

/** The exit codes, shown below the list of commands. */
export const EXIT_CODE_HELP = `
Exit codes:
${Object.entries(EXIT_MEANINGS)
  .map(([code, meaning]) => `  ${code}  ${meaning}`)
  .join('\n')}

Every option can be set by an environment variable, which its help names. A flag takes precedence over the environment,
and the environment over a file.`;

/** Returns the exit code of an error that ends a command. */
export function exitCodeOf(disposition: Disposition): ExitCode {
  return EXIT_CODES[disposition];
}

const EXIT_CODES: Readonly<Record<Disposition, ExitCode>> = {
  invalid: EXIT.invalid,
  'ask-human': EXIT.held,
  unreachable: EXIT.unreachable,
  locked: EXIT.locked,
  retry: EXIT.failed,
  'give-up': EXIT.failed,
};

/**
 * Writes to stderr why a command ended, and what to do.
 * @returns the exit code of the error.
 */
export function reportError(
  error: unknown,
  { terminal, signal }: { readonly terminal: Pick<Terminal, 'err'>; readonly signal: AbortSignal },
): ExitCode {
  // After a signal, waits and reads are cancelled: every failure is a consequence of that.
  if (signal.aborted) {
    const where = error instanceof PortolanError ? `: ${safeLine(error.message)}` : '';
    terminal.err.write(`interrupted${where}\n`);
    return EXIT.interrupted;
  }
  if (error instanceof FaultyInput) {
    const { err } = terminal;
    err.write(`${own(err, renderProblems(error.problems, screenOf(err)))}Nothing was done.\n`);
    return EXIT.invalid;
  }
  if (error instanceof PortolanError) {
    terminal.err.write(
      `error: ${safeLine(error.message)}\n  ${safeLine(error.remedy)}\n  [${error.code}]  (portolan docs ${error.code})\n`,
    );
    return exitCodeOf(error.disposition);
  }
  // Any other error is a bug in this program, and only its stack shows where.
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.err.write(
    `error: Portolan stopped because of a bug. The ledger stays valid.\n${stack}\n` +
      '  Report the bug with the lines above. Then run the command again: it observes the platform first.\n',
  );
  return EXIT.failed;
}
