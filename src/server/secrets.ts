import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../model/secret.ts';

/** Compares secrets: the only file of the server that reads them. The time of a comparison does not depend on the result. */

/** Returns whether `text` is the secret. Compares digests, so that the time reveals neither content nor length. */
export function isSecret(secret: Secret, text: string): boolean {
  return timingSafeEqual(digest(secret.reveal()), digest(text));
}

/** Returns whether `signature` (hex) is the HMAC-SHA256 of `bytes` with the secret as key. */
export function isSigned(secret: Secret, bytes: Uint8Array, signature: string): boolean {
  const right = createHmac('sha256', secret.reveal()).update(bytes).digest('hex');
  return timingSafeEqual(digest(right), digest(signature.toLowerCase()));
}

/**
 * Returns a text that differs for another secret. It stays in memory, because it permits trying out tokens that people have chosen.
 * A database gets it only `sealed`.
 */
export function fingerprint(secret: Secret): string {
  return digest(secret.reveal()).toString('base64url');
}

/** Returns a text that only the holder of `id` can read. @param id random, used for one text only, and never stored beside it. */
export function sealed(text: string, id: string): string {
  const cipher = createCipheriv(CIPHER, digest(id), NONCE);
  const bytes = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  return bytes.toString('base64url');
}

/** Returns the text that was sealed; undefined: not by this id. */
export function unsealed(text: string, id: string): string | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, digest(id), NONCE);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}

const CIPHER = 'aes-256-gcm';
const TAG_BYTES = 16;
/** No key is used twice. */
const NONCE = Buffer.alloc(12);

/** Returns the length of the secret in UTF-16 code units. */
export function secretLength(secret: Secret): number {
  return secret.reveal().length;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
