import type { Configuration, CustomFetch, IDToken, UserInfoResponse } from 'openid-client';
import type { OidcSettings } from '../../configuration/settings/sign-in-spec.ts';
import { isLoopback } from '../../configuration/addresses.ts';
import { OutboundError } from '../../controller/outbound.ts';
import { ONE_LINE_PATTERN } from '../../kinds/schema.ts';
import type { Secret } from '../../model/secret.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { RequestProblem } from '../problem.ts';
import type { SignInCode } from './problems.ts';
import { allowedUrl } from './provider-fetch.ts';
import { signInRefusal } from './refusals.ts';

/** Values that a browser keeps between the start of a sign-in and the answer of the provider. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  /** The code verifier of PKCE. */
  readonly verifier: string;
}

/** A user as the provider knows it. */
export interface ProviderUser {
  readonly name: string;
  readonly groups: readonly string[];
}

interface ProviderOptions {
  readonly settings: OidcSettings;
  /** `spec.server.publicUrl`, without a slash at the end. */
  readonly publicUrl: string;
  readonly clientSecret: (() => Secret) | undefined;
  readonly send: CustomFetch;
  readonly clock: Clock;
  readonly random: Random;
  /** Reports why a sign-in failed. The text has one line, and nothing secret. */
  readonly onFailure: (code: SignInCode, reason: string) => void;
}

/** Metadata are read again after this time. Keys have their own, shorter life. */
const METADATA_AGE_MAX_MS = 3_600_000;
const RANDOM_BYTES = 32;
/** More groups would make sessions large. Providers with more offer a filter. */
const GROUPS_MAX = 200;
const NAME_MAX = 256;
const ONE_LINE = new RegExp(ONE_LINE_PATTERN);

/**
 * Signs users in with an OpenID Connect provider: authorization code with PKCE, state, nonce, and the issuer of the answer
 * (RFC 9700). The provider is asked at the first sign-in, so the controller starts without it. Its tokens are read once and
 * not kept.
 */
export class Provider {
  /** Sessions end when this changes. */
  readonly id: string;
  readonly #options: ProviderOptions;
  readonly #redirectUri: string;
  #current: { readonly found: Promise<Discovered>; readonly atMs: number } | undefined;

  constructor(options: ProviderOptions) {
    const { issuer, clientId } = options.settings;
    this.id = `${issuer} ${clientId}`;
    this.#options = options;
    this.#redirectUri = `${options.publicUrl}/auth/callback`;
  }

