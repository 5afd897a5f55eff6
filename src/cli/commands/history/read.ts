import type { Ledger } from '../../../ledger/ledger.ts';
import { invalidInput } from '../../../model/errors.ts';
import { parseScopeKey, type ScopeKey } from '../../../model/ids.ts';
import type { HistoryRow } from '../../../model/owned.ts';
import { applicationOf } from '../../../views/history.ts';

/** Rows that are read at once. */
const PAGE = 1_000;

/** Yields the rows of a scope, newest first. */
export async function* historyRows(ledger: Ledger, scope: ScopeKey): AsyncGenerator<HistoryRow> {
  let beforeSerial: number | undefined;
  for (;;) {
    const rows = await ledger.history({ scope, limit: PAGE, ...(beforeSerial === undefined ? {} : { beforeSerial }) });
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) {
      yield* rows;
      return;
    }
    // The rows of one transaction have one serial, and the page may end among them.
    const whole = rows.filter(({ serial }) => serial !== last.serial);
    if (whole.length === 0) throw new Error(`transaction ${last.serial} has more than ${PAGE} rows`);
    yield* whole;
    beforeSerial = last.serial + 1;
  }
}

/**
 * Finds the scope of an application in the ledger, without the manifests and without the platform.
 * @param name name of the application, or its scope: platform/team/region/appId.
 * @throws PortolanError `invalid` when no record of the ledger names it.
 */
export async function scopeOf(ledger: Ledger, name: string): Promise<ScopeKey> {
  const scopes = (await ledger.scopes()).filter((key) => parseScopeKey(key) !== undefined);
  if (scopes.includes(name)) return name;
  for (const scope of scopes) {
    const rows = await ledger.history({ scope, limit: PAGE });
    if (rows.some((row) => applicationOf(row) === `Application/${name}`)) return scope;
  }
  throw invalidInput(
    'history/no-application',
    `The ledger ${ledger.location} has no history of Application/${name}. A history from an earlier version does not name applications.`,
    scopes.length === 0
      ? 'The ledger has no application yet; apply records it.'
      : `Pass the scope instead of the name. The ledger has: ${scopes.join(', ')}.`,
  );
}
