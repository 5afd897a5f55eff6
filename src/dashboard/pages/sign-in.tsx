import { useState } from 'preact/hooks';
import { ApiError, type Problem, send } from '../api.ts';
import { navigate, query } from '../router.ts';
import { PageFrame } from '../parts/page.tsx';
import { Failed } from '../parts/states.tsx';
import { signIn } from '../session.ts';

/** Returns the page to show after the sign-in; never an address of another server. */
function returnAddress(): string {
  const address = query.value.get('return') ?? '/';
  return /^\/(?![/\\])/.test(address) ? address : '/';
}

/** Starts a session with a token. */
export function SignIn() {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await send('/api/v1/session', { body: { token } });
      await signIn();
      navigate(returnAddress(), { replace: true });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.problem);
      setBusy(false);
    }
  };
  return (
    <div class="sign-in">
      <PageFrame title="Sign in">
        {query.value.has('expired') ? <p>The session has ended. Sign in to return to the same page.</p> : null}
        <form onSubmit={(event) => void submit(event)}>
          <label>
            Token
            <input
              type="password"
              name="token"
              autoComplete="current-password"
              required
              value={token}
              onInput={({ currentTarget }) => setToken(currentTarget.value)}
            />
          </label>
          <button type="submit" class="primary" disabled={isBusy}>
            Sign in
          </button>
        </form>
        {problem === undefined ? null : <Failed problem={problem} />}
      </PageFrame>
    </div>
  );
}
