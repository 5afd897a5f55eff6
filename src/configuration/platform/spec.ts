import {
  boolean,
  choice,
  integer,
  number,
  objectOf,
  type Schema,
  string,
  type TypeOf,
} from '../../model/schema-words.ts';
import type { JsonObject } from '../../model/json.ts';
import { duration, ONE_LINE, ONE_LINE_PATTERN, URL_RULES } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';

/** A reference to a secret; an inline secret is an error. */
export type SecretReference = { readonly env: string } | { readonly file: string };

/** Returns the schema of a reference to a secret. `x-secret` rejects an inline value and keeps it out of every message. */
export function secretReference(description: string): Schema<SecretReference> {
  return {
    ...objectOf(description, {
      'env?': string('Name of the environment variable that holds the secret.', {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        maxLength: 128,
        examples: ['PORTOLAN_TOKEN'],
        'x-secret': 'name',
        'x-expected': 'the NAME of an environment variable (letters, digits and _), not its value',
      }),
      'file?': string('Path of the file that holds the secret; one line break at its end is dropped.', {
        minLength: 1,
        maxLength: 4096,
        pattern: ONE_LINE_PATTERN,
        examples: ['/run/secrets/token'],
        'x-secret': 'name',
        'x-expected': 'the PATH of a file, not its content',
      }),
    }),
    oneOf: [{ required: ['env'] }, { required: ['file'] }],
    'x-secret': 'reference',
  } as JsonObject;
}

/** Returns the schema of the name of an HTTP header. */
export const headerName = (description: string) =>
  string(description, {
    pattern: '^[A-Za-z0-9-]+$',
    maxLength: 128,
    'x-expected': 'the name of a header: letters, digits and -',
  });

export const filePath = (description: string, expected: string = ONE_LINE['x-expected']) =>
  string(description, { minLength: 1, maxLength: 4096, ...ONE_LINE, 'x-expected': expected });

/** JSON Schema of `spec:` of the operator's `kind: Platform`. */
export const platformSchema = objectOf('How to reach one server of the API.', {
  url: string('Address of the platform, without /openapi/v1: `base_url` of every request.', URL_RULES),
  // Authentication is not documented, so header and value are free.
  'auth?': objectOf('One header that is sent with every request.', {
    header: headerName('Name of the header, often Authorization.'),
    value: secretReference('Value of the header, whole, by reference.'),
  }),
  dialect: choice(
    'Which endpoints the server has. auto asks it, with reads only.',
    ['auto', 'documented', 'extended'],
    { default: 'auto' },
  ),
  'tls?': objectOf('Trust in the server.', {
    'caFile?': filePath(
      'PEM file with the certificates to trust in addition to the built-in ones.',
      'the path of a PEM file',
    ),
  }),
  limits: objectOf(
    'How much is asked of the server.',
    {
      concurrency: integer(
        'Most requests in flight at once; fewer while the platform takes longer to answer because of them.',
        { minimum: 1, maximum: 1024, default: 16 },
      ),
      requestsPerSecond: number('Requests a second, over all scopes.', { minimum: 0.1, maximum: 100_000, default: 50 }),
      timeout: duration('How long a read may take. Writes have limits of their own.', { default: '30s' }),
    },
    { default: {} },
  ),
  allowPlainHttp: boolean('Allow http:// to a server that is not on this machine. The token then travels in clear.', {
    default: false,
  }),
});

/** The spec with its defaults. */
export type PlatformSpec = TypeOf<typeof platformSchema>;

/** The spec as the rest of the program uses it: durations are in milliseconds. */
export type PlatformSettings = Loaded<PlatformSpec>;
