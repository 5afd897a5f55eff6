import type { Disposition } from '../../model/errors.ts';
import { unreachable } from '../../model/unreachable.ts';

/** What the program's exit code says; the table is in README.md. */
export const EXIT = {
  /** Done, or in sync, or a dry run that found changes. */
  ok: 0,
  /** Something failed. */
  failed: 1,
  /** Changes pending, only with `--detailed-exitcode`. */
  changesPending: 2,
  /** Manifests, configuration or arguments invalid. */
  invalid: 3,
  /** A guard or an unresolved intent needs a person. */
  held: 4,
  /** The platform cannot be reached or refuses the credentials. */
  unreachable: 5,
  /** Another controller holds the ledger. */
  locked: 6,
  /** By a signal; what was in flight is recorded. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** As every help says it. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'done, or in sync, or a dry run that found changes',
  1: 'something failed',
  2: 'changes pending, only with --detailed-exitcode',
  3: 'manifests, configuration or arguments invalid',
  4: 'held: a guard or an unresolved intent needs a person',
  5: 'the platform cannot be reached or refuses the credentials',
  6: 'another controller holds the ledger',
  130: 'interrupted; what was in flight is recorded',
};

/** Below the list of commands. */
export const EXIT_CODE_HELP = `
Exit codes:
  0  done, or in sync, or a dry run that found changes
  1  something failed
  2  changes pending, only with --detailed-exitcode
  3  manifests, configuration or arguments invalid
  4  held: a guard or an unresolved intent needs a person
  5  the platform cannot be reached or refuses the credentials
  6  another controller holds the ledger
  130  interrupted; what was in flight is recorded

Every option has a twin in the environment, named in its help. A flag goes before the environment, and the environment
before a file.`;

/** The exit code of an error that ends a command. */
export function exitCodeOf(disposition: Disposition): ExitCode {
  switch (disposition) {
    case 'invalid':
      return EXIT.invalid;
    case 'ask-human':
      return EXIT.held;
    case 'unreachable':
      return EXIT.unreachable;
    case 'locked':
      return EXIT.locked;
    case 'retry':
    case 'give-up':
      return EXIT.failed;
    default:
      return unreachable(disposition);
  }
}
