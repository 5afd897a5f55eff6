import { literal, type ObjectOf, objectOf, text, type TypeOf } from './schema-words.ts';

const dispositionSchema = literal('retry', 'invalid', 'ask-human', 'unreachable', 'locked', 'give-up');
/**
 * The reaction to an error, and the only member that callers branch on: `retry` (retried automatically), `invalid` (the
 * input is wrong), `ask-human` (held: requires manual action), `unreachable` (the platform cannot be reached, or refuses
 * the credentials), `locked` (another process holds the ledger), `give-up` (it failed).
 */
export type Disposition = TypeOf<typeof dispositionSchema>;

/** The members of an error in JSON output. */
export const errorMembers = { code: text, disposition: dispositionSchema, message: text, remedy: text };

/**
 * The members of an error. `code` is stable and has the form `area/what`, for documentation and scripts. `message` says what
 * happened, where, and what was not done. `remedy` says what to do next, in one sentence, with the exact command or flag.
 */
export type ErrorFacts = ObjectOf<typeof errorMembers> & { readonly cause?: unknown };

/** The only error that the code throws on purpose. Any other error is a bug and may end the process. */
export class PortolanError extends Error {
  override readonly name = 'PortolanError';
  readonly code: string;
  readonly disposition: Disposition;
  readonly remedy: string;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.disposition = facts.disposition;
    this.remedy = facts.remedy;
  }
}

export const faultSchema = objectOf('An error, and what to do next.', errorMembers);
/** An error as data. */
export type ReportedError = TypeOf<typeof faultSchema>;

/** Returns an error as data. */
export function errorFacts({ code, disposition, message, remedy }: PortolanError): ReportedError {
  return { code, disposition, message, remedy };
}

/** Returns the error for input that is wrong: the same input fails again. See `ErrorFacts` for what each text says. */
export function invalidInput(code: string, message: string, remedy: string): PortolanError {
  return new PortolanError({ code, disposition: 'invalid', message, remedy });
}
