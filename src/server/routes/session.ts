import type { IncomingHttpHeaders } from 'node:http';
import { described, nullable, objectOf, string, text, trueOrFalse, type TypeOf } from '../../model/schema-words.ts';
import { type Call, json, routesOf } from '../route.ts';
import type { SignInRequest } from '../sign-in/sign-in.ts';

/** The ways to sign in, as the sign-in page gets them. */
export const signInWaysSchema = objectOf('The ways to sign in to the dashboard.', {
  token: described(trueOrFalse, 'Whether tokens are configured.'),
  oidc: nullable(objectOf('The OpenID Connect provider.', { name: described(text, 'Its name, for a button.') })),
});
export type SignInWays = TypeOf<typeof signInWaysSchema>;

const startedSchema = objectOf('Where the sign-in continues.', {
  location: described(text, 'The address of the provider, to which the browser goes now.'),
});
const endedSchema = objectOf('The session has ended.', {
  location: described(nullable(text), 'The address at which the user signs out of the provider too; null: none.'),
});

/** Addresses as JSON, which the page opens. */
export type SignInStarted = TypeOf<typeof startedSchema>;
export type SessionEnded = TypeOf<typeof endedSchema>;

function requestOf({ headers, peer }: Call): SignInRequest {
  return { headers: headers as IncomingHttpHeaders, peer };
}

const NO_CONTENT = { 204: { description: 'Signed in. The session is in a cookie.' } } as const;

/** Routes of the dashboard to sign in and out. Programs use tokens and need none of them. */
export const sessionRoutes = routesOf({
  'GET /api/v1/sign-in': {
    operationId: 'getSignInWays',
    summary: 'Returns the ways to sign in to the dashboard.',
    access: 'anyone',
    answers: { 200: { description: 'The ways to sign in.', schema: signInWaysSchema } },
    handle: (_, { signIn }) => json(signIn.ways()),
  },
  'POST /api/v1/session': {
    operationId: 'startSession',
    summary: 'Signs a browser in with a token, and sets the cookie of its session.',
    access: 'browser',
    body: {
      type: 'json',
      schema: objectOf('The token.', {
        token: string('The same token as in an Authorization header.', { minLength: 1, maxLength: 4096 }),
      }),
    },
    answers: NO_CONTENT,
    handle: async (call, { signIn }) => {
      const cookie = await signIn.withToken((call.body as { readonly token: string }).token, requestOf(call));
      return { type: 'empty', cookies: [cookie] };
    },
  },
  'POST /api/v1/session/oidc': {
    operationId: 'startOidcSession',
    summary: 'Begins a sign-in with OpenID Connect (authorization code with PKCE).',
    access: 'browser',
    waits: true,
    body: {
      type: 'json',
      schema: objectOf('The page after the sign-in.', {
        returnTo: string('A path of the dashboard.', { maxLength: 4096 }),
      }),
    },
    answers: { 200: { description: 'The sign-in continues at the provider.', schema: startedSchema } },
    handle: async (call, { signIn }) => {
      const { returnTo } = call.body as { readonly returnTo: string };
      const { location, cookies } = await signIn.begin(returnTo, requestOf(call));
      return { ...json({ location }), cookies };
    },
  },
  'POST /api/v1/session/end': {
    operationId: 'endSession',
    summary: 'Signs a browser out.',
    access: 'browser',
    waits: true,
    answers: { 200: { description: 'The session has ended.', schema: endedSchema } },
    handle: async (call, { signIn }) => {
      const { location, cookies } = await signIn.end(requestOf(call));
      return { ...json({ location }), cookies };
    },
  },
  'GET /auth/callback': {
    operationId: 'finishOidcSession',
    summary: 'Completes a sign-in with OpenID Connect. The provider sends the browser here.',
    access: 'callback',
    waits: true,
    anyQuery: true,
    query: {
      code: string('The code for which the provider returns tokens.'),
      state: string('The state of the sign-in.'),
      iss: string('The issuer of the answer.'),
      error: string('The error of the provider.'),
    },
    answers: { 303: { description: 'The page that was wanted, or the sign-in page.' } },
    handle: async (call, { signIn }) => {
      const { location, cookies } = await signIn.finish(call.query, requestOf(call));
      return { type: 'redirect', location, cookies };
    },
  },
});
