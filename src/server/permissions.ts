import type { ServerSettings } from '../configuration/settings/server-spec.ts';
import type { Role, RoleBinding } from '../configuration/settings/roles-spec.ts';
import type { ScopeKey } from '../model/ids.ts';
import { scopeMatches } from '../model/scope-pattern.ts';
import type { Caller } from './caller.ts';

/** Permission that a route or an action needs. `operator` is a role only: it is `operate` and `approve`. */
export type Permission = Exclude<Role, 'operator'>;

export const PERMISSION_NAMES = ['viewer', 'operate', 'approve', 'admin'] as const satisfies readonly Permission[];

const PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['viewer'],
  operate: ['viewer', 'operate'],
  approve: ['viewer', 'approve'],
  operator: ['viewer', 'operate', 'approve'],
  admin: ['viewer', 'operate', 'approve', 'admin'],
};

export function includesPermission(role: Role, wanted: Permission): boolean {
  return PERMISSIONS[role].includes(wanted);
}

/** A role of a caller. */
export interface Grant {
  readonly role: Role;
  /** Patterns platform/team/region/app; null: everything, also what is not resolved. */
  readonly applications: readonly string[] | null;
}

/** Permissions of a caller, each for some applications or for everything. */
export interface Permissions {
  readonly grants: readonly Grant[];
  /** Returns whether the caller has the permission for everything, or for some applications. */
  has(wanted: Permission): boolean;
  /** Returns whether the caller has the permission for everything: platforms, the source, and unresolved applications. */
  hasForAll(wanted: Permission): boolean;
  /** Returns whether the caller has the permission for an application. @param scope null: not resolved yet. */
  may(wanted: Permission, scope: ScopeKey | null): boolean;
}

/** Applications whose decision is kept for each set of grants. */
const DECISIONS_MAX = 20_000;

/**
 * Returns what a caller with these grants may do. Patterns are compared with the scope that the platform resolved, letter by
 * letter: `*` stands for any text within one segment, and a scope with other than four segments matches nothing.
 */
export function permissionsOf(grants: readonly Grant[]): Permissions {
  const forAll = new Set(grants.flatMap(({ role, applications }) => (applications === null ? PERMISSIONS[role] : [])));
  const forSome = new Set(grants.flatMap(({ role }) => PERMISSIONS[role]));
  const limited = grants.flatMap(({ role, applications }) =>
    (applications ?? []).map((pattern) => ({ role, pattern })),
  );
  const decisions = new Map<ScopeKey, ReadonlySet<Permission>>();
  const decide = (scope: ScopeKey): ReadonlySet<Permission> => {
    if (!SCOPE.test(scope)) return NOTHING;
    const roles = new Set(limited.flatMap(({ role, pattern }) => (scopeMatches(pattern, scope) ? role : [])));
    return new Set([...roles].flatMap((role) => PERMISSIONS[role]));
  };
  return {
    grants,
    has: (wanted) => forSome.has(wanted),
    hasForAll: (wanted) => forAll.has(wanted),
    may: (wanted, scope) => {
      if (forAll.has(wanted)) return true;
      if (scope === null) return false;
      let decided = decisions.get(scope);
      if (decided === undefined) {
        decided = decide(scope);
        if (decisions.size >= DECISIONS_MAX) decisions.clear();
        decisions.set(scope, decided);
      }
      return decided.has(wanted);
    },
  };
}

const NOTHING: ReadonlySet<Permission> = new Set();

/**
 * The form of the key of a scope. Records of the source and of platforms (`source:…`, `platform:…`) have another one. A blank
 * stands for an application whose number is not known, which only a pattern for all applications covers.
 */
const SCOPE = /^[^/:]+\/[^/]+\/[^/]+\/(?:[1-9][0-9]{0,14}| )$/;

/** Sets of grants that are kept with their decisions, so that users of one group share them. */
const KEPT_MAX = 64;

export type Authorizer = ReturnType<typeof createAuthorizer>;

