import { generateKeyPairSync } from 'node:crypto';
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

export const CLIENT = { id: 'portolan', secret: 'canary-client-secret-6d1e0b9f' } as const;

/** What the provider says of a user: its claims by name. */
export type People = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface OpenIdProvider {
  readonly issuer: string;
  /** Who signs in next, and what that person answers: `ask` shows a page with buttons. */
  next: { readonly user: string; readonly answer: 'allow' | 'deny' | 'ask' };
  /** The keys that it publishes are not those with which it signs, as if another server had made its ID tokens. */
  hasForeignKeys: boolean;
  /** Requests, such as `POST /token`, in their order. */
  readonly requests: string[];
  close(): Promise<void>;
}

interface ProviderOptions {
  /** Addresses to which users may come back. */
  readonly redirectUris: readonly string[];
  readonly signedOutUris?: readonly string[];
  readonly people: People;
  readonly tls?: { readonly certPem: string; readonly keyPem: string };
  /** Further settings of the real provider. */
  readonly configuration?: Configuration;
}

/** Starts the certified OpenID Connect provider on loopback, with pages of its own that sign in whoever is next. */
export async function startOpenIdProvider(options: ProviderOptions): Promise<OpenIdProvider> {
  const { people, tls } = options;
  const handler: { handle: (request: IncomingMessage, response: ServerResponse) => void } = { handle: () => {} };
  const listener = (request: IncomingMessage, response: ServerResponse): void => handler.handle(request, response);
  const server =
    tls === undefined ? createPlainServer(listener) : createTlsServer({ cert: tls.certPem, key: tls.keyPem }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // Another site for browsers than the 127.0.0.1 of the controller.
  const issuer = tls === undefined ? `http://localhost:${port}` : `https://127.0.0.1:${port}`;
  const provider = new Provider(issuer, configurationOf(options));
  const started: OpenIdProvider = {
    issuer,
    next: { user: Object.keys(people)[0] ?? '', answer: 'allow' },
    hasForeignKeys: false,
    requests: [],
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  const rest = provider.callback();
  handler.handle = (request, response) => {
    const path = new URL(request.url ?? '/', issuer).pathname;
    started.requests.push(`${request.method} ${path}`);
    if (path === '/jwks' && started.hasForeignKeys) {
      const { d: _, ...publicKey } = signingKey();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [publicKey] }));
    } else if (path.startsWith('/interaction/')) void interact(provider, started, request, response);
    else void rest(request, response);
  };
  return started;
}

function signingKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'test' };
}

function configurationOf({ redirectUris, signedOutUris = [], people, configuration }: ProviderOptions): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [...redirectUris],
        post_logout_redirect_uris: [...signedOutUris],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [signingKey()] },
    cookies: { keys: ['a key of a test'] },
    claims: { email: ['email', 'email_verified'], groups: ['groups'], profile: ['name'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: true, logoutSource: askForSignOut },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...people[id] }) }),
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    ...configuration,
  };
}

/** Shows a page with a button, in place of one that loads fonts from the internet. */
function askForSignOut(context: { body: unknown }, form: string): void {
  const button = '<button form="op.logoutForm" name="logout" value="yes">Sign out there</button>';
  context.body = `<!doctype html><title>Provider</title>${form}${button}`;
}

/** Signs in and consents, or asks in a page with two buttons. */
async function interact(
  provider: Provider,
  { next: { user, answer } }: OpenIdProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const details = await provider.interactionDetails(request, response);
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
  const said = answer === 'ask' ? searchParams.get('answer') : answer;
  if (said === null) {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    const link = (name: string, value: string): string => `<a href="${pathname}?answer=${value}">${name}</a>`;
    response.end(`<!doctype html><title>Provider</title>${link('Allow', 'allow')} ${link('Deny', 'deny')}`);
    return;
  }
  if (said === 'deny') {
    const denied = { error: 'access_denied', error_description: 'The user <b>denied</b> it' };
    await provider.interactionFinished(request, response, denied, { mergeWithLastSubmission: false });
    return;
  }
  const grant = new provider.Grant({ accountId: user, clientId: CLIENT.id });
  grant.addOIDCScope('openid profile email groups');
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, {
    login: { accountId: user },
    consent,
    prompt: details.prompt,
  });
}
