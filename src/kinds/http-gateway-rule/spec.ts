import {
  EXTENSION_EXPECTED,
  EXTENSION_PATTERN,
  nameOf,
  ONE_LINE_EXPECTED,
  ONE_LINE_PATTERN,
  type PropertiesOf,
} from '../schema.ts';

/** `configuration` of a rule: every field of the API's Configuration object. Applied on creation only, and no server shows it. */
export interface RuleConfigurationSpec {
  readonly proxyBodySize?: number;
  readonly proxyBufferNumbers?: number;
  readonly proxyBufferSize?: number;
  readonly proxyBuffering?: 'on' | 'off';
  readonly proxyConnectTimeout?: number;
  readonly proxyReadTimeout?: number;
  readonly proxySendTimeout?: number;
  readonly setHeaders?: readonly { readonly key: string; readonly value: string }[];
}

/** `spec:` of a `kind: HttpGatewayRule` manifest, defaults filled in. Identity of a new one: (component, port, protocol, domain, path). */
export interface HttpGatewayRuleSpec {
  readonly application: string;
  /** Name of a `Component` manifest of the same application. */
  readonly component: string;
  readonly port: number;
  readonly domain: string;
  readonly path: string;
  readonly weight?: number;
  /** `domain_cookie` */
  readonly cookie?: string;
  /** `domain_header` */
  readonly header?: string;
  /** Alias of a certificate of the team. At most one of this and `certificateId`. */
  readonly certificate?: string;
  readonly certificateId?: number;
  readonly autoSsl?: { readonly enabled?: boolean; readonly config?: string };
  /** `rule_extensions`: only the listing of all rules shows them. */
  readonly extensions?: readonly { readonly key: string; readonly value: string }[];
  /** `whether_open`: creating the rule opens outer access of its port. */
  readonly openOuter?: boolean;
  readonly configuration?: RuleConfigurationSpec;
  /** Absent: `hold`. */
  readonly onImmutableChange?: 'recreate' | 'hold';
}

const configurationNumber = (field: string, what: string) =>
  ({
    type: 'integer',
    minimum: 0,
    maximum: 2_147_483_647,
    description: `${what}: \`configuration.${field}\`. The platform's unit; its documents name none.`,
  }) as const;

const configurationSchema = {
  type: 'object',
  additionalProperties: false,
  description:
    'Advanced parameters: `configuration`. Applied only when the rule is created. No server shows them: compared with what was last applied.',
  properties: {
    proxyBodySize: configurationNumber('proxy_body_size', 'Largest request body'),
    proxyBufferNumbers: configurationNumber('proxy_buffer_numbers', 'Number of buffers for an answer'),
    proxyBufferSize: configurationNumber('proxy_buffer_size', 'Size of one buffer'),
    proxyBuffering: {
      type: 'string',
      enum: ['on', 'off'],
      description: 'Buffering of answers: `configuration.proxy_buffering`.',
    },
    proxyConnectTimeout: configurationNumber('proxy_connect_timeout', 'Time to connect to the component'),
    proxyReadTimeout: configurationNumber('proxy_read_timeout', 'Time between two reads of an answer'),
    proxySendTimeout: configurationNumber('proxy_send_timeout', 'Time between two writes of a request'),
    setHeaders: {
      type: 'array',
      maxItems: 100,
      description: 'Headers set on the way to the component: `configuration.set_headers`.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['key', 'value'],
        description: 'One header.',
        properties: {
          key: {
            type: 'string',
            pattern: '^[A-Za-z0-9_-]+$',
            maxLength: 128,
            description: 'Name of the header: `key`.',
            'x-expected': 'the name of a header: letters, digits, - and _, at most 128',
          },
          value: {
            type: 'string',
            pattern: ONE_LINE_PATTERN,
            maxLength: 4096,
            description: 'Value of the header: `value`.',
            'x-expected': ONE_LINE_EXPECTED,
          },
        },
      },
    },
  } satisfies PropertiesOf<RuleConfigurationSpec>,
} as const;

/** Whether a configuration leaves nothing to the platform: each of its fields has a value. */
export function isCompleteConfiguration(configuration: RuleConfigurationSpec | undefined): boolean {
  const names = Object.keys(configurationSchema.properties) as (keyof RuleConfigurationSpec)[];
  return configuration !== undefined && names.every((name) => configuration[name] !== undefined);
}