/** Returns a function that returns what a caller may do by these settings. A token that was removed may do nothing. */
export function createAuthorizer({ tokens, roles }: Pick<ServerSettings, 'tokens' | 'roles'>) {
  const kept = new Map<string, Permissions>();
  return (caller: Caller): Permissions => {
    const grants = grantsOf(caller, tokens, roles);
    const key = JSON.stringify(grants);
    const former = kept.get(key);
    if (former !== undefined) return former;
    const permissions = permissionsOf(grants);
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(key, permissions);
    return permissions;
  };
}

/** The permissions of a request without a caller, which its route does not need either. */
const OF_NOBODY = permissionsOf([]);

/**
 * Returns a function that returns the permissions of a caller at the time of the call, and finds them out only after a reload.
 * @param current returns another object after a reload.
 */
export function currentPermissions(
  caller: Caller | undefined,
  current: () => { readonly permissionsOf: Authorizer },
): () => Permissions {
  let last: { readonly of: object; readonly permissions: Permissions } | undefined;
  return () => {
    if (caller === undefined) return OF_NOBODY;
    const now = current();
    if (last?.of !== now) last = { of: now, permissions: now.permissionsOf(caller) };
    return last.permissions;
  };
}

function grantsOf(caller: Caller, tokens: ServerSettings['tokens'], roles: ServerSettings['roles']): readonly Grant[] {
  const token = caller.via === 'token' ? tokens.find(({ name }) => name === caller.name) : undefined;
  if (caller.via === 'token' && token === undefined) return [];
  const own: readonly Grant[] = token?.role === undefined ? [] : [{ role: token.role, applications: null }];
  const bound = roles.filter((binding) => isBound(binding, caller));
  return [...own, ...bound.map(({ role, applications = null }) => ({ role, applications }))];
}

/** A token and a user of the same name are two callers, so each has its own lists. */
function isBound({ tokens, users, groups }: RoleBinding, { via, name, groups: own }: Caller): boolean {
  if (via === 'token') return tokens.includes(name);
  return users.includes(name) || groups.some((group) => own.includes(group));
}

/**
 * The access rule of a route: a permission, for everything or for some applications; `viewer-of-all` needs a
 * viewer of everything, and `admin-of-all` an admin of everything; `caller` any caller, also without a role; `anyone` nothing; `metrics` a viewer of
 * everything, or nothing if the operator allows it; `signature` a signed body, which the route itself checks; `browser` a page of
 * the same origin, and `callback` the redirect of a provider to a browser, which `sign-in/` checks.
 */
export type Access = Permission | 'viewer-of-all' | 'admin-of-all' | 'caller' | 'metrics' | OpenAccess;

/** Rules that need no caller. */
const OPEN_ACCESS = ['anyone', 'signature', 'browser', 'callback'] as const;
type OpenAccess = (typeof OPEN_ACCESS)[number];

export function isOpenAccess(access: Access): access is OpenAccess {
  return (OPEN_ACCESS as readonly Access[]).includes(access);
}

/** Requirement for a request to be let in. */
export interface Need {
  /** null: any role, or none. */
  readonly permission: Permission | null;
  /** The permission must cover everything. */
  readonly isForAll: boolean;
}

/** Returns what a route needs; undefined when it needs no caller. */
export function needOf(access: Access, metricsArePublic: boolean): Need | undefined {
  switch (access) {
    case 'anyone':
    case 'signature':
    case 'browser':
    case 'callback':
      return undefined;
    case 'metrics':
      return metricsArePublic ? undefined : { permission: 'viewer', isForAll: true };
    case 'viewer-of-all':
      return { permission: 'viewer', isForAll: true };
    case 'admin-of-all':
      return { permission: 'admin', isForAll: true };
    case 'caller':
      return { permission: null, isForAll: false };
    default:
      return { permission: access, isForAll: false };
  }
}

/** Returns whether a caller with these permissions is let in. The API of the route checks each application (`scoped-api.ts`). */
export function isAdmitted({ permission, isForAll }: Need, permissions: Permissions): boolean {
  if (permission === null) return true;
  return isForAll ? permissions.hasForAll(permission) : permissions.has(permission);
}
