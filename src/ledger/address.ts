/** Returns whether `--ledger` names a database of PostgreSQL and not a file. */
export function isPostgres(ledger: string | undefined): ledger is string {
  return ledger !== undefined && /^postgres(?:ql)?:\/\//.test(ledger);
}
