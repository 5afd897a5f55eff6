import type { SecretReference } from '../configuration/platform/spec.ts';
import type { ServerToken } from '../configuration/settings/server-spec.ts';
import { invalidInput } from '../model/errors.ts';
import type { Secret } from '../model/secret.ts';
import type { Caller } from './caller.ts';
import { fingerprint, isSecret, secretLength } from './secrets.ts';

/** Returns a function that reads the secret of a reference each time. @param where the place of the reference, for messages. */
export type OpenSecret = (reference: SecretReference, where: string) => () => Secret;

const LENGTH_MIN = 16;

export type Tokens = ReturnType<typeof openTokens>;

/**
 * Returns functions that find the owner of a token. They compare all tokens, even after a match.
 * @throws PortolanError `invalid` when a secret is missing or too short.
 */
export function openTokens(settings: readonly ServerToken[], openSecret: OpenSecret) {
  const tokens = settings.map(({ name, value }) => {
    return { name, secret: openStrongSecret(value, `Settings spec.server.tokens "${name}"`, openSecret) };
  });
  const ownerOf = (text: string): Caller | undefined => {
    let found: string | undefined;
    for (const { name, secret } of tokens) if (isSecret(secret(), text)) found = name;
    return found === undefined ? undefined : { name: found, via: 'token', groups: [], sessionEndsMs: null };
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
