import type { Ledger } from '../../../ledger/ledger.ts';
import { invalidInput } from '../../../model/errors.ts';
import { parseScopeKey, type ScopeKey } from '../../../model/ids.ts';
import { applicationOf } from '../../../views/history.ts';

/** Rows among which the name of an application is searched. */
const PAGE = 1_000;

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
