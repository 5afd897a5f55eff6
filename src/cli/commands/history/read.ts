import { historyRowsOf } from '../../../ledger/history-rows.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { invalidInput } from '../../../model/errors.ts';
import { parseScopeKey, type ResourceId, type ScopeKey } from '../../../model/ids.ts';
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

/** Returns whether a name is that of a resource: `Component/shop-web`. A scope has more parts. */
export function isResourceName(name: string): name is ResourceId {
  return /^[A-Za-z]+\/[^/]+$/.test(name) && !name.startsWith('Application/');
}

/** Finds the scope of a resource in the ledger. @throws PortolanError `invalid` when no record of the ledger names it. */
export async function scopeOfResource(ledger: Ledger, resource: ResourceId): Promise<ScopeKey> {
  const owned = (await ledger.objects({})).find((object) => object.resource === resource);
  if (owned !== undefined) return owned.scope;
  for (const scope of (await ledger.scopes()).filter((key) => parseScopeKey(key) !== undefined))
    for await (const _ of historyRowsOf(ledger, { scope, resource, limit: 1 })) return scope;
  throw invalidInput(
    'history/no-resource',
    `The ledger ${ledger.location} has no history of ${resource}.`,
    'Correct the name, which has the form Kind/name: portolan ledger list shows the resources on record.',
  );
}