  /** Begins a sign-in. @returns the address of the provider, and the checks for the browser to keep. @throws RequestProblem */
  begin(): Promise<{ readonly location: string; readonly checks: Checks }> {
    const { settings, random } = this.#options;
    return asRefusal(this.#options, async () => {
      const { client, configuration } = await this.#discovered();
      const [state, nonce, verifier] = [random.hex(RANDOM_BYTES), random.hex(RANDOM_BYTES), random.hex(RANDOM_BYTES)];
      const location = client.buildAuthorizationUrl(configuration, {
        redirect_uri: this.#redirectUri,
        scope: [...new Set(['openid', ...settings.scopes])].join(' '),
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      // The page opens this address, so the metadata must not choose another scheme.
      return { location: allowedUrl(location.href).href, checks: { state, nonce, verifier } };
    });
  }

  /** Completes a sign-in. @param query of the redirect to `/auth/callback`. @throws RequestProblem */
  finish(query: URLSearchParams, checks: Checks): Promise<ProviderUser> {
    const { settings } = this.#options;
    return asRefusal(this.#options, async () => {
      const { client, configuration } = await this.#discovered();
      const tokens = await client.authorizationCodeGrant(configuration, new URL(`${this.#redirectUri}?${query}`), {
        pkceCodeVerifier: checks.verifier,
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new OutboundError('NO_ID_TOKEN', 'the provider sent no ID token');
      const isWhole = claims[settings.userClaim] !== undefined && claims[settings.groupsClaim] !== undefined;
      if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined)
        return userOf(claims, this.#options);
      const more = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return userOf({ ...more, ...claims }, this.#options);
    });
  }

  /** Returns the address at which the user signs out of the provider; undefined when it has none, or does not answer. */
  async signOutUrl(): Promise<string | undefined> {
    const found = await this.#discovered().catch(() => undefined);
    if (found?.configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    const { client, configuration } = found;
    // Without id_token_hint, because a token in an address ends up in histories and logs. The provider asks the user instead.
    const parameters = { post_logout_redirect_uri: `${this.#options.publicUrl}/sign-in` };
    const url = client.buildEndSessionUrl(configuration, parameters);
    return url.protocol === 'https:' || isLoopback(url.href) ? url.href : undefined;
  }

  /** Reads the metadata of the provider, at most once an hour. A failure is retried at the next sign-in. */
  #discovered(): Promise<Discovered> {
    const { clock } = this.#options;
    const nowMs = clock.monotonic();
    if (this.#current !== undefined && nowMs - this.#current.atMs < METADATA_AGE_MAX_MS) return this.#current.found;
    const own = { found: discover(this.#options), atMs: nowMs };
    this.#current = own;
    own.found.catch(() => {
      if (this.#current === own) this.#current = undefined;
    });
    return own.found;
  }
}

type Client = typeof import('openid-client');

interface Discovered {
  readonly client: Client;
  readonly configuration: Configuration;
}

async function discover({ settings, clientSecret, send }: ProviderOptions): Promise<Discovered> {
  // Loaded at the first sign-in: most processes never need it.
  const client = await import('openid-client');
  const configuration = await client.discovery(
    new URL(settings.issuer),
    settings.clientId,
    undefined,
    clientSecret === undefined
      ? client.None()
      : (server, own, body, headers) => {
          const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
          const isBasic = methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
          // The secret is read for each request: its file may have been rotated.
          const secret = clientSecret().reveal();
          const authenticate = isBasic ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
          authenticate(server, own, body, headers);
        },
    {
      [client.customFetch]: send,
      execute: [
        // The signature of ID tokens is checked too, although they come from the provider directly.
        client.enableNonRepudiationChecks,
        ...(isLoopback(settings.issuer) ? [client.allowInsecureRequests] : []),
      ],
    },
  );
  return { client, configuration };
}

/** Returns the user of verified claims. @throws RequestProblem */
function userOf(claims: Partial<IDToken & UserInfoResponse>, { settings, onFailure }: ProviderOptions): ProviderUser {
  const name = claims[settings.userClaim];
  const isVerified = settings.userClaim !== 'email' || ![false, 'false'].includes(claims.email_verified as boolean);
  if (!isName(name) || !isVerified) {
    const reason = name === undefined ? 'is missing' : isVerified ? 'is not a usable name' : 'is not verified';
    onFailure('oidc-no-user', `the claim ${settings.userClaim} ${reason}`);
    throw signInRefusal('oidc-no-user');
  }
  const groups = [claims[settings.groupsClaim] ?? []].flat().filter(isName);
  return { name, groups: [...new Set(groups)].slice(0, GROUPS_MAX) };
}

function isName(value: unknown): value is string {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= NAME_MAX;
  return isText && ONE_LINE.test(value) && value.isWellFormed();
}

/** Runs a part of a sign-in, and turns its errors into refusals. The reason goes to the log only. */
async function asRefusal<Result>({ onFailure }: ProviderOptions, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof RequestProblem) throw error;
    const code = codeOf(error);
    onFailure(code, reasonOf(error));
    throw signInRefusal(code);
  }
}

/** Errors of our own about an answer; with any other one, there was no answer. */
const ABOUT_ANSWERS: ReadonlySet<string> = new Set(['EFORBIDDEN', 'ETOOLARGE', 'NO_ID_TOKEN']);

function codeOf(error: unknown): SignInCode {
  const isLost = (cause: Error): boolean => cause instanceof OutboundError && !ABOUT_ANSWERS.has(cause.code);
  if (causeOf(error, isLost) !== undefined) return 'oidc-unreachable';
  const { error: said, status = 0 } = error as { readonly error?: unknown; readonly status?: number };
  if (said === 'access_denied') return 'oidc-denied';
  if (said === 'temporarily_unavailable' || said === 'server_error' || status >= 500) return 'oidc-unreachable';
  // The code was used before, or is too old.
  return said === 'invalid_grant' ? 'oidc-expired' : 'oidc-refused';
}

/** Message of the library around any other error. */
const GENERIC = 'something went wrong';

/** Returns why a sign-in failed. Texts of the provider are shortened; the library puts no token into its messages. */
function reasonOf(error: unknown): string {
  const parts: unknown[] = [];
  causeOf(error, (cause) => {
    const {
      code,
      message,
      error: said,
      error_description: description,
    } = cause as unknown as Readonly<Record<string, unknown>>;
    parts.unshift(...[code, said, description ?? message].filter((part) => typeof part === 'string'));
    return false;
  });
  return [...new Set(parts)]
    .filter((part) => part !== GENERIC)
    .join(': ')
    .replaceAll(/[^\u0020-\u007e]/g, '?')
    .slice(0, 300);
}

/** Returns the first error of a chain of causes for which `is` is true. */
function causeOf(error: unknown, is: (cause: Error) => boolean): Error | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1)
    if (is(cause)) return cause;
  return undefined;
}
