import { type RequestProblem, refusal } from '../problem.ts';
import { SIGN_IN_PROBLEMS, type SignInCode } from './problems.ts';

const PREFIX = 'server/';

/** Returns the error to throw for a sign-in, or a request of a browser, that is refused. @param retryAfter in seconds. */
export function signInRefusal(code: SignInCode, retryAfter?: number): RequestProblem {
  const { status, detail, remedy } = SIGN_IN_PROBLEMS[code];
  if (retryAfter === undefined) return refusal(status, `${PREFIX}${code}`, { detail, remedy });
  return refusal(status, `${PREFIX}${code}`, { detail, remedy: `Retry in ${retryAfter} s. ${remedy}`, retryAfter });
}

/** Returns the code of a problem in an address of the sign-in page; undefined when the page has no text for it. */
export function signInCodeOf({ details: { code } }: RequestProblem): SignInCode | undefined {
  const short = code.slice(PREFIX.length);
  return Object.hasOwn(SIGN_IN_PROBLEMS, short) ? (short as SignInCode) : undefined;
}
