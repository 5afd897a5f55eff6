import { instant } from './errors.ts';
import type { Command } from './shared.ts';
import { PortolanError } from '../model/errors.ts';
import type { EpochMs } from '../model/time.ts';

/** A command that a user gave and that has no result yet. */
export interface OpenCommand {
  readonly method: string;
  readonly unit: string;
  /** Names what it is about. */
  readonly subject: string;
  /** The user. */
  readonly by: string;
  readonly addedMs: EpochMs;
}

/** Returns the first argument of a command, or its unit where another version recorded it in a form that this one does not know. */
export function subjectOf({ args, unit }: Pick<Command, 'args' | 'unit'>): string {
  return (args as { readonly args?: readonly [string?] } | null)?.args?.[0] ?? unit;
}

/** Returns `suspend of demo/shop by ann at 2026-11-20T13:51:46.000Z`. */
export function commandText({ method, subject, by, addedMs }: OpenCommand): string {
  return `${method} of ${subject} by ${by} at ${instant(addedMs)}`;
}

/** Commands that an error names. */
const NAMED_MAX = 5;

/** A copy does not have the commands of the ledger that is copied, and nothing would carry them out. */
export function commandsOpen(location: string, commands: readonly OpenCommand[]): PortolanError {
  const more = commands.length > NAMED_MAX ? `; and ${commands.length - NAMED_MAX} more` : '';
  const number = commands.length === 1 ? '1 command' : `${commands.length} commands`;
  const named = `${commands.slice(0, NAMED_MAX).map(commandText).join('; ')}${more}`;
  return new PortolanError({
    code: 'ledger/open-commands',
    disposition: 'ask-human',
    message: `The ledger ${location} was not copied: it has ${number} of users without a result, which the copy would lose: ${named}. Nothing was changed.`,
    remedy:
      'Start a controller with this ledger until it has carried them out or refused them, which takes little more than an hour at most; stop it, and ' +
      'copy again. To give them up, restore a `portolan ledger backup` in the new place: installs then wait until you have confirmed them.',
  });
}
