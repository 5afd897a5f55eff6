import type { ControllerStatus } from '../model/status.ts';

type Database = NonNullable<ControllerStatus['database']>;

/** A shorter outage, such as a restart of the database, requires no action. */
const SHOWN_MS = 10_000;

/**
 * Returns why the state of a controller is old, and what to do.
 * @returns undefined while it is not older than what a restart of the database makes it.
 */
export function oldStateOf(
  database: Database | undefined,
): { readonly why: string; readonly what: string } | undefined {
  if (database === undefined || database.ageMs < SHOWN_MS) return undefined;
  return database.isReachable
    ? {
        why: 'This controller cannot read what the others have stored.',
        what: 'Its log names the reason. Commands still reach the leaders, and it resumes by itself.',
      }
    : {
        why: 'This controller cannot read the database of the ledger.',
        what: 'Changes are refused. Its log names the reason. It resumes by itself once the database answers.',
      };
}
