import { busy, closed, corrupt, type DatabaseFault, full } from '../errors.ts';
import { PortolanError } from '../../model/errors.ts';

/** A commit was sent and not answered: only reading can say whether it took place. */
export class CommitUnanswered extends Error {
  override readonly name = 'CommitUnanswered';
}

/** A file that a connection takes cannot be used. It may be in the middle of a rotation, so the next attempt reads it again. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
}

/** The schema has tables that are not those of a ledger. */
export class ForeignTables extends Error {
  override readonly name = 'ForeignTables';
}

/** There is no ledger, and the role may not create one. */
export class LedgerNotCreated extends Error {
  override readonly name = 'LedgerNotCreated';
}

/** The driver could not connect, or lost its connection: it has no list of the errors that it throws then. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: string;
  /** The server may have carried out what was sent. */
  readonly wasConnected: boolean;

  constructor(cause: Error, wasConnected: boolean) {
    super(reasonOf(cause), { cause });
    this.code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
    this.wasConnected = wasConnected;
  }
}

/** Returns what the driver threw, where it is not an answer of the server, as an error of the connection. A bug stays as it is. */
export function driverError(error: unknown, wasConnected: boolean): unknown {
  const isBug = !(error instanceof Error) || error instanceof TypeError || error instanceof RangeError;
  const isKnown = error instanceof UnusableFile || error instanceof PortolanError || isServerError(error);
  return isBug || isKnown ? error : new ConnectionError(error, wasConnected);
}

interface ServerError extends Error {
  /** SQLSTATE: five characters. */
  readonly code: string;
  readonly severity: string;
}

/** Whether the server itself reported the error; any other one comes from the connection. */
export function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && 'severity' in error && typeof (error as { code?: unknown }).code === 'string';
}

const WRONG_PASSWORD = '28P01';

/** The server refused a password. Its own error does not say where that comes from, as the message does here. */
class WrongPassword extends Error implements ServerError {
  override readonly name = 'WrongPassword';
  readonly code = WRONG_PASSWORD;
  readonly severity: string;

  constructor(cause: ServerError, origin: string) {
    super(`${cause.message} (it comes from the ${origin})`, { cause });
    this.severity = cause.severity;
  }
}

/** Adds where the password comes from to an error that is about it. @param origin such as `file /run/secrets/password`. */
export function namingPassword(error: unknown, origin: () => string | undefined): unknown {
  if (!isServerError(error) || error.code !== WRONG_PASSWORD) return error;
  const place = origin();
  return place === undefined ? error : new WrongPassword(error, place);
}

/**
 * Whether the connection is of no use after the error: it is lost, or the server ends it, or the server is a standby. The address may
 * lead to another server by now, and a connection that is kept would never reach that one. A pooler that loses its server reports an
 * error of the class 08, as an ordinary one in older versions; what was sent, such as a commit, may have been carried out then.
 */
export function endsConnection(error: unknown): boolean {
  return !isServerError(error) || isSessionOver(error) || /^(?:08|57P|25006)/.test(error.code);
}

/** Whether the server has ended the session, or has not begun it. */
function isSessionOver({ severity }: ServerError): boolean {
  return severity === 'FATAL' || severity === 'PANIC';
}

/** Codes of a session that begins only once a person has changed something: credentials, database, privilege. */
const NEEDS_PERSON = /^(?:28|3D|42501)/;
/** Codes of limits of the server that no other program causes for a short time only. */
const LIMITS = /^(?:54|55P0[24])/;

const CERTIFICATE =
  /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_(?:GET|VERIFY)|ERR_SSL|ERR_TLS|server does not support SSL|SSL\/TLS required/;

/** Whether the server may have carried out the statement that ended with the error. */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.wasConnected;
  return isServerError(error) && /^(?:08|57P0[12]|25P0)/.test(error.code);
}

