import { signal } from '@preact/signals';
import { navigate, place } from './router.ts';

/** Whether the API let us in. `unknown` until the first answer. */
export const access = signal<'unknown' | 'signed-in' | 'signed-out'>('unknown');

/** The API let us in. */
export function signedIn(): void {
  access.value = 'signed-in';
}

/** Goes to the sign-in page, which returns to this address afterwards. */
export function signedOut(): void {
  const had = access.value === 'signed-in';
  access.value = 'signed-out';
  const { path, search } = place.value;
  if (path === '/sign-in') return;
  const parameters = new URLSearchParams({ return: path + search, ...(had ? { expired: '1' } : {}) });
  navigate(`/sign-in?${parameters}`, { replace: true });
}
