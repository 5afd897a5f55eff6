import type { SecretReference } from '../platform/spec.ts';
import {
  NAME_EXPECTED,
  NAME_LENGTH_MAX,
  NAME_PATTERN,
  ONE_LINE_PATTERN,
  type PropertiesOf,
  type SchemaOf,
  secretReferenceSchema,
} from '../../kinds/schema.ts';

/** Each may do what those before it may: look; sync, suspend, resume, approve and see the ledger; everything. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** `github`, `gitlab` and `gitea` sign as those do; `generic`: `X-Portolan-Signature: sha256=<HMAC of the body, hex>`. */
export type WebhookType = 'github' | 'gitlab' | 'gitea' | 'generic';

export interface ServerToken {
  /** Who it is, for the history and the log. */
  readonly name: string;
  readonly role: Role;
  readonly value: SecretReference;
}

export interface ServerWebhook {
  /** The last word of its address, `/webhooks/<name>`. */
  readonly name: string;
  readonly type: WebhookType;
  readonly secret: SecretReference;
}

/** The HTTP API of the daemon. */
export interface ServerSettings {
  /** `address:port`. Default `127.0.0.1:7780`. */
  readonly listen: string;
  /** Names by which clients call it, besides addresses and localhost: a page that got another name is refused. */
  readonly hosts: readonly string[];
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  readonly tokens: readonly ServerToken[];
  readonly webhooks: readonly ServerWebhook[];
  readonly metrics: {
    /** `/metrics` without a token. Default false. */
    readonly public: boolean;
  };
  /** Event streams open at once. */
  readonly maxStreams: number;
  /** Connections of one address that is not among `trustedProxies`. Default 256. */
  readonly connectionsPerAddress: number;
  /** Requests to platforms that one plan of the API may make. Default 6,000. */
  readonly planRequests: number;
  /** Addresses and networks of proxies, from which many clients connect: `10.0.0.0/8`, `::1`. */
  readonly trustedProxies: readonly string[];
}

export const LISTEN_DEFAULT = '127.0.0.1:7780';

const pemFile = (what: string) =>
  ({
    type: 'string',
    minLength: 1,
    maxLength: 4096,
    pattern: ONE_LINE_PATTERN,
    description: `Path of the file with ${what}, in PEM form; read again on reload.`,
    'x-expected': 'the path of a file',
  }) as const;

const ownName = (description: string) =>
  ({
    type: 'string',
    pattern: NAME_PATTERN,
    maxLength: NAME_LENGTH_MAX,
    description,
    'x-expected': NAME_EXPECTED,
  }) as const;

/** JSON Schema of `ServerSettings`. */
export const serverSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  description: 'The HTTP API of the daemon.',
  properties: {
    listen: {
      type: 'string',
      maxLength: 256,
      pattern: '^([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}$',
      default: LISTEN_DEFAULT,
      description: 'Address and port; port 0 is any free one. Other machines reach it only if this is not loopback.',
      'x-expected': 'address:port, such as 127.0.0.1:7780 or [::]:7780',
    },
    hosts: {
      type: 'array',
      maxItems: 100,
      default: [],
      description: 'Names by which clients call it. Addresses and localhost need not stand here.',
      items: {
        type: 'string',
        maxLength: 253,
        pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$',
        description: 'Name of a host, without port.',
        'x-expected': 'the name of a host, such as portolan.example.com',
      },
    },
    tls: {
      type: 'object',
      additionalProperties: false,
      required: ['certFile', 'keyFile'],
      description: 'Certificate of the server. Absent: plain HTTP.',
      properties: { certFile: pemFile('the certificate and its chain'), keyFile: pemFile('its private key') },
    },
    tokens: {
      type: 'array',
      maxItems: 1000,
      default: [],
      description: 'Bearer tokens. Without one, nothing but /healthz and /readyz answers.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'role', 'value'],
        description: 'One token.',
        properties: {
          name: ownName('Who it is, for the history and the log.'),
          role: {
            type: 'string',
            enum: ROLES,
            description:
              'viewer: look and plan. operator: also sync, suspend, resume, approve and see the ledger. admin: everything.',
          },
          value: { ...secretReferenceSchema, description: 'The token, at least 16 characters, by reference.' },
        },
      },
    },
    webhooks: {
      type: 'array',
      maxItems: 100,
      default: [],
      description: 'Who may say, at /webhooks/<name>, that the source has changed.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'type', 'secret'],
        description: 'One sender.',
        properties: {
          name: ownName('The last word of its address.'),
          type: {
            type: 'string',
            enum: ['github', 'gitlab', 'gitea', 'generic'],
            description: 'How it signs. generic: X-Portolan-Signature: sha256=<HMAC-SHA256 of the body in hex>.',
          },
          secret: {
            ...secretReferenceSchema,
            description: 'What it signs with, at least 16 characters, by reference.',
          },
        },
      },
    },
    metrics: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'The metrics at /metrics.',
      properties: {
        public: { type: 'boolean', default: false, description: 'Whether they are shown without a token.' },
      },
    },
    maxStreams: {
      type: 'integer',
      minimum: 0,
      maximum: 10_000,
      default: 32,
      description: 'Event streams open at once.',
    },
    connectionsPerAddress: {
      type: 'integer',
      minimum: 1,
      maximum: 1024,
      default: 256,
      description:
        'Connections of one address. Over it, a new connection replaces the oldest one without a whole request. A quarter of the 1024 connections of the server, so that one address cannot take them all.',
    },
    planRequests: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      default: 6_000,
      description:
        'Requests to platforms that one plan of the API may make. The default is what a platform with the default of 50 requests a second answers before a plan is ended, after 2 minutes.',
    },
    trustedProxies: {
      type: 'array',
      maxItems: 100,
      default: [],
      description: 'Proxies in front of the server, to which connectionsPerAddress does not apply.',
      items: {
        type: 'string',
        maxLength: 49,
        pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$',
        description: 'An address or a network.',
        'x-expected': 'an address or a network, such as 10.0.0.0/8',
      },
    },
  } satisfies PropertiesOf<ServerSettings>,
} as const satisfies SchemaOf<ServerSettings>;
