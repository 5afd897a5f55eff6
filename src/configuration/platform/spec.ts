import type { DurationText } from '../../model/duration.ts';
import type { Loaded } from '../loaded.ts';
import {
  durationOr,
  ONE_LINE_PATTERN,
  type PropertiesOf,
  secretReferenceSchema,
  URL_EXPECTED,
  URL_PATTERN,
} from '../../kinds/schema.ts';

/** A secret by reference; an inline one is an error. */
export type SecretReference = { readonly env: string } | { readonly file: string };

/** `spec:` of the operator's `kind: Platform`, defaults filled in. */
export interface PlatformSpec {
  readonly url: string;
  /** Authentication is not documented: header and value are free. */
  readonly auth?: { readonly header: string; readonly value: SecretReference };
  readonly dialect: 'auto' | 'documented' | 'extended';
  readonly tls?: { readonly caFile?: string };
  readonly limits: {
    readonly concurrency: number;
    readonly requestsPerSecond: number;
    /** Of reads; writes have their own. */
    readonly timeout: DurationText;
  };
  /** http:// to anything but loopback needs this, and warns. */
  readonly allowPlainHttp: boolean;
}

/** As the rest of the program sees it. */
export type PlatformSettings = Loaded<PlatformSpec>;

/** JSON Schema of `PlatformSpec`. */
export const platformSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['url'],
  description: 'How to reach one server of the API.',
  properties: {
    url: {
      type: 'string',
      pattern: URL_PATTERN,
      maxLength: 2048,
      description: 'Address of the platform, without /openapi/v1: `base_url` of every request.',
      'x-expected': URL_EXPECTED,
    },
    auth: {
      type: 'object',
      additionalProperties: false,
      required: ['header', 'value'],
      description: 'One header that is sent with every request.',
      properties: {
        header: {
          type: 'string',
          pattern: '^[A-Za-z0-9-]+$',
          maxLength: 128,
          description: 'Name of the header, often Authorization.',
          'x-expected': 'the name of a header: letters, digits and -',
        },
        value: { ...secretReferenceSchema, description: 'Value of the header, whole, by reference.' },
      },
    },
    dialect: {
      type: 'string',
      enum: ['auto', 'documented', 'extended'],
      default: 'auto',
      description: 'Which endpoints the server has. auto asks it, with reads only.',
    },
    tls: {
      type: 'object',
      additionalProperties: false,
      description: 'Trust in the server.',
      properties: {
        caFile: {
          type: 'string',
          minLength: 1,
          maxLength: 4096,
          pattern: ONE_LINE_PATTERN,
          description: 'PEM file with the certificates to trust in addition to the built-in ones.',
          'x-expected': 'the path of a PEM file',
        },
      },
    },
    limits: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'How much is asked of the server.',
      properties: {
        concurrency: {
          type: 'integer',
          minimum: 1,
          maximum: 1024,
          default: 16,
          description:
            'Most requests in flight at once; fewer while the platform takes longer to answer because of them.',
        },
        requestsPerSecond: {
          type: 'number',
          minimum: 0.1,
          maximum: 100_000,
          default: 50,
          description: 'Requests a second, over all scopes.',
        },
        timeout: durationOr('30s', 'How long a read may take. Writes have limits of their own.'),
      },
    },
    allowPlainHttp: {
      type: 'boolean',
      default: false,
      description: 'Allow http:// to a server that is not on this machine. The token then travels in clear.',
    },
  } satisfies PropertiesOf<PlatformSpec>,
} as const;
