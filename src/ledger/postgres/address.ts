import { invalidInput, type PortolanError } from '../../model/errors.ts';

/** The place of a ledger in PostgreSQL, from an URL such as `postgres://portolan@db.example.com/portolan`. */
export interface PostgresAddress {
  /** Host name, IP address, or the folder of a socket, which begins with a slash. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** The tables are in this schema of the database. */
  readonly schema: string;
  readonly tls: TlsMode;
  /** Path of the CA certificates (PEM) that the server is checked against; by default those of Node. */
  readonly rootCertificate: string | undefined;
  /** Paths of the client certificate and of its key (PEM). */
  readonly clientCertificate: string | undefined;
  readonly clientKey: string | undefined;
  /** Path of a file that contains the password and nothing else. */
  readonly passwordFile: string | undefined;
  /** The URL for messages. It never contains a secret. */
  readonly location: string;
}

/** Names how the server is checked, as libpq does. `verify-ca` does not compare the host name with the certificate. */
export type TlsMode = 'disable' | 'verify-ca' | 'verify-full';

const TLS_MODES: readonly string[] = ['disable', 'verify-ca', 'verify-full'] satisfies readonly TlsMode[];
const DEFAULT_PORT = 5432;
const DEFAULT_SCHEMA = 'portolan';
const PARAMETERS: readonly string[] = ['schema', 'host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'passwordFile'];

/**
 * Parses the URL of a ledger. TLS with a verified server is the default for everything but loopback and sockets.
 * @throws PortolanError `invalid`. No message contains the URL, because it may contain a password.
 */
export function parseAddress(text: string): PostgresAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && url.password !== '') throw inlinePassword();
  if (namesSeveralHosts(text, url)) throw severalHosts();
  if (url === undefined) throw badAddress('it is not a URL');
  const parameters = parametersOf(url);
  const host = parameters.get('host') ?? decoded(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const user = decoded(url.username);
  const database = decoded(url.pathname.slice(1));
  if (host === '') throw badAddress('it names no host');
  if (user === '') throw badAddress('it names no user');
  if (database === '' || database.includes('/')) throw badAddress('it names no database');
  const schema = parameters.get('schema') ?? DEFAULT_SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw badAddress('schema takes a name of small letters, digits and underscores');
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
  return {
    host,
    port,
    database,
    user,
    schema,
    tls: tlsOf(parameters.get('sslmode'), host),
    rootCertificate: parameters.get('sslrootcert'),
    clientCertificate: parameters.get('sslcert'),
    clientKey: parameters.get('sslkey'),
    passwordFile: parameters.get('passwordFile'),
    location: locationOf({ user, host, port, database, schema }),
  };
}

function parametersOf({ searchParams }: URL): ReadonlyMap<string, string> {
  if (searchParams.has('password')) throw inlinePassword();
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) throw badAddress(`it has a parameter that is not one of ${PARAMETERS.join(', ')}`);
  return new Map(searchParams);
}

/** Whether the URL is one of libpq with a list of hosts. With ports in that list, it cannot be parsed. */
function namesSeveralHosts(text: string, url: URL | undefined): boolean {
  const [, authority = ''] = /^[^:/?#]+:\/\/([^/?#]*)/.exec(text) ?? [];
  const parameter = url?.searchParams.get('host') ?? '';
  return authority.slice(authority.lastIndexOf('@') + 1).includes(',') || /^[^/]*,/.test(parameter);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badAddress('a part of it is not encoded correctly');
  }
}

function tlsOf(mode: string | undefined, host: string): TlsMode {
  if (mode === undefined) return isLocal(host) ? 'disable' : 'verify-full';
  if (TLS_MODES.includes(mode)) return mode as TlsMode;
  throw badAddress(`sslmode takes ${TLS_MODES.join(', ')}; other modes do not prove that the server is the right one`);
}

/** Whether a connection to the host cannot leave this machine. */
function isLocal(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function locationOf({
  user,
  host,
  port,
  database,
  schema,
}: Pick<PostgresAddress, 'user' | 'host' | 'port' | 'database' | 'schema'>): string {
  const isSocket = host.startsWith('/');
  const place = isSocket
    ? 'localhost'
    : `${host.includes(':') ? `[${host}]` : host}${port === DEFAULT_PORT ? '' : `:${port}`}`;
  const query = [
    ...(isSocket ? [`host=${host}`] : []),
    ...(schema === DEFAULT_SCHEMA ? [] : [`schema=${schema}`]),
  ].join('&');
  const path = `postgres://${encodeURIComponent(user)}@${place}/${encodeURIComponent(database)}`;
  return query === '' ? path : `${path}?${query}`;
}

function badAddress(what: string): PortolanError {
  return invalidInput(
    'ledger/bad-address',
    `The URL of the ledger cannot be used: ${what}. Nothing was opened.`,
    'Write postgres://USER@HOST/DATABASE, with ?sslrootcert=FILE for a private CA.',
  );
}

function severalHosts(): PortolanError {
  return invalidInput(
    'ledger/bad-address',
    'The URL of the ledger cannot be used: it names several hosts. Nothing was opened.',
    'Name one host that always leads to the primary server, such as a name or an address that moves with it, or a proxy.',
  );
}

function inlinePassword(): PortolanError {
  return invalidInput(
    'ledger/inline-password',
    'The URL of the ledger contains a password, which every user of this machine can read in the list of processes. Nothing was opened.',
    'Change that password, remove it from the URL, and pass ?passwordFile=FILE, PGPASSWORD or PGPASSFILE.',
  );
}
