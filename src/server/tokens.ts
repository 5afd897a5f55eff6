import type { SecretReference } from '../configuration/platform/spec.ts';
import { type Role, type ServerToken, ROLES } from '../configuration/settings/server-spec.ts';
import { PortolanError } from '../model/errors.ts';
import type { Secret } from '../model/secret.ts';
import { isSecret, secretLength } from './secrets.ts';

/** Follows a reference of the configuration; what it returns gives the secret as it is now. @param where for messages. */
export type OpenSecret = (reference: SecretReference, where: string) => () => Secret;

/** Whoever has sent a token of ours. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
}

const LENGTH_MIN = 16;

/**
 * Returns whose bearer token a header `Authorization` holds. Every token is compared, whether one matched before or not.
 * @throws PortolanError `invalid` when a secret is missing or too short to be one.
 */
export function identifier(settings: readonly ServerToken[], openSecret: OpenSecret) {
  const tokens = settings.map(({ name, role, value }) => {
    return { name, role, secret: openedSecret(value, `Settings spec.server.tokens "${name}"`, openSecret) };
  });
  return (header: string | undefined): Caller | undefined => {
    const [, text] = /^Bearer +([^\s]{1,4096})$/i.exec(header ?? '') ?? [];
    if (text === undefined) return undefined;
    let caller: Caller | undefined;
    for (const { name, role, secret } of tokens) if (isSecret(secret(), text)) caller = { name, role };
    return caller;
  };
}

/** As `openSecret`, and refuses at once what could be guessed. */
export function openedSecret(reference: SecretReference, where: string, openSecret: OpenSecret): () => Secret {
  const open = openSecret(reference, where);
  const secret = open();
  if (secretLength(secret) >= LENGTH_MIN) return open;
  throw new PortolanError({
    code: 'server/weak-secret',
    disposition: 'invalid',
    message: `${where}: the secret in the ${secret.origin} has fewer than ${LENGTH_MIN} characters and could be guessed. The server was not started with it.`,
    remedy: 'Make a new one (openssl rand -hex 32) and put it there.',
  });
}

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
