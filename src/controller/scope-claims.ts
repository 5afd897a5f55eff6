import type { ResourceId, ScopeKey } from '../model/ids.ts';

/**
 * Holds the applications by the scope that they resolve to. An application claims at most one scope: the one that its last pass
 * resolved. Applications that claim the same scope are all in error.
 */
export class ScopeClaims {
  readonly #claimants = new Map<ScopeKey, Set<ResourceId>>();
  readonly #scopes = new Map<ResourceId, ScopeKey>();

  /** Returns the applications that claim a scope. */
  of(scope: ScopeKey): readonly ResourceId[] {
    return [...(this.#claimants.get(scope) ?? [])];
  }

  /** Claims a scope for an application, and releases the one that it claimed before. */
  claim(scope: ScopeKey, id: ResourceId): void {
    if (this.#scopes.get(id) === scope) return;
    this.release(id);
    const claimants = this.#claimants.get(scope) ?? new Set();
    this.#claimants.set(scope, claimants.add(id));
    this.#scopes.set(id, scope);
  }

  /** Releases the scope of an application, if it claims one. */
  release(id: ResourceId): void {
    const scope = this.#scopes.get(id);
    if (scope === undefined) return;
    this.#scopes.delete(id);
    const claimants = this.#claimants.get(scope);
    claimants?.delete(id);
    if (claimants?.size === 0) this.#claimants.delete(scope);
  }

  /** Releases the scopes for which a function returns true, from all their applications. */
  releaseScopes(isMeant: (scope: ScopeKey) => boolean): void {
    for (const [id, scope] of this.#scopes) if (isMeant(scope)) this.release(id);
  }
}
