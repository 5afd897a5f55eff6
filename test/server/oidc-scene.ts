import { expect, onTestFinished } from 'vitest';
import type { ServerSettings } from '../../src/configuration/settings/server-spec.ts';
import { freePort } from '../support/free-port.ts';
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { forwardClock } from './forward-clock.ts';
import { type Serving, type ServingOptions, startServing } from './serving.ts';

export const PEOPLE = {
  ann: { email: 'ann@example.com', email_verified: true, groups: ['ops', 'staff'] },
  bob: { email: 'bob@example.com', email_verified: true, groups: ['guests'] },
  eve: { email: 'ann@example.com', email_verified: false, groups: ['ops'] },
  nameless: { groups: ['ops'] },
  odd: { email: 'ann@example.com\nadmin', groups: ['ops'] },
  half: { email: 'ann\ud83d@example.com', groups: ['ops'] },
  one: { email: 'one@example.com', groups: 'ops' },
} as const;

type OidcChanges = Partial<NonNullable<ServerSettings['oidc']>>;

export interface Scene extends Serving {
  readonly provider: OpenIdProvider;
  readonly clock: ReturnType<typeof forwardClock>;
}

interface SceneOptions {
  readonly oidc?: OidcChanges;
  /** Without a secret. */
  readonly isPublicClient?: boolean;
  readonly server?: Partial<ServerSettings>;
  readonly api?: ServingOptions['api'];
  readonly limits?: ServingOptions['limits'];
  readonly provider?: Partial<Parameters<typeof startOpenIdProvider>[0]>;
  readonly secrets?: Readonly<Record<string, string>>;
  /** Gets what ends the scene. Default: it ends with the test. */
  readonly finished?: (end: () => Promise<void>) => void;
}

/** A server, and a provider at which it is known. */
export async function scene(options: SceneOptions = {}): Promise<Scene> {
  const publicUrl = `http://127.0.0.1:${await freePort()}`;
  const provider = await startOpenIdProvider({
    redirectUris: [`${publicUrl}/auth/callback`],
    signedOutUris: [`${publicUrl}/sign-in`],
    people: PEOPLE,
    ...options.provider,
  });
  const finished = options.finished ?? onTestFinished;
  finished(() => provider.close());
  const clock = forwardClock();
  const serving = await startServing({
    clock: clock.clock,
    ...(options.api === undefined ? {} : { api: options.api }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    secrets: { oidc: CLIENT.secret, ...options.secrets },
    settings: {
      listen: new URL(publicUrl).host,
      publicUrl,
      roles: [
        { role: 'operator', tokens: [], users: [], groups: ['ops'] },
        { role: 'viewer', tokens: [], users: ['viewer@example.com'], groups: [] },
      ],
      oidc: {
        name: 'Example',
        issuer: provider.issuer,
        clientId: CLIENT.id,
        ...(options.isPublicClient === true ? {} : { clientSecret: { env: 'oidc' } }),
        scopes: ['profile', 'email', 'groups'],
        userClaim: 'email',
        groupsClaim: 'groups',
        ...options.oidc,
      },
      ...options.server,
    },
  });
  finished(() => serving.close());
  return { ...serving, provider, clock };
}

export const fromPage = ({ url }: Serving, cookie?: string): Record<string, string> => ({
  origin: url,
  'sec-fetch-site': 'same-origin',
  ...(cookie === undefined ? {} : { cookie }),
});

/** Begins a sign-in as the page does. @returns the address of the provider, and the cookie of the sign-in. */
export async function begin(serving: Serving, returnTo = '/applications?q=shop', cookie?: string) {
  const answer = await serving.ask('/api/v1/session/oidc', {
    method: 'POST',
    role: null,
    headers: fromPage(serving, cookie),
    body: JSON.stringify({ returnTo }),
  });
  const setCookie = answer.headers.getSetCookie()[0] ?? '';
  return { ...answer, setCookie, cookie: setCookie.split(';')[0] ?? '', location: locationOf(answer.body) };
}

export const locationOf = (body: unknown): string => (body as { readonly location?: string }).location ?? '';

/** Goes through the pages of the provider as a browser does. @returns the address to which it sends the user back. */
export async function throughProvider(location: string, { issuer }: OpenIdProvider): Promise<string> {
  const jar = new Map<string, string>();
  let address = location;
  for (let step = 0; step < 10; step += 1) {
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const next = response.headers.get('location');
    if (next === null) throw new Error(`${address}: ${response.status} ${await response.text()}`);
    address = new URL(next, address).href;
    if (!address.startsWith(issuer)) return address;
  }
  throw new Error('the provider goes in circles');
}

/** The browser comes back from the provider. */
export async function comeBack(address: string, cookie: string, headers: Record<string, string> = {}) {
  const response = await fetch(address, {
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'cross-site', cookie, ...headers },
  });
  const cookies = response.headers.getSetCookie();
  const session = cookies.find((line) => /portolan-session-\d+=[0-9a-f]/.test(line));
  return {
    status: response.status,
    location: response.headers.get('location') ?? '',
    cookies,
    session: session?.split(';')[0],
    setCookie: session ?? '',
    text: await response.text(),
  };
}

export async function signIn(serving: Scene, user: string, returnTo?: string) {
  serving.provider.next = { user, answer: 'allow' };
  const { location, cookie } = await begin(serving, returnTo);
  return comeBack(await throughProvider(location, serving.provider), cookie);
}

export const sync = (serving: Serving, session = '') =>
  serving.ask('/api/v1/sync', { method: 'POST', role: null, headers: fromPage(serving, session) });

/** The code of the problem with which somebody came back to the sign-in page, and nothing else but the page. */
export function problemIn({ status, location, session }: Awaited<ReturnType<typeof comeBack>>): string {
  const { pathname, searchParams } = new URL(location);
  expect({ status, pathname, session }).toEqual({ status: 303, pathname: '/sign-in', session: undefined });
  expect([...searchParams.keys()].sort()).toEqual(['problem', 'return']);
  return searchParams.get('problem') ?? '';
}
