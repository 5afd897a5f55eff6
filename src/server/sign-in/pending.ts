import type { EpochMs } from '../../model/time.ts';
import type { Checks } from './provider.ts';
import { returnPath } from './return-to.ts';

/**
 * A sign-in with OpenID Connect that has begun. It is in a cookie of the browser and nowhere else, so that any replica can
 * complete it, and that strangers cannot fill memory with sign-ins that they never complete. It contains nothing that its
 * browser must not know.
 */
export interface Pending extends Checks {
  /** The provider that was asked. The answer to one is never sent to another (mix-up). */
  readonly provider: string;
  readonly returnTo: string;
  readonly startedMs: EpochMs;
}

export function encodePending(pending: Pending): string {
  return Buffer.from(JSON.stringify(pending)).toString('base64url');
}

/** Returns the sign-in in a cookie; undefined when there is none, or the cookie has another content. */
export function decodePending(value: string | undefined): Pending | undefined {
  if (value === undefined || !/^[A-Za-z0-9_-]{1,4000}$/.test(value)) return undefined;
  try {
    const { state, nonce, verifier, provider, returnTo, startedMs } = JSON.parse(
      Buffer.from(value, 'base64url').toString(),
    ) as Readonly<Record<string, unknown>>;
    if (!isRandom(state) || !isRandom(nonce) || !isRandom(verifier)) return undefined;
    if (typeof provider !== 'string' || typeof startedMs !== 'number') return undefined;
    return { state, nonce, verifier, provider, returnTo: returnPath(returnTo), startedMs };
  } catch {
    return undefined;
  }
}

function isRandom(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}
