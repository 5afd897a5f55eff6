import { literal, type ObjectOf, objectOf, text, type TypeOf } from './schema-words.ts';

const dispositionSchema = literal('retry', 'invalid', 'ask-human', 'unreachable', 'locked', 'give-up');
/**
 * What the caller does about an error, and the only thing it looks at:
 * `retry` (later, by itself), `invalid` (the input is wrong), `ask-human` (held), `unreachable` (the platform cannot
 * be reached or refuses the credentials), `locked` (someone else holds the ledger), `give-up` (it failed).
 */
export type Disposition = TypeOf<typeof dispositionSchema>;

/** Members of an error as programs read it. */
export const errorMembers = { code: text, disposition: dispositionSchema, message: text, remedy: text };

/**
 * `code`: stable, `area/what`, for documentation and scripts. `message`: what happened, where, and what was not done.
 * `remedy`: what to do next, a sentence with the exact command or flag where there is one.
 */
export type ErrorFacts = ObjectOf<typeof errorMembers> & { readonly cause?: unknown };

/** The only error thrown on purpose. Anything else that is thrown is a bug and may crash the process. */
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
