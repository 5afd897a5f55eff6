import type { ScopeKey } from '../model/ids.ts';
import type { AcceptedSource } from './acceptance.ts';
import type { CoreBase } from './options.ts';

/**
 * Returns the scopes of the accepted source whose removals no operator approved. `undefined`: not all scopes are known,
 * because an application was never resolved or has not followed the accepted source.
 */
export function unapprovedScopes(
  records: CoreBase['records'],
  { snapshot, desired }: AcceptedSource,
): ReadonlySet<ScopeKey> | undefined {
  const wanted = [...desired.values()].filter(({ kind }) => kind === 'Application');
  if (wanted.some(({ id }) => records.get(id)?.snapshot !== snapshot)) return undefined;
  const scopes = [...records.values()].flatMap(({ status, approvedSnapshot }) =>
    approvedSnapshot === snapshot ? [] : [status.scope],
  );
  return scopes.includes(null) ? undefined : new Set(scopes as ScopeKey[]);
}
