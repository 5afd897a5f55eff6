import { useState } from 'preact/hooks';
import { SIGN_IN_PROBLEMS, type SignInCode } from '../../server/sign-in/problems.ts';
import { returnPath } from '../../server/sign-in/return-to.ts';
import { ApiError, type Problem, read, send } from '../api.ts';
import { inBase } from '../base.ts';
import { useData } from '../data.ts';
import { PageFrame } from '../parts/page.tsx';
import { Failed, WithData } from '../parts/states.tsx';
import { query } from '../router.ts';

/** Returns the page to show after the sign-in. */
function returnAddress(): string {
  return returnPath(query.value.get('return'));
}

/** Returns the problem with which the provider's answer led back here. The address has only its code, and the text is ours. */
function problemOfAddress(): Problem | undefined {
  const code = query.value.get('problem');
  if (code === null || !Object.hasOwn(SIGN_IN_PROBLEMS, code)) return undefined;
  return { title: 'Not signed in', code: `server/${code}`, ...SIGN_IN_PROBLEMS[code as SignInCode] };
}

/** Starts a session, with a token or with OpenID Connect. */
export function SignIn() {
  const ways = useData('sign-in', (signal) => read('/api/v1/sign-in', { signal }), { concerns: () => false });
  const [problem, setProblem] = useState(problemOfAddress);
  const [isBusy, setBusy] = useState(false);
  const attempt = async (begin: () => Promise<string>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      // A page of its own: nothing that the former user loaded stays in memory.
      location.assign(await begin());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.problem);
      setBusy(false);
    }
  };
  const withToken = (token: string): Promise<void> =>
    attempt(async () => {
      await send('/api/v1/session', { body: { token } });
      return inBase(returnAddress());
    });
  const withProvider = (): Promise<void> =>
    attempt(async () => (await send('/api/v1/session/oidc', { body: { returnTo: returnAddress() } })).location);
  return (
    <div class="sign-in">
      <PageFrame title="Sign in">
        {problem === undefined ? <State /> : <Failed problem={problem} />}
        <WithData of={ways} lines={3}>
          {({ token, oidc }) => (
            <>
              {oidc === null ? null : (
                <button type="button" class="primary" disabled={isBusy} onClick={() => void withProvider()}>
                  Sign in with {oidc.name}
                </button>
              )}
              {token && oidc !== null ? <p class="or">or</p> : null}
              {token ? <TokenForm isBusy={isBusy} isPrimary={oidc === null} onSubmit={withToken} /> : null}
              {token || oidc !== null ? null : <p>No way to sign in is configured (spec.server of Settings).</p>}
            </>
          )}
        </WithData>
      </PageFrame>
    </div>
  );
}

function State() {
  if (query.value.has('expired'))
    return (
      <p role="status">{SIGN_IN_PROBLEMS['session-ended'].detail} You return to the same page after the sign-in.</p>
    );
  return query.value.has('signed-out') ? <p role="status">You are signed out.</p> : null;
}

interface TokenFormProps {
  readonly isBusy: boolean;
  readonly isPrimary: boolean;
  readonly onSubmit: (token: string) => Promise<void>;
}

function TokenForm({ isBusy, isPrimary, onSubmit }: TokenFormProps) {
  const [token, setToken] = useState('');
  const submit = (event: Event): void => {
    event.preventDefault();
    // The field is empty afterwards, so that no later page and no screenshot has the token.
    setToken('');
    void onSubmit(token);
  };
  return (
    <form onSubmit={submit}>
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
      <button type="submit" class={isPrimary ? 'primary' : undefined} disabled={isBusy}>
        Sign in with a token
      </button>
    </form>
  );
}
