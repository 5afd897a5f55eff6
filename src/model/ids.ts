import { count, objectOf, type Schema, text, type TypeOf } from './schema-words.ts';

/** The id of a resource, `Kind/name`. It is unique within one source. */
export type ResourceId = `${string}/${string}`;
export const resourceIdSchema: Schema<ResourceId> = { type: 'string' };

// `platform` is the name of the operator's `Platform` document.
export const scopeSchema = objectOf('The application on the platform.', {
  platform: text,
  team: text,
  region: text,
  appId: count,
});

/** One application on the platform, resolved: the unit of reconciliation, locking and queueing. */
export type Scope = TypeOf<typeof scopeSchema>;

/** The key of a scope in the ledger, in logs and in `ledger` commands: `platform/team/region/appId`. */
export type ScopeKey = string;

export function scopeKey(scope: Scope): ScopeKey {
  return `${scope.platform}/${scope.team}/${scope.region}/${scope.appId}`;
}

/** Returns the scope of a key; undefined for a text that is not a key. */
export function parseScopeKey(key: string): Scope | undefined {
  const [, platform, team, region, appId] = /^([^/]+)\/([^/]+)\/([^/]+)\/([1-9][0-9]{0,14})$/.exec(key) ?? [];
  if (platform === undefined || team === undefined || region === undefined || appId === undefined) return undefined;
  return { platform, team, region, appId: Number(appId) };
}

export function resourceId(kind: string, name: string): ResourceId {
  return `${kind}/${name}`;
}

/** Returns the name of a resource's kind. */
export function kindName(id: ResourceId): string {
  return id.slice(0, id.indexOf('/'));
}
