import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../model/secret.ts';

/** The one place of the server that sees a secret. Nothing of it comes back but yes or no, and always after the same time. */

/** Whether `text` is the secret. Digests are compared, so that neither content nor length can be measured. */
export function isSecret(secret: Secret, text: string): boolean {
  return timingSafeEqual(digest(secret.reveal()), digest(text));
}

/** Whether `signature` (hex) is the HMAC-SHA256 of `bytes` under the secret. */
export function isSigned(secret: Secret, bytes: Uint8Array, signature: string): boolean {
  const right = createHmac('sha256', secret.reveal()).update(bytes).digest('hex');
  return timingSafeEqual(digest(right), digest(signature.toLowerCase()));
}

/** UTF-16 code units. */
export function secretLength(secret: Secret): number {
  return secret.reveal().length;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
