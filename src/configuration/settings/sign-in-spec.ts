import { problemAt, durationProblems } from '../../kinds/problems.ts';
import type { SpecProblem } from '../../kinds/kind.ts';
import { duration, ONE_LINE, URL_RULES } from '../../kinds/schema.ts';
import { durationMsOf } from '../../model/duration.ts';
import { arrayOf, integer, objectOf, section, string, type TypeOf } from '../../model/schema-words.ts';
import { addressProblems } from '../addresses.ts';
import { forbiddenHost } from '../forbidden-hosts.ts';
import type { Loaded } from '../loaded.ts';
import { filePath, secretReference } from '../platform/spec.ts';

/** JSON Schema of `spec.server.publicUrl` of Settings. */
export const publicUrlSchema = string(
  'Address of the dashboard in a browser, such as https://portolan.example.com, or with a path if a proxy adds one. Its host name is accepted like those in hosts. Needed for OpenID Connect, and behind a proxy that ends TLS.',
  { ...URL_RULES, 'x-expected': 'an address such as https://portolan.example.com, without user, query or fragment' },
);

/** JSON Schema of `spec.server.sessions` of Settings. */
export const sessionsSchema = section(
  'Sessions of the dashboard. With a ledger in a file, they end when the controller stops; with one in PostgreSQL, all replicas share them.',
  {
    idle: duration('A session ends after this time without a request. An open event stream does not extend it.', {
      default: '2h',
    }),
    lifetime: duration('A session ends after this time in any case.', { default: '12h' }),
    max: integer('Maximum number of sessions. Further sign-ins are refused until a session ends.', {
      minimum: 1,
      maximum: 100_000,
      default: 1_000,
    }),
  },
);

/** JSON Schema of `spec.server.oidc` of Settings. */
export const oidcSchema = objectOf('Sign-in to the dashboard with an OpenID Connect provider. Requires publicUrl.', {
  name: string('Name of the provider, for the button "Sign in with NAME".', {
    minLength: 1,
    maxLength: 64,
    ...ONE_LINE,
    default: 'OpenID Connect',
  }),
  issuer: string(
    'Address of the provider: the issuer in its metadata, which are read from /.well-known/openid-configuration there.',
    URL_RULES,
  ),
  clientId: string(
    'Id of Portolan at the provider. Register the redirect address publicUrl/auth/callback, and publicUrl/sign-in for the sign-out.',
    { minLength: 1, maxLength: 256, ...ONE_LINE },
  ),
  'clientSecret?': secretReference(
    'Secret of the client, by reference. Absent: a public client, which only uses PKCE.',
  ),
  scopes: arrayOf(
    string('Name of a scope.', { maxLength: 128, pattern: '^[!#-\\[\\]-~]+$', 'x-expected': 'a name without spaces' }),
    {
      maxItems: 50,
      default: ['profile', 'email'],
      description: 'Scopes that are requested in addition to openid.',
    },
  ),
  userClaim: string(
    'Claim with the name of the user, for role bindings, the history and the log. It must be unique, and users must not be able to change it. An email that the provider has not verified is refused.',
    { minLength: 1, maxLength: 256, ...ONE_LINE, default: 'email' },
  ),
  groupsClaim: string('Claim with the groups of the user: a text or a list of texts, for role bindings.', {
    minLength: 1,
    maxLength: 256,
    ...ONE_LINE,
    default: 'groups',
  }),
  'tls?': objectOf('The certificates to trust.', {
    'caFile?': filePath(
      'PEM file with the certificates to trust in addition to the built-in ones.',
      'the path of a PEM file',
    ),
  }),
});

export type OidcSettings = TypeOf<typeof oidcSchema>;
export type SessionSettings = Loaded<TypeOf<typeof sessionsSchema>>;

interface SignInSpec {
  readonly publicUrl?: string;
  readonly sessions: TypeOf<typeof sessionsSchema>;
  readonly oidc?: OidcSettings;
}

const LIFETIME = { code: 'schema/duration', longestMs: 720 * 3600 * 1000, expected: 'more than 0s and at most 720h' };

/** Returns the problems of sign-in settings that their schemas cannot detect. @param path `spec.server`. */
export function signInProblems({ publicUrl, sessions, oidc }: SignInSpec, path: string): readonly SpecProblem[] {
  const { idle, lifetime } = sessions;
  return [
    ...(publicUrl === undefined ? [] : addressProblems(publicUrl, 'never', `${path}.publicUrl`)),
    ...durationProblems(idle, `${path}.sessions.idle`, LIFETIME),
    ...durationProblems(lifetime, `${path}.sessions.lifetime`, LIFETIME),
    ...(durationMsOf(idle) <= durationMsOf(lifetime)
      ? []
      : problemAt(
          `${path}.sessions.idle`,
          'settings/idle-session',
          `a session ends after ${lifetime} in any case, so ${idle} has no effect`,
          'at most sessions.lifetime',
        )),
    ...(oidc === undefined ? [] : oidcProblems(oidc, publicUrl, `${path}.oidc`)),
  ];
}

function oidcProblems({ issuer }: OidcSettings, publicUrl: string | undefined, path: string): readonly SpecProblem[] {
  return [
    ...addressProblems(issuer, 'never', `${path}.issuer`),
    ...forbiddenHost(issuer, `${path}.issuer`),
    ...(publicUrl === undefined
      ? problemAt(
          path,
          'settings/oidc-without-public-url',
          'the provider must know the address to which it sends the user back',
          'spec.server.publicUrl in the same document',
          'set publicUrl: https://HOST, and register https://HOST/auth/callback at the provider',
        )
      : []),
  ];
}