/** Returns the class of an error that a database or its connection threw. */
export function postgresFault(error: unknown): DatabaseFault {
  if (error instanceof PortolanError) return 'unknown';
  if (!isServerError(error))
    return error instanceof UnusableFile || error instanceof ConnectionError ? 'lost' : 'unknown';
  const { code } = error;
  if (code === '23505') return 'unique';
  // Lock not available, statement cancelled, serialization failure, deadlock.
  if (/^(?:55P03|57014|40001|40P01)$/.test(code)) return 'busy';
  // Connection exceptions, shutdown and start of the server, too many connections, a session that idled or took too long, a database that
  // allows no connections or is in use.
  if (/^(?:08|57P0|533|25P0[34]|5500[06])/.test(code)) return 'lost';
  if (code === '53100') return 'full';
  // The server lacks memory or another resource.
  if (code.startsWith('53')) return 'busy';
  // Damaged pages or indexes; tables that are missing or were changed; a counter that is not a number.
  if (/^(?:XX00[12]|42P01|42703|3F000|22P02)$/.test(code)) return 'corrupt';
  // Errors of the server itself: of its files, or internal ones.
  if (/^(?:58|XX)/.test(code)) return 'io';
  return isSessionOver(error) && !NEEDS_PERSON.test(code) ? 'lost' : 'unknown';
}

/** Kysely and the pool say so once this process has closed the ledger. */
const CLOSED = /^(?:driver has already been destroyed|Cannot use a pool after calling end on the pool)/;

/** Returns the error to throw for one of the database; an error of a class that is not known stays as it is. */
export function explainPostgres(error: unknown, location: string): unknown {
  const setup = setupError(error, location);
  if (setup !== undefined) return setup;
  if (error instanceof CommitUnanswered) return unanswered(location, error);
  if (error instanceof Error && CLOSED.test(error.message)) return closed(location);
  switch (postgresFault(error)) {
    case 'busy':
      return busy(location, error);
    case 'full':
      return full(location, error);
    case 'corrupt':
      return corrupt(location, reasonOf(error), error);
    case 'lost':
    case 'io':
      return unreachable(location, error);
    case 'unique':
    case 'unknown':
      return error;
  }
}

const PASS_PASSWORD = 'Pass the password of the role with ?passwordFile=FILE, PGPASSWORD or PGPASSFILE.';

/** Returns the remedy for a role that the server does not let in. */
function loginRemedy(code: string, message: string): string {
  if (code === WRONG_PASSWORD) return PASS_PASSWORD;
  // Older versions of PostgreSQL say `SSL off`.
  if (/no encryption|SSL off/.test(message))
    return (
      'Use TLS: pass ?sslmode=verify-full, and ?sslrootcert=FILE for a private CA. If a connection without TLS is intended, allow it ' +
      'in pg_hba.conf.'
    );
  if (message.includes('pg_hba.conf'))
    return 'Allow this role, database and address in pg_hba.conf, or correct the URL of --ledger.';
  return 'Correct the user in the URL of --ledger, or create the role with examples/postgres/roles.sql. pg_hba.conf says how it logs in.';
}

/** Returns the remedy for a role that lacks a privilege. */
function privilegeRemedy(error: Error): string {
  if (isServerError(error) && isSessionOver(error))
    return 'The role must not connect to the database. As its owner: GRANT CONNECT ON DATABASE <database> TO portolan, portolan_owner.';
  return (
    'Grant the role what examples/postgres/grants.sql lists. Only the owner of the tables may run `portolan ledger migrate`, ' +
    '`compact`, `copy` and `restore`.'
  );
}

