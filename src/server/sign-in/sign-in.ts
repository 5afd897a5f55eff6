import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ServerSettings } from '../../configuration/settings/server-spec.ts';
import type { SessionSettings } from '../../configuration/settings/sign-in-spec.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import type { Caller } from '../caller.ts';
import type { ServerLimits } from '../limits.ts';
import { RequestProblem } from '../problem.ts';
import { clientAddress, trustedProxies } from '../proxies.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import { cookieName, cookieValue, deleteCookie, setCookie } from './cookies.ts';
import { decodePending, encodePending, type Pending } from './pending.ts';
import type { SignInCode } from './problems.ts';
import type { Provider } from './provider.ts';
import { signInCodeOf, signInRefusal } from './refusals.ts';
import { returnPath } from './return-to.ts';
import { Sessions, type SessionStore, type SessionUser } from './sessions.ts';
import { requireSameOrigin, type Site, siteOf } from './sites.ts';

/** Everything about sign-in that a reload replaces. */
export interface SignInConfiguration {
  readonly settings: Pick<ServerSettings, 'publicUrl' | 'sessions' | 'trustedProxies' | 'tokens'>;
  /** The name of the provider on its button, and the provider; undefined: none is configured. */
  readonly oidc: { readonly name: string; readonly provider: Provider; close(): Promise<void> } | undefined;
  /** Returns the user of a token; undefined when it is not valid. */
  userOfToken(token: string): SessionUser | undefined;
  /** Returns the caller that a user is now; undefined when the token was removed, or the provider replaced. */
  callerOf(user: SessionUser, sessionEndsMs: EpochMs): Caller | undefined;
  /** Returns whether the caller has any role. */
  hasRole(caller: Caller): boolean;
}

interface SignInOptions {
  readonly configuration: SignInConfiguration;
  /** Whether the server itself has a certificate. */
  readonly isTls: boolean;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Returns the store of sessions that replicas share. Absent: sessions are in memory. */
  readonly sessions?: ((settings: () => SessionSettings) => SessionStore) | undefined;
}

/** The part of a request that sign-ins use. */
export interface SignInRequest {
  readonly headers: IncomingHttpHeaders;
  /** The other side of the connection. */
  readonly peer: string;
}

/** Parameters of the redirect from the provider. The library needs no others. */
const CALLBACK_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description'];

