import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
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

/** Returns a text that differs for another secret. It stays in memory. */
export function fingerprint(secret: Secret): string {
  return digest(secret.reveal()).toString('base64url');
}

/** Returns the length of the secret in UTF-16 code units. */
export function secretLength(secret: Secret): number {
  return secret.reveal().length;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
