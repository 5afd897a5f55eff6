import { isIP } from 'node:net';
import type { OtherResources, SpecProblem } from '../../kinds/kind.ts';
import { problemAt, repeats } from '../../kinds/problems.ts';
import { arrayOf, boolean, choice, integer, objectOf, section, string, type TypeOf } from '../../model/schema-words.ts';
import { NAME } from '../../kinds/schema.ts';
import type { Loaded } from '../loaded.ts';
import { ROLE_DESCRIPTION, roleProblems, ROLES, rolesSchema } from './roles-spec.ts';
import { filePath, secretReference } from '../platform/spec.ts';
import { oidcSchema, publicUrlSchema, sessionsSchema, signInProblems } from './sign-in-spec.ts';

export const LISTEN_DEFAULT = '127.0.0.1:7780';

const pemFile = (what: string) =>
  filePath(`Path of the file with ${what}, in PEM form; read again on reload.`, 'the path of a file');

const tokenSchema = objectOf('One token.', {
  name: string('Name of the user, for the history and the log.', NAME),
  'role?': choice(`Role for everything. Absent: only the roles in spec.server.roles. ${ROLE_DESCRIPTION}`, ROLES),
  value: secretReference('The token, at least 16 characters, by reference.'),
});

export type ServerToken = TypeOf<typeof tokenSchema>;

const webhookSchema = objectOf('One sender.', {
  name: string('The last segment of its address.', NAME),
  type: choice('The form of the signature. generic: X-Portolan-Signature: sha256=<HMAC-SHA256 of the body in hex>.', [
    'github',
    'gitlab',
    'gitea',
    'generic',
  ]),
  secret: secretReference('The key of the signature, at least 16 characters, by reference.'),
});

export type ServerWebhook = TypeOf<typeof webhookSchema>;

/** JSON Schema of `spec.server` of Settings. */
export const serverSchema = section('The HTTP API of the daemon.', {
  listen: string(
    'Address and port; port 0 means any free port. Other machines can reach the server only if this is not a loopback address.',
    {
      maxLength: 256,
      pattern: '^([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}$',
      default: LISTEN_DEFAULT,
      'x-expected': 'address:port, such as 127.0.0.1:7780 or [::]:7780',
    },
  ),
  hosts: arrayOf(
    string('Host name, without port.', {
      maxLength: 253,
      pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$',
      'x-expected': 'the name of a host, such as portolan.example.com',
    }),
    {
      maxItems: 100,
      default: [],
      description: 'Host names that clients use. Addresses and localhost are always accepted.',
    },
  ),
  'publicUrl?': publicUrlSchema,
  'tls?': objectOf('Certificate of the server. Absent: plain HTTP.', {
    certFile: pemFile('the certificate and its chain'),
    keyFile: pemFile('its private key'),
  }),
  tokens: arrayOf(tokenSchema, {
    maxItems: 1000,
    default: [],
    description: 'Bearer tokens. Without one, only /healthz and /readyz answer.',
  }),
  sessions: sessionsSchema,
  'oidc?': oidcSchema,
  roles: rolesSchema,
  webhooks: arrayOf(webhookSchema, {
    maxItems: 100,
    default: [],
    description: 'Senders that may report at /webhooks/<name> that the source has changed.',
  }),
  metrics: section('The metrics at /metrics.', {
    public: boolean('Whether they can be read without a token.', { default: false }),
  }),
  'dashboard?': boolean(
    'Whether the server has the dashboard, the web pages for browsers. Absent: if there is a way to sign in (tokens or oidc).',
  ),
  maxStreams: integer('Maximum number of open event streams. Each browser with the dashboard has one.', {
    minimum: 0,
    maximum: 10_000,
    default: 128,
  }),
  connectionsPerAddress: integer(
    'Maximum number of connections of one address. A further connection replaces the oldest one without a complete request. The default is a quarter of the 1024 connections of the server, so that one address cannot use all.',
    { minimum: 1, maximum: 1024, default: 256 },
  ),
  planRequests: integer(
    'Maximum number of requests to platforms for one plan of the API. The default is the number of requests in 2 minutes, the time limit of a plan, at the default of 50 requests per second.',
    { minimum: 1, maximum: 1_000_000, default: 6_000 },
  ),
  trustedProxies: arrayOf(
    string('An address or a network.', {
      maxLength: 49,
      pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$',
      'x-expected': 'an address or a network, such as 10.0.0.0/8',
    }),
    {
      maxItems: 100,
      default: [],
      description:
        'Proxies in front of the server, to which connectionsPerAddress does not apply. Sign-ins are limited by the client address that they report (X-Forwarded-For).',
    },
  ),
});

type ServerSpec = TypeOf<typeof serverSchema>;

/** The HTTP API of the daemon. */
export type ServerSettings = Loaded<ServerSpec>;

const PORT_MAX = 65_535;

export function serverProblems(spec: ServerSpec, set: OtherResources): readonly SpecProblem[] {
  const { listen, tokens, webhooks, trustedProxies } = spec;
  const path = 'spec.server';
  const port = Number(listen.slice(listen.lastIndexOf(':') + 1));
  const badPort = problemAt(
    `${path}.listen`,
    'settings/listen',
    `there is no port ${port}`,
    `a port from 0 to ${PORT_MAX}`,
  );
  const badProxies = trustedProxies.flatMap((proxy, at) => {
    if (isNetwork(proxy)) return [];
    const message = `${proxy} is neither an address nor a network`;
    const expected = 'an address or a network, such as 10.0.0.0/8';
    return problemAt(`${path}.trustedProxies[${at}]`, 'settings/trusted-proxy', message, expected);
  });
  return [
    ...(port <= PORT_MAX ? [] : badPort),
    ...badProxies,
    ...duplicates(tokens, `${path}.tokens`),
    ...duplicates(webhooks, `${path}.webhooks`),
    ...signInProblems(spec, path),
    ...roleProblems(spec, set),
  ];
}

/** Returns whether a text is an address or a network: `10.0.0.0/8`, `fd00::/8`, `192.0.2.1`. */
function isNetwork(text: string): boolean {
  const [address = '', prefix] = text.split('/');
  const family = isIP(address);
  return family !== 0 && (prefix === undefined || Number(prefix) <= (family === 6 ? 128 : 32));
}

/** Returns the problems of duplicate names. A name identifies one user or one sender. */
function duplicates(named: readonly { readonly name: string }[], path: string): readonly SpecProblem[] {
  return repeats(named.map(({ name }) => name)).flatMap(({ value, index }) => {
    const message = `the name ${value} is used twice`;
    return problemAt(`${path}[${index}].name`, 'settings/double-name', message, 'a name of its own for each');
  });
}
