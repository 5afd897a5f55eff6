/** The text of a refused sign-in. */
interface SignInProblem {
  readonly status: number;
  readonly detail: string;
  readonly remedy: string;
}

/**
 * The problems of a sign-in by code, without `server/`. The sign-in page shows those of a redirect, whose address contains only
 * the code. Therefore no text of the provider reaches the page.
 */
export const SIGN_IN_PROBLEMS = {
  'wrong-token': {
    status: 401,
    detail: 'The token is not valid. You are not signed in.',
    remedy: 'Enter one of the tokens in spec.server.tokens of Settings.',
  },
  'session-ended': {
    status: 401,
    detail: 'Your session has ended: it expired, its token was removed, or the controller restarted.',
    remedy: 'Sign in again.',
  },
  'no-role': {
    status: 403,
    detail: 'You are known, but no role is bound to you or to one of your groups. You are not signed in.',
    remedy: 'Request a role from the operator of Portolan (spec.server.roles of Settings).',
  },
  'too-many-sign-ins': {
    status: 429,
    detail: 'Too many sign-ins failed in a short time, so this one was refused without a check.',
    remedy: 'Wait, then sign in again. Requests with a token in the Authorization header still work.',
  },
  'too-many-sessions': {
    status: 503,
    detail: 'The maximum number of sessions is reached. You are not signed in.',
    remedy: 'Wait until a session ends, or raise spec.server.sessions.max of Settings.',
  },
  'sessions-away': {
    status: 503,
    detail: 'The database with the sessions does not answer. Nothing was done.',
    remedy: 'Wait until it answers. Requests with a token in the Authorization header still work.',
  },
  'cross-site': {
    status: 403,
    detail: 'A browser sent the request from a page of another origin, or did not say from which. Nothing was done.',
    remedy:
      'Use the dashboard of this server; behind a proxy, set spec.server.publicUrl of Settings and keep the Host header. Programs send Authorization: Bearer <token>.',
  },
  'insecure-address': {
    status: 403,
    detail: 'The browser reached the server by plain HTTP, where others could read the session. Nothing was done.',
    remedy:
      'Open the https address. If there is none, set spec.server.tls, or spec.server.publicUrl to the https address of the proxy. http://localhost works too.',
  },
  'oidc-off': {
    status: 404,
    detail: 'No OpenID Connect provider is configured.',
    remedy: 'Sign in with a token, or set spec.server.oidc of Settings.',
  },
  'oidc-other-address': {
    status: 403,
    detail: 'Sign-in with OpenID Connect works only at the address in spec.server.publicUrl of Settings.',
    remedy: 'Open the dashboard at that address, or sign in with a token.',
  },
  'oidc-unreachable': {
    status: 502,
    detail: 'The OpenID Connect provider did not answer. You are not signed in.',
    remedy:
      'Retry in a minute. If it fails again, check spec.server.oidc.issuer of Settings, the network, and the log of the controller. Sign-in with a token still works.',
  },
  'oidc-refused': {
    status: 502,
    detail: 'The answer of the OpenID Connect provider was an error or not valid. You are not signed in.',
    remedy: 'Sign in again. If it fails again, the log of the controller has the reason.',
  },
  'oidc-denied': {
    status: 403,
    detail: 'The sign-in was cancelled or denied at the OpenID Connect provider. You are not signed in.',
    remedy: 'Sign in again, and permit what the provider asks. If the provider refuses you, ask its administrator.',
  },
  'oidc-expired': {
    status: 400,
    detail:
      'The sign-in took too long, was already used, or was started in another browser or tab. You are not signed in.',
    remedy: 'Sign in again.',
  },
  'oidc-no-user': {
    status: 403,
    detail:
      'The OpenID Connect provider did not send a usable name for you, or has not verified your email. You are not signed in.',
    remedy:
      'Verify your email at the provider, or let the operator check spec.server.oidc.userClaim and scopes of Settings.',
  },
} as const satisfies Readonly<Record<string, SignInProblem>>;

export type SignInCode = keyof typeof SIGN_IN_PROBLEMS;
