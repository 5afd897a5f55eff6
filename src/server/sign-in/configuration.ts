import type { ServerSettings } from '../../configuration/settings/server-spec.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import { readAuthorities } from '../certificates.ts';
import type { Authorizer } from '../permissions.ts';
import type { OpenSecret, Tokens } from '../tokens.ts';
import { Provider } from './provider.ts';
import { createProviderFetch } from './provider-fetch.ts';
import type { SignInConfiguration } from './sign-in.ts';

interface Around {
  readonly openSecret: OpenSecret;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly redact: (text: string) => string;
  /** Aborted when the server closes. */
  readonly signal: AbortSignal;
}

/**
 * Returns what sign-ins need of the settings.
 * @throws PortolanError `invalid` when a secret is missing or a certificate cannot be read.
 */
export function openSignIn(
  settings: ServerSettings,
  tokens: Tokens & { readonly permissionsOf: Authorizer },
  around: Around,
): SignInConfiguration {
  const oidc = openProvider(settings, around);
  return {
    settings,
    oidc,
    userOfToken: (token) => {
      const name = tokens.ownerOf(token)?.name;
      const fingerprint = name === undefined ? undefined : tokens.fingerprintOf(name);
      return name === undefined || fingerprint === undefined ? undefined : { via: 'token', name, fingerprint };
    },
    callerOf: (user, sessionEndsMs) => {
      const { via, name } = user;
      const isValid =
        via === 'token' ? tokens.fingerprintOf(name) === user.fingerprint : oidc?.provider.id === user.provider;
      return isValid ? { via, name, groups: via === 'token' ? [] : user.groups, sessionEndsMs } : undefined;
    },
    hasRole: (caller) => tokens.permissionsOf(caller).has('viewer'),
  };
}

function openProvider(
  { oidc, publicUrl }: ServerSettings,
  { openSecret, clock, random, log, redact, signal }: Around,
): SignInConfiguration['oidc'] {
  if (oidc === undefined || publicUrl === undefined) return undefined;
  const where = 'spec.server.oidc';
  const { send, close } = createProviderFetch(clock, readAuthorities(oidc.tls?.caFile, `${where}.tls.caFile`), signal);
  const provider = new Provider({
    settings: oidc,
    publicUrl: publicUrl.replace(/\/$/, ''),
    clientSecret:
      oidc.clientSecret === undefined ? undefined : openSecret(oidc.clientSecret, `Settings ${where}.clientSecret`),
    send,
    clock,
    random,
    onFailure: (code, reason) => {
      log.warn('server: the OpenID Connect provider failed a sign-in', { code, reason: redact(reason) });
    },
  });
  return { name: oidc.name, provider, close };
}
