import { arrayOf, boolean, choice, integer, objectOf, string, type TypeOf } from '../../model/schema-words.ts';
import { ID_RULES, nameOf, ONE_LINE, PORT_RULES } from '../schema.ts';

const configurationNumber = (field: string, what: string) =>
  integer(`${what}: \`configuration.${field}\`. The platform's unit; its documents name none.`, {
    minimum: 0,
    maximum: 2_147_483_647,
  });

/** `configuration` of a rule: every field of the API's Configuration object. Applied on creation only, and no server shows it. */
const configurationSchema = objectOf(
  'Advanced parameters: `configuration`. Applied only when the rule is created. No server shows them: compared with what was last applied.',
  {
    'proxyBodySize?': configurationNumber('proxy_body_size', 'Largest request body'),
    'proxyBufferNumbers?': configurationNumber('proxy_buffer_numbers', 'Number of buffers for an answer'),
    'proxyBufferSize?': configurationNumber('proxy_buffer_size', 'Size of one buffer'),
    'proxyBuffering?': choice('Buffering of answers: `configuration.proxy_buffering`.', ['on', 'off']),
    'proxyConnectTimeout?': configurationNumber('proxy_connect_timeout', 'Time to connect to the component'),
    'proxyReadTimeout?': configurationNumber('proxy_read_timeout', 'Time between two reads of an answer'),
    'proxySendTimeout?': configurationNumber('proxy_send_timeout', 'Time between two writes of a request'),
    'setHeaders?': arrayOf(
      objectOf('One header.', {
        key: string('Name of the header: `key`.', {
          pattern: '^[A-Za-z0-9_-]+$',
          maxLength: 128,
          'x-expected': 'the name of a header: letters, digits, - and _, at most 128',
        }),
        value: string('Value of the header: `value`.', { maxLength: 4096, ...ONE_LINE }),
      }),
      { maxItems: 100, description: 'Headers set on the way to the component: `configuration.set_headers`.' },
    ),
  },
);

export type RuleConfiguration = TypeOf<typeof configurationSchema>;

/** Returns whether each field of a configuration has a value, so that no default of the platform applies. */
export function isCompleteConfiguration(configuration: RuleConfiguration | undefined): boolean {
  const names = Object.keys(configurationSchema.properties) as (keyof RuleConfiguration)[];
  return configuration !== undefined && names.every((name) => configuration[name] !== undefined);
}

/** The server may later evaluate these texts as code, so only harmless characters are valid. */
const EXTENSION = {
  pattern: '^[A-Za-z0-9_.-]{1,32}$',
  maxLength: 32,
  'x-expected': 'letters, digits, _, . and -, 1 to 32 of them',
};

/** JSON Schema of `spec:` of a `kind: HttpGatewayRule` manifest. */
export const httpGatewayRuleSchema = objectOf(
  'One HTTP gateway rule: a domain and path that lead to a port of a component.',
  {
    application: nameOf('Application'),
    component: nameOf('Component', 'metadata.name of a Component of the same application: `service_id`.'),
    port: integer('Port of the component: `container_port`.', PORT_RULES),
    domain: string('Domain: `domain_name`. Compared in lower case; the first label may be *.', {
      pattern:
        '^(\\*\\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$',
      maxLength: 128,
      'x-expected': 'a domain such as www.example.com or *.example.com, at most 128 characters',
    }),
    path: string('Path: `domain_path`.', {
      pattern: '^/[A-Za-z0-9._~!$&()*+,=:@%/|^-]*$',
      maxLength: 1024,
      default: '/',
      'x-expected': 'a path that starts with /, without spaces, quotes, ;, ?, # or braces',
    }),
    'weight?': integer('Weight: `the_weight`. The platform assumes 100.', { minimum: 0, maximum: 100 }),
    'cookie?': string(
      'Only requests with this cookie: `domain_cookie`. Empty: all requests. An update sets it and cannot clear it.',
      { maxLength: 1024, ...ONE_LINE },
    ),
    'header?': string(
      'Only requests with this header: `domain_header`. Empty: all requests. Applied only when the rule is created.',
      { maxLength: 1024, ...ONE_LINE },
    ),
    'certificate?': string(
      'Certificate of the team, by its alias: looked up in the list of certificates (extended dialect) and sent as `certificate_id`. Exactly one certificate must have it. Not together with `certificateId`.',
      { minLength: 1, maxLength: 255, ...ONE_LINE },
    ),
    'certificateId?': integer(
      'Certificate, by number: `certificate_id`. With one the rule is https, without it http. Not together with `certificate`.',
      ID_RULES,
    ),
    'autoSsl?': objectOf('Certificates found or made by the platform.', {
      'enabled?': boolean('Match a certificate and upgrade to https by itself: `auto_ssl`.'),
      'config?': string('How certificates are distributed: `auto_ssl_config`.', {
        minLength: 1,
        maxLength: 1024,
        ...ONE_LINE,
      }),
    }),
    'extensions?': arrayOf(
      objectOf('One extension.', {
        key: string('Name of the extension.', EXTENSION),
        value: string('Value of the extension.', EXTENSION),
      }),
      {
        maxItems: 100,
        description: 'Extensions of the rule: `rule_extensions`. Only the listing of all rules shows them.',
      },
    ),
    'openOuter?': boolean('Creating the rule also opens outer access of its port: `whether_open`.'),
    'configuration?': configurationSchema,
    'onImmutableChange?': choice(
      'A change that the platform applies only when it creates a rule (configuration, header, no cookie): hold it, or recreate the rule, which deletes it and creates it again. Requests to it fail in between.',
      ['recreate', 'hold'],
      { default: 'hold' },
    ),
  },
);

/** A spec with its defaults filled in. Identity of a new rule: (component, port, protocol, domain, path). */
export type HttpGatewayRuleSpec = TypeOf<typeof httpGatewayRuleSchema>;
