import { signal } from '@preact/signals';
import type { Whoami } from '../server/routes/whoami.ts';
import { navigate, place } from './router.ts';

/** Whether the API let us in. `unknown` until the first answer. */
export const access = signal<'unknown' | 'signed-in' | 'signed-out'>('unknown');

/** The user, with the roles; undefined until signed in. */
export const me = signal<Whoami | undefined>(undefined);

/** The API let us in. */
export function signedIn(user: Whoami): void {
  me.value = user;
  access.value = 'signed-in';
}

/** Goes to the sign-in page, which returns to this address afterwards. */
export function signedOut(): void {
  const had = access.value === 'signed-in';
  access.value = 'signed-out';
  me.value = undefined;
  const { path, search } = place.value;
  if (path === '/sign-in') return;
  const parameters = new URLSearchParams({ return: path + search, ...(had ? { expired: '1' } : {}) });
  navigate(`/sign-in?${parameters}`, { replace: true });
}