/** Explains an error that stays until a person changes the configuration or the database. */
function setupError(error: unknown, location: string): PortolanError | undefined {
  // The path of a file may contain any word.
  if (!(error instanceof Error) || error instanceof PortolanError || error instanceof UnusableFile) return undefined;
  if (error instanceof ForeignTables)
    return refused(
      location,
      error.message,
      'Name a schema of its own with ?schema=NAME. If this one contained a ledger, restore its database instead: an empty ledger owns ' +
        'nothing, and may install twice.',
      error,
    );
  if (error instanceof LedgerNotCreated)
    return refused(
      location,
      `there is no ledger, and the role must not create one (${error.message})`,
      'Correct the database and the schema in the URL of --ledger. For a new ledger, run examples/postgres/roles.sql, `portolan ledger ' +
        'migrate` with the role portolan_owner, and grants.sql, as docs/how-to/several-controllers.md says.',
      error,
    );
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CERTIFICATE.test(code) || CERTIFICATE.test(error.message))
    return refused(
      location,
      `TLS failed (${error.message})`,
      'Name the CA of the server with ?sslrootcert=FILE. A server without TLS needs ?sslmode=disable, which a network can read and change.',
      error,
    );
  if (/^SASL: .*password must be/.test(error.message))
    return refused(location, 'the server requires a password, and none was found', PASS_PASSWORD, error);
  if (code.startsWith('28')) return refused(location, error.message, loginRemedy(code, error.message), error);
  if (code === '3D000')
    return refused(location, error.message, 'Create the database, or correct the URL of --ledger.', error);
  if (code === '42501') return refused(location, error.message, privilegeRemedy(error), error);
  if (code === '25006') return readOnlyDatabase(location, error);
  if (LIMITS.test(code))
    return refused(
      location,
      error.message,
      'PostgreSQL has reached a limit, which the message and its log name. Its queue for notifications is freed once no session ' +
        'that listens stays in one transaction (pg_stat_activity). A text that is too long for an index must become shorter in the manifest.',
      error,
      'retry',
    );
  if (code === '22021')
    return refused(
      location,
      'a text contains the character NUL, which PostgreSQL cannot store',
      'Correct that text in the manifest or on the platform.',
      error,
      'retry',
    );
  return undefined;
}

/** Returns the error for a database that accepts no writes. It may become the primary server, so the operation can be retried. */
export function readOnlyDatabase(location: string, cause?: unknown): PortolanError {
  return refused(
    location,
    'the database is read-only, as a standby is',
    'Name the primary server in the URL of --ledger. If this is the primary, set default_transaction_read_only to off for the database and the role.',
    cause,
    'retry',
  );
}

/** Returns the error for a database that cannot store every text, such as one with `LATIN1`. */
export function otherEncoding(location: string, encoding: string): PortolanError {
  return refused(
    location,
    `the database has the encoding ${encoding}, which cannot store every text`,
    'Create a database with the encoding UTF8 (createdb --encoding UTF8 --template template0), and name it in the URL of --ledger.',
    undefined,
  );
}

/** Returns the error for a role that lacks privileges. @param missing such as `INSERT ON portolan.history`. */
export function missingPrivileges(location: string, role: string, missing: readonly string[]): PortolanError {
  return refused(
    location,
    `the role ${role} lacks ${missing.join(', ')}`,
    'Run examples/postgres/grants.sql as the owner of the tables. It is required after each `portolan ledger migrate` that adds a table.',
    undefined,
  );
}

function refused(
  location: string,
  what: string,
  remedy: string,
  cause: unknown,
  disposition: 'invalid' | 'retry' = 'invalid',
): PortolanError {
  return new PortolanError({
    code: 'ledger/refused',
    disposition,
    message: `The ledger ${location} cannot be used: ${what}. Nothing was recorded.`,
    remedy,
    cause,
  });
}

function unreachable(location: string, cause: unknown): PortolanError {
  return new PortolanError({
    code: 'ledger/unreachable',
    disposition: 'retry',
    message: `The ledger ${location} cannot be reached (${reasonOf(cause)}). Nothing was recorded.`,
    remedy: isServerError(cause) && cause.code === TOO_MANY_CONNECTIONS ? connectionsRemedy(cause.message) : REACH,
    cause,
  });
}

const REACH = 'Check that PostgreSQL runs and that this machine can reach it. Writing works again once it can.';
const TOO_MANY_CONNECTIONS = '53300';

/** Returns the remedy for a limit of connections, which the role, the database and the server have. */
function connectionsRemedy(message: string): string {
  const [, named] = /\bfor (role|database)\b/.exec(message) ?? [];
  const limit = named === undefined ? 'max_connections of the server' : `the CONNECTION LIMIT of the ${named}`;
  return (
    `Raise ${limit}, or end processes that use it: docs/how-to/several-controllers.md says how many connections each takes. ` +
    'Writing works again once one is free.'
  );
}

function unanswered(location: string, cause: unknown): PortolanError {
  return new PortolanError({
    code: 'ledger/unanswered',
    disposition: 'retry',
    message: `The ledger ${location} did not answer a commit, and could not be read since. The transaction is recorded as a whole or not at all.`,
    remedy: 'Check that PostgreSQL runs. The next pass reads the ledger, and continues from what is recorded there.',
    cause,
  });
}

function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}
