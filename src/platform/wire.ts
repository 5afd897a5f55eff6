import { Secret, SECRET_MASK } from '../model/secret.ts';
import type { WireJson } from './transport.ts';

/** Returns plain JSON with revealed secrets, to be sent at once. */
export function revealed(value: WireJson): unknown {
  if (value instanceof Secret) return value.reveal();
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: WireJson) => revealed(item));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, item === undefined ? undefined : revealed(item as WireJson)]),
  );
}

/** Returns every secret in a body, so that it can be masked in the answer. */
export function secretsIn(value: WireJson | undefined): readonly Secret[] {
  if (value instanceof Secret) return [value];
  if (value === undefined || value === null || typeof value !== 'object') return [];
  return Object.values(value).flatMap((item: WireJson | undefined) => secretsIn(item));
}

const SECRET_LENGTH_MIN = 8;

/** The forms in which a server may quote each secret. The token is in every request, so its forms are cached. */
const echoes = new WeakMap<Secret, readonly string[]>();

/** Masks secrets in a body, because servers quote requests. Secrets below eight characters might match ordinary words. */
export function withoutEchoes(body: string, secrets: readonly Secret[]): string {
  let clean = body;
  for (const secret of secrets) {
    for (const echo of echoesOf(secret)) clean = clean.replaceAll(echo, SECRET_MASK);
  }
  return clean;
}

function echoesOf(secret: Secret): readonly string[] {
  const known = echoes.get(secret);
  if (known !== undefined) return known;
  const value = secret.reveal();
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    Buffer.from(value).toString('base64'),
  ];
  const found = value.length < SECRET_LENGTH_MIN ? [] : [...new Set(forms)];
  echoes.set(secret, found);
  return found;
}
