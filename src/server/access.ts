import { ROLES, type Role } from '../configuration/settings/server-spec.ts';

/**
 * Who may use a route: a role and those above it; `anyone` without a token; `metrics` a viewer, or anyone where the
 * operator says so; `signature` whoever signed the body, which the route itself checks.
 */
export type Access = Role | 'anyone' | 'metrics' | 'signature';

/** The role that a route wants; undefined: none. */
export function roleFor(access: Access, metricsArePublic: boolean): Role | undefined {
  if (access === 'metrics') return metricsArePublic ? undefined : 'viewer';
  return access === 'anyone' || access === 'signature' ? undefined : access;
}

export function covers(role: Role, wanted: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}
