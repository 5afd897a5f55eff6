/** `Kind/name`: unique within one source. */
export type ResourceId = `${string}/${string}`;

/** One application on the platform, resolved: the unit of reconciliation, of locking and of the work queue. */
export interface Scope {
  /** Name of the operator's `Platform` document. */
  readonly platform: string;
  readonly team: string;
  readonly region: string;
  readonly appId: number;
}

/** `platform/team/region/appId`: the key of a scope in the ledger, in logs and in `ledger` commands. */
export type ScopeKey = string;

export function scopeKey(scope: Scope): ScopeKey {
  return `${scope.platform}/${scope.team}/${scope.region}/${scope.appId}`;
}

export function resourceId(kind: string, name: string): ResourceId {
  return `${kind}/${name}`;
}
