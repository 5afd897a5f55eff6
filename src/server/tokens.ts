import type { SecretReference } from '../configuration/platform/spec.ts';
import { type Role, type ServerToken, ROLES } from '../configuration/settings/server-spec.ts';
import { invalidInput } from '../model/errors.ts';
import type { Secret } from '../model/secret.ts';
import { fingerprint, isSecret, secretLength } from './secrets.ts';

/** Returns a function that reads the secret of a reference each time. @param where the place of the reference, for messages. */
export type OpenSecret = (reference: SecretReference, where: string) => () => Secret;

/** The owner of a valid token. */
export type Caller = Pick<ServerToken, 'name' | 'role'>;

const LENGTH_MIN = 16;

export type Tokens = ReturnType<typeof openTokens>;

/**
 * Returns functions that find the owner of a token. They compare all tokens, even after a match.
 * @throws PortolanError `invalid` when a secret is missing or too short.
 */
export function openTokens(settings: readonly ServerToken[], openSecret: OpenSecret) {
  const tokens = settings.map(({ name, role, value }) => {
    return { name, role, secret: openStrongSecret(value, `Settings spec.server.tokens "${name}"`, openSecret) };
  });
  const ownerOf = (text: string): Caller | undefined => {
    let caller: Caller | undefined;
    for (const { name, role, secret } of tokens) if (isSecret(secret(), text)) caller = { name, role };
    return caller;
  };
  return {
    ownerOf,
    /** Returns the owner of the bearer token in an `Authorization` header. */
    ownerOfHeader: (header: string): Caller | undefined => {
      const [, text] = /^Bearer +([^\s]{1,4096})$/i.exec(header) ?? [];
      return text === undefined ? undefined : ownerOf(text);
    },
    /** Returns a text that changes with the token of this name; undefined when there is none. */
    fingerprintOf: (name: string): string | undefined => {
      const token = tokens.find((one) => one.name === name);
      return token === undefined ? undefined : fingerprint(token.secret());
    },
    /** Returns the owner of the token with this name. */
    named: (name: string): Caller | undefined => {
      const token = tokens.find((one) => one.name === name);
      return token === undefined ? undefined : { name, role: token.role };
    },
  };
}

/** Opens a secret as `openSecret` does. @throws PortolanError `invalid` when it is so short that it could be guessed. */
export function openStrongSecret(reference: SecretReference, where: string, openSecret: OpenSecret): () => Secret {
  const open = openSecret(reference, where);
  const secret = open();
  if (secretLength(secret) >= LENGTH_MIN) return open;
  throw invalidInput(
    'server/weak-secret',
    `${where}: the secret in the ${secret.origin} has fewer than ${LENGTH_MIN} characters and could be guessed. It was not used.`,
    'Create a new secret (openssl rand -hex 32) and store it there.',
  );
}

/**
 * The access rule of a route: a role and the roles above it; `anyone` without a token; `metrics` for viewers, or for anyone if the
 * operator allows it; `signature` for a signed body, which the route itself checks; `browser` for a page of the same origin, and
 * `callback` for the redirect of a provider to a browser, which `sign-in/` checks.
 */
export type Access = Role | OpenAccess | 'metrics';

/** Rules that need no role. */
const OPEN_ACCESS = ['anyone', 'signature', 'browser', 'callback'] as const;
type OpenAccess = (typeof OPEN_ACCESS)[number];

export function isOpenAccess(access: Access): access is OpenAccess {
  return (OPEN_ACCESS as readonly Access[]).includes(access);
}

/** Returns the role that a route needs; undefined when it needs none. */
export function requiredRole(access: Access, metricsArePublic: boolean): Role | undefined {
  if (access === 'metrics') return metricsArePublic ? undefined : 'viewer';
  return isOpenAccess(access) ? undefined : access;
}

export function includesRole(role: Role, wanted: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}