/** JSON Schema of `HttpGatewayRuleSpec`. */
export const httpGatewayRuleSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['application', 'component', 'port', 'domain'],
  description: 'One HTTP gateway rule: a domain and path that lead to a port of a component.',
  properties: {
    application: nameOf('Application'),
    component: {
      ...nameOf('Component'),
      description: 'metadata.name of a Component of the same application: `service_id`.',
    },
    port: { type: 'integer', minimum: 1, maximum: 65_535, description: 'Port of the component: `container_port`.' },
    domain: {
      type: 'string',
      pattern:
        '^(\\*\\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$',
      maxLength: 128,
      description: 'Domain: `domain_name`. Compared in lower case; the first label may be *.',
      'x-expected': 'a domain such as www.example.com or *.example.com, at most 128 characters',
    },
    path: {
      type: 'string',
      pattern: '^/[A-Za-z0-9._~!$&()*+,=:@%/|^-]*$',
      maxLength: 1024,
      default: '/',
      description: 'Path: `domain_path`.',
      'x-expected': 'a path that starts with /, without spaces, quotes, ;, ?, # or braces',
    },
    weight: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      description: 'Weight: `the_weight`. The platform assumes 100.',
    },
    cookie: {
      type: 'string',
      maxLength: 1024,
      pattern: ONE_LINE_PATTERN,
      description:
        'Only requests with this cookie: `domain_cookie`. Empty: all requests. An update sets it and cannot clear it.',
      'x-expected': ONE_LINE_EXPECTED,
    },
    header: {
      type: 'string',
      maxLength: 1024,
      pattern: ONE_LINE_PATTERN,
      description:
        'Only requests with this header: `domain_header`. Empty: all requests. Applied only when the rule is created.',
      'x-expected': ONE_LINE_EXPECTED,
    },
    certificate: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      pattern: ONE_LINE_PATTERN,
      description:
        'Certificate of the team, by its alias: looked up in the list of certificates (extended dialect) and sent as `certificate_id`. Exactly one certificate must have it. Not together with `certificateId`.',
      'x-expected': ONE_LINE_EXPECTED,
    },
    certificateId: {
      type: 'integer',
      minimum: 1,
      maximum: 9_007_199_254_740_991,
      description:
        'Certificate, by number: `certificate_id`. With one the rule is https, without it http. Not together with `certificate`.',
    },
    autoSsl: {
      type: 'object',
      additionalProperties: false,
      description: 'Certificates found or made by the platform.',
      properties: {
        enabled: { type: 'boolean', description: 'Match a certificate and upgrade to https by itself: `auto_ssl`.' },
        config: {
          type: 'string',
          minLength: 1,
          maxLength: 1024,
          pattern: ONE_LINE_PATTERN,
          description: 'How certificates are distributed: `auto_ssl_config`.',
          'x-expected': ONE_LINE_EXPECTED,
        },
      },
    },
    extensions: {
      type: 'array',
      maxItems: 100,
      description: 'Extensions of the rule: `rule_extensions`. Only the listing of all rules shows them.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['key', 'value'],
        description: 'One extension.',
        properties: {
          key: {
            type: 'string',
            pattern: EXTENSION_PATTERN,
            maxLength: 32,
            description: 'Name of the extension.',
            'x-expected': EXTENSION_EXPECTED,
          },
          value: {
            type: 'string',
            pattern: EXTENSION_PATTERN,
            maxLength: 32,
            description: 'Value of the extension.',
            'x-expected': EXTENSION_EXPECTED,
          },
        },
      },
    },
    openOuter: {
      type: 'boolean',
      description: 'Creating the rule also opens outer access of its port: `whether_open`.',
    },
    configuration: configurationSchema,
    onImmutableChange: {
      type: 'string',
      enum: ['recreate', 'hold'],
      default: 'hold',
      description:
        'A change that the platform applies only when it creates a rule (configuration, header, no cookie): hold it, or recreate the rule, which deletes it and creates it again. Requests to it fail in between.',
    },
  } satisfies PropertiesOf<HttpGatewayRuleSpec>,
} as const;
