import { invalidInput } from '../model/errors.ts';

/** Returns whether `--ledger` names a database of PostgreSQL and not a file. */
export function isPostgres(ledger: string | undefined): ledger is string {
  return ledger !== undefined && /^postgres(?:ql)?:\/\//i.test(ledger);
}

/** Matches a URL, and texts that begin like one of PostgreSQL, such as `postgres:/ann@db/fleet`, or name a database as libpq does. */
const LIKE_A_URL = /:\/\/|^[^\w./]*(?:\w+:)*(?:postgres|pgsql)\w*(?::|@|\/\/)|\bdbname=/i;

/**
 * Checks a ledger that a command line or a variable names: `none`, the path of a file, or the URL of a database. A URL with a mistake
 * would be the path of a file, and each controller would begin with an empty ledger.
 * @throws PortolanError `ledger/bad-address`. The message does not contain the text, which may contain a password.
 */
export function ledgerArgument(text: string): string {
  if (isPostgres(text) || !LIKE_A_URL.test(text)) return text;
  throw invalidInput(
    'ledger/bad-address',
    'The ledger is neither a file nor a URL that begins with postgres://. Nothing was opened.',
    'Write postgres://USER@HOST/DATABASE, without quotes or spaces around it, or the path of a file.',
  );
}
