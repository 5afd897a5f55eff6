import * as s from '../../model/schema-words.ts';
import type { JsonObject } from '../../model/json.ts';
import { duration, ONE_LINE, ONE_LINE_PATTERN, URL_RULES } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';

/** A reference to a secret; an inline secret is an error. */
export type SecretReference = { readonly env: string } | { readonly file: string } | { readonly sops: string };

/** Returns the schema of a reference to a secret. `x-secret` rejects an inline value and keeps it out of every message. */
export function secretReference(description: string): s.Schema<SecretReference> {
  return {
    ...s.objectOf(description, {
      'env?': s.string('Name of the environment variable that contains the secret.', {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        maxLength: 128,
        examples: ['PORTOLAN_TOKEN'],
        'x-secret': 'name',
        'x-expected': 'the NAME of an environment variable (letters, digits and _), not its value',
      }),
      'file?': s.string('Path of the file that contains the secret. One line break at its end is removed.', {
        minLength: 1,
        maxLength: 4096,
        pattern: ONE_LINE_PATTERN,
        examples: ['/run/secrets/token'],
        'x-secret': 'name',
        'x-expected': 'the PATH of a file, not its content',
      }),
      'sops?': s.string(
        'FILE#KEY: a YAML or JSON file that SOPS has encrypted for an age key, and the key of the secret in it (keys in keys are joined with dots).',
        {
          maxLength: 4096,
          pattern:
            '^[^#\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+#[^#\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$',
          examples: ['secrets.sops.yaml#stores.main'],
          'x-secret': 'name',
          'x-expected': 'the PATH of a file that SOPS has encrypted, a # and a key in it',
        },
      ),
    }),
    oneOf: [{ required: ['env'] }, { required: ['file'] }, { required: ['sops'] }],
    'x-secret': 'reference',
  } as JsonObject;
}

/** Returns the schema of the name of an HTTP header. */
export const headerName = (description: string) =>
  s.string(description, {
    pattern: '^[A-Za-z0-9-]+$',
    maxLength: 128,
    'x-expected': 'the name of a header: letters, digits and -',
  });

export const filePath = (description: string, expected: string = ONE_LINE['x-expected']) =>
  s.string(description, { minLength: 1, maxLength: 4096, ...ONE_LINE, 'x-expected': expected });

/** JSON Schema of `spec:` of the operator's `kind: Platform`. */
export const platformSchema = s.objectOf('The address of one server of the API, and its limits.', {
  url: s.string('Address of the platform, without /openapi/v1: `base_url` of every request.', URL_RULES),
  // Authentication is not documented, so header and value are free.
  'auth?': s.objectOf('One header that is sent with every request.', {
    header: headerName('Name of the header, often Authorization.'),
    value: secretReference('The whole value of the header, by reference.'),
  }),
  dialect: s.choice(
    'The endpoints that the server has. auto detects them with reads only.',
    ['auto', 'documented', 'extended'],
    { default: 'auto' },
  ),
  'tls?': s.objectOf('The certificates to trust.', {
    'caFile?': filePath(
      'PEM file with the certificates to trust in addition to the built-in ones.',
      'the path of a PEM file',
    ),
  }),
  limits: s.section('The limits for requests to the server.', {
    concurrency: s.integer(
      'Maximum number of concurrent requests. It is reduced while the platform answers more slowly because of them.',
      { minimum: 1, maximum: 1024, default: 16 },
    ),
    requestsPerSecond: s.number('Maximum number of requests per second, over all scopes.', {
      minimum: 0.1,
      maximum: 100_000,
      default: 50,
    }),
    timeout: duration('Time limit of a read. Writes have their own limits.', { default: '30s' }),
  }),
  allowPlainHttp: s.boolean('Allow http:// to a server on another machine. The token is then sent unencrypted.', {
    default: false,
  }),
});

/** The spec with its defaults. */
export type PlatformSpec = s.TypeOf<typeof platformSchema>;

/** The spec as the rest of the program uses it: durations are in milliseconds. */
export type PlatformSettings = Loaded<PlatformSpec>;
