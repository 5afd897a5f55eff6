import { ApiError, read, send } from './api.ts';
import { inBase } from './base.ts';
import { sleep } from './clock.ts';
import { startAfter } from './live.ts';
import { access, signedIn } from './sign-in-state.ts';

const RETRY_MS = 2_000;

/**
 * Checks that the API lets us in, and remembers the position of the newest event before any page loads its data. Events after that
 * position reach the page later, so none is missed.
 * @throws ApiError.
 */
export async function signIn(): Promise<void> {
  const [user, position] = await Promise.all([read('/api/v1/whoami'), newestPosition()]);
  if (position !== undefined) startAfter(position);
  signedIn(user);
}

/** Returns undefined for a user without the permission to see events. */
async function newestPosition(): Promise<string | undefined> {
  try {
    return (await read('/api/v1/events', { query: { limit: 1 } })).position;
  } catch (error) {
    if (error instanceof ApiError && error.problem.status === 403) return undefined;
    throw error;
  }
}

/** Does the same when the page starts, and retries until there is an answer. */
export async function startSession(): Promise<void> {
  while (access.value === 'unknown') {
    try {
      await signIn();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.problem.status !== 401) await sleep(RETRY_MS, new AbortController().signal);
    }
  }
}

/** Ends the session, and goes to the provider to sign out there too, or to the sign-in page. @throws ApiError. */
export async function signOut(): Promise<void> {
  const { location: elsewhere } = await send('/api/v1/session/end');
  // A page of its own: nothing that was loaded stays in memory.
  location.assign(elsewhere ?? inBase('/sign-in?signed-out=1'));
}
