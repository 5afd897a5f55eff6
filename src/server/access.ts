import { ROLES, type Role } from '../configuration/settings/server-spec.ts';
import { unreachable } from '../model/unreachable.ts';

/**
 * Who may use a route: a role and those above it; `anyone` without a token; `metrics` a viewer, or anyone where the
 * operator says so; `signature` whoever signed the body, which the route itself checks.
 */
export type Access = Role | 'anyone' | 'metrics' | 'signature';

/** The role that a route wants; undefined: none. */
export function roleFor(access: Access, metricsArePublic: boolean): Role | undefined {
  switch (access) {
    case 'anyone':
    case 'signature':
      return undefined;
    case 'metrics':
      return metricsArePublic ? undefined : 'viewer';
    case 'viewer':
    case 'operator':
    case 'admin':
      return access;
    default:
      return unreachable(access);
  }
}

export function covers(role: Role, wanted: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}