/** Signs browsers in, with a token or with OpenID Connect, and identifies them by their sessions. */
export class SignIn {
  readonly #options: SignInOptions;
  readonly #sessions: SessionStore;
  readonly #attempts: Attempts;
  #current: SignInConfiguration;

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#current = options.configuration;
    const settings = () => this.#current.settings.sessions;
    this.#sessions = options.sessions?.(settings) ?? new Sessions(options.clock, options.random, settings);
    this.#attempts = createAttempts(options.clock, options.limits);
  }

  /** Replaces the configuration, and ends the sessions of tokens and providers that were removed. */
  reload(next: SignInConfiguration): void {
    // Sign-ins that wait for the former provider still get its answer.
    void this.#current.oidc?.close();
    this.#current = next;
    this.#sessions.keep((user) => next.callerOf(user, 0) !== undefined);
  }

  /** Returns the ways to sign in. */
  ways() {
    const { settings, oidc } = this.#current;
    return { token: settings.tokens.length > 0, oidc: oidc === undefined ? null : { name: oidc.name } };
  }

  /** @throws RequestProblem 403 when the request is not from a page of the same origin. */
  checkOrigin(headers: IncomingHttpHeaders): Site {
    return requireSameOrigin(headers, this.#own());
  }

  /**
   * Returns the caller of a request with a session cookie; undefined when it has none.
   * @throws RequestProblem 403 when it is not from a page of the same origin, 401 when the session has ended.
   */
  async identify(headers: IncomingHttpHeaders): Promise<Identified | undefined> {
    const site = siteOf(headers, this.#own());
    const id = site === undefined ? undefined : sessionIdOf(headers, site);
    if (id === undefined) return undefined;
    this.checkOrigin(headers);
    const session = await this.#sessions.use(id);
    const caller = session === undefined ? undefined : this.#current.callerOf(session.user, session.endsMs);
    if (caller === undefined) throw signInRefusal('session-ended');
    return { caller, whenEnded: (unless, then) => this.#sessions.whenEnded(id, unless, then) };
  }

  /** Signs a browser in. @returns the cookie of its session. @throws RequestProblem */
  async withToken(token: string, request: SignInRequest): Promise<string> {
    const site = this.checkOrigin(request.headers);
    const succeed = this.#attempts.begin(this.#addressOf(request));
    const user = this.#current.userOfToken(token);
    if (user === undefined) throw signInRefusal('wrong-token');
    const cookie = await this.#startSession(user, request, site);
    succeed();
    return cookie;
  }

  /** Begins a sign-in with OpenID Connect. @returns the address to which the page goes, and a cookie. @throws RequestProblem */
  async begin(returnTo: unknown, request: SignInRequest): Promise<Redirect> {
    const { clock, limits } = this.#options;
    const site = this.checkOrigin(request.headers);
    const { oidc, settings } = this.#current;
    if (oidc === undefined) throw signInRefusal('oidc-off');
    // The provider sends the browser to publicUrl, which gets no cookie of another address.
    if (!isAt(site, settings.publicUrl)) throw signInRefusal('oidc-other-address');
    const succeed = this.#attempts.begin(this.#addressOf(request));
    const { location, checks } = await oidc.provider.begin();
    succeed();
    const { id: provider } = oidc.provider;
    const pending = encodePending({ ...checks, provider, returnTo: returnPath(returnTo), startedMs: clock.now() });
    const rules = { sameSite: 'Lax', maxAgeS: limits.signInMs / 1_000 } as const;
    return { location, cookies: [setCookie('sign-in', site, pending, rules)] };
  }

  /**
   * Completes a sign-in with OpenID Connect.
   * @returns the page that was wanted, or the sign-in page with the code of a problem.
   */
  async finish(query: unknown, request: SignInRequest): Promise<Redirect> {
    const { oidc, settings } = this.#current;
    if (oidc === undefined) throw signInRefusal('oidc-off');
    const site = siteOf(request.headers, this.#own());
    if (site === undefined || !isAt(site, settings.publicUrl)) throw signInRefusal('oidc-other-address');
    const pending = decodePending(cookieValue(request.headers.cookie, cookieName('sign-in', site)));
    const returnTo = pending?.returnTo ?? '/';
    const base = settings.publicUrl?.replace(/\/$/, '') ?? '';
    const forget = deleteCookie('sign-in', site);
    try {
      const cookie = await this.#complete(oidc.provider, callbackParameters(query), pending, { ...request, site });
      return { location: `${base}${returnTo}`, cookies: [forget, cookie] };
    } catch (error) {
      const code = error instanceof RequestProblem ? signInCodeOf(error) : undefined;
      if (code === undefined) throw error;
      const from = this.#addressOf(request);
      this.#options.log.warn('server: a sign-in with OpenID Connect failed', { code, from });
      return {
        location: `${base}/sign-in?${new URLSearchParams({ problem: code, return: returnTo })}`,
        cookies: [forget],
      };
    }
  }

  /** Ends the session of a browser. @returns the address at which it signs out of the provider, or null, and a cookie. */
  async end({
    headers,
  }: SignInRequest): Promise<{ readonly location: string | null; readonly cookies: readonly string[] }> {
    const site = this.checkOrigin(headers);
    const id = sessionIdOf(headers, site);
    const session = id === undefined ? undefined : await this.#sessions.use(id);
    if (id !== undefined) await this.#sessions.end(id);
    if (session !== undefined)
      this.#options.log.info('server: signed out', { by: session.user.name, via: session.user.via });
    const location = session?.user.via === 'oidc' ? await this.#current.oidc?.provider.signOutUrl() : undefined;
    return { location: location ?? null, cookies: [deleteCookie('session', site)] };
  }

  async #complete(
    provider: Provider,
    answer: URLSearchParams,
    pending: Pending | undefined,
    request: SignInRequest & { readonly site: Site },
  ): Promise<string> {
    const { clock, limits } = this.#options;
    // The answer to a sign-in of another browser would sign the user in as another user.
    const isOwn = pending?.provider === provider.id && isSame(answer.get('state') ?? '', pending.state);
    // Another replica may have begun it, whose clock differs.
    const ageMs = Math.abs(clock.now() - (pending?.startedMs ?? 0));
    if (pending === undefined || !isOwn || ageMs > limits.signInMs) throw signInRefusal('oidc-expired');
    const succeed = this.#attempts.begin(this.#addressOf(request));
    const { name, groups } = await provider.finish(answer, pending);
    const cookie = await this.#startSession(
      { via: 'oidc', name, groups, provider: provider.id },
      request,
      request.site,
    );
    succeed();
    return cookie;
  }

  /** Starts a session with a new id and ends the former one of this browser. @returns the cookie. */
  async #startSession(user: SessionUser, { headers }: SignInRequest, site: Site): Promise<string> {
    const caller = this.#current.callerOf(user, 0);
    if (caller === undefined || !this.#current.hasRole(caller)) throw signInRefusal('no-role');
    const former = sessionIdOf(headers, site);
    if (former !== undefined) await this.#sessions.end(former);
    const id = await this.#sessions.start(user);
    this.#options.log.info('server: signed in', { by: user.name, via: user.via });
    return setCookie('session', site, id, { sameSite: 'Strict' });
  }

  #own() {
    return { publicUrl: this.#current.settings.publicUrl, isTls: this.#options.isTls };
  }

  #addressOf({ headers, peer }: SignInRequest): string {
    const forwardedFor = headers['x-forwarded-for'];
    const text = typeof forwardedFor === 'string' ? forwardedFor : forwardedFor?.join(',');
    return clientAddress(peer, text, trustedProxies(this.#current.settings.trustedProxies));
  }
}

function sessionIdOf({ cookie }: IncomingHttpHeaders, site: Site): string | undefined {
  return cookieValue(cookie, cookieName('session', site));
}

/** Returns whether a site is that of `spec.server.publicUrl`. */
function isAt({ origin }: Site, publicUrl: string | undefined): boolean {
  return publicUrl !== undefined && origin === new URL(publicUrl).origin;
}

interface Redirect {
  readonly location: string;
  readonly cookies: readonly string[];
}

/** The caller of a request with a session. */
export interface Identified {
  readonly caller: Caller;
  /** Calls `then` once the session has ended, unless `unless` is aborted before. */
  whenEnded(unless: AbortSignal, then: () => void): void;
}

/** Returns the known parameters of the answer. @throws RequestProblem when one of them occurs twice. */
function callbackParameters(query: unknown): URLSearchParams {
  const answer = new URLSearchParams();
  for (const name of CALLBACK_PARAMETERS) {
    const value = (query as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) continue;
    if (typeof value !== 'string') throw signInRefusal('oidc-refused' satisfies SignInCode);
    answer.set(name, value);
  }
  return answer;
}

function isSame(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
