import type { Whoami } from '../../server/routes/whoami.ts';
import { ApiError } from '../api.ts';
import { Icon } from '../parts/icon.tsx';
import { Time } from '../parts/time.tsx';
import { toast } from '../parts/toasts.tsx';
import { signOut } from '../session.ts';
import { me } from '../sign-in-state.ts';

const PANEL = 'account';

/** The name of the user, with the roles and the sign-out behind it. */
export function Account() {
  const user = me.value;
  if (user === undefined) return null;
  return (
    <>
      <button type="button" class="plain account-button" popovertarget={PANEL} aria-label={`Account ${user.name}`}>
        <Icon name="user" />
        <span class="account-name">{user.name}</span>
      </button>
      <div id={PANEL} popover="auto" class="account" role="group" aria-label="Account">
        <p class="account-whole-name">{user.name}</p>
        <Roles user={user} />
        {user.sessionEndsMs === null ? null : (
          <p>
            The session ends <Time at={user.sessionEndsMs} />.
          </p>
        )}
        <button type="button" onClick={end}>
          <Icon name="out" /> Sign out
        </button>
      </div>
    </>
  );
}

function Roles({ user: { via, groups, roles } }: { readonly user: Whoami }) {
  return (
    <>
      <p>{via === 'token' ? 'Signed in with a token.' : 'Signed in with OpenID Connect.'}</p>
      <ul>
        {roles.map(({ role, applications }) => (
          <li key={`${role} ${applications?.join(' ') ?? ''}`}>
            <strong>{role}</strong> {applications === null ? 'for everything' : `for ${applications.join(', ')}`}
          </li>
        ))}
      </ul>
      {groups.length === 0 ? null : <p>Groups: {groups.join(', ')}</p>}
    </>
  );
}

function end(): void {
  signOut().catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    toast('bad', error.problem.detail, error.problem.remedy);
  });
}
