import { type ConnectionOptions, createSecureContext } from 'node:tls';
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg, { type Client, type ClientBase, type Pool, type PoolClient, type PoolConfig } from 'pg';
import type { PostgresAddress } from './address.ts';
import { CommitUnanswered, driverError, endsConnection, isServerError, namingPassword } from './faults.ts';
import type { Secret } from '../../model/secret.ts';

/** Holds what a connection to the database takes. */
export interface PostgresAccess {
  readonly address: PostgresAddress;
  /** Called for each connection, so that a rotated password is used. */
  readonly password: () => Secret | undefined;
  /**
   * Called for each connection, so that rotated certificates are used.
   * @throws UnusableFile while a file cannot be used.
   */
  readonly certificates: () => Certificates;
}

/** Certificates, as text, of the paths in the address. */
export type Certificates = Readonly<Record<'root' | 'client' | 'key', string | undefined>>;

/**
 * Connections of one process for queries. One more is for its leases, so that no queue delays a renewal, and a process that shares the
 * ledger has one for signals.
 */
const CONNECTIONS_MAX = 4;
const CONNECT_MS_MAX = 5_000;
/** Longest life of a connection: by then, the address may lead to another server, after a failover that this connection did not notice. */
export const LIFETIME_S_MAX = 600;
/** Time for one statement. A connection that does not answer within it is given up: the network may have lost it. */
const STATEMENT_MS_MAX = 15_000;
/**
 * Returns the settings that a session depends on, whatever the database and the role have. A statement that waits for a lock must see what
 * the holder of that lock has committed, and a confirmed commit must survive a power cut. The server ends a statement, and its wait for a
 * lock, before this process gives the connection up: it does not notice a lost connection meanwhile, so each attempt would take one more
 * connection, and a slow database would get more and more work.
 * Behind a pooler, another process may get the session: there, the limit of a wait ends only what is repeated, and no limit of a statement is
 * shorter than the one that all have. Work on a whole ledger has limits
 * of its own (`UNLIMITED`).
 */
const sessionOf = (statementMsMax: number): string =>
  `set default_transaction_isolation = 'read committed'; set synchronous_commit = on; set lock_timeout = ${serverMsMaxOf(statementMsMax)}; set statement_timeout = ${serverMsMaxOf(Math.max(statementMsMax, STATEMENT_MS_MAX))}`;
/** The rest is for the answer to arrive. */
const serverMsMaxOf = (statementMsMax: number): number =>
  Math.floor(statementMsMax - Math.min(1_000, statementMsMax / 5));
const DURABLE = 'set local synchronous_commit = on';
/**
 * Settings of a transaction, in the message that begins it and for the transaction only: a pooler may give its connection to others
 * afterwards. A process that stops in the middle of a transaction loses it before another process would wait long for its locks.
 */
const beginning = (idleMsMax = 5_000): string =>
  `begin isolation level read committed; ${DURABLE}; set local lock_timeout = 5000; set local statement_timeout = ${STATEMENT_MS_MAX - 1_000}; set local idle_in_transaction_session_timeout = ${idleMsMax}`;
/** Ends the limits of a transaction that reads or writes a whole ledger. Not every version of PostgreSQL has each of them. */
export const UNLIMITED = `select set_config(name, '0', true) from pg_catalog.pg_settings
  where name in ('lock_timeout', 'statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`;

/** Ends the limits of a statement, without a query: the first query of a transaction may decide which rows all others see. */
export const UNLIMITED_LOCK = 'set local lock_timeout = 0; set local statement_timeout = 0';

export interface PoolLimits {
  /** Longer for work on a whole ledger. */
  readonly statementMsMax?: number;
  readonly connections?: number;
  readonly connectMsMax?: number;
  readonly lifetimeSMax?: number;
  /** Time that a process may pause within a transaction, which then ends and frees what it has locked. */
  readonly idleMsMax?: number;
}

/** Returns a text as a literal of SQL, whatever the session says about backslashes. */
export const literalOf = (text: string): string => pg.escapeLiteral(text);

/** Opens no connection yet. */
export function openPool(access: PostgresAccess, limits: PoolLimits = {}): PostgresPool {
  const pool = new pg.Pool(configurationOf(access, limits, undefined));
  // A connection without work was lost, and the pool has removed it.
  pool.on('error', () => {});
  const begin = beginning(limits.idleMsMax);
  const slots = new Slots(limits.connections ?? CONNECTIONS_MAX);
  return {
    options: {},
    connect: async () => {
      await slots.take();
      try {
        // Without an idle connection, the pool makes one.
        if (pool.idleCount === 0) pool.options.ssl = tlsOf(access) ?? false;
        return guarded(await connected(pool, access), begin, () => slots.give());
      } catch (error) {
        slots.give();
        throw error;
      }
    },
    end: () => pool.end(),
  };
}

async function connected(pool: Pool, { password }: PostgresAccess): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw namingPassword(driverError(error, false), () => password()?.origin);
  }
}

/** Returns a connection of its own, which is not open yet. */
export function clientOf(access: PostgresAccess): Client {
  return new pg.Client(configurationOf(access, {}, tlsOf(access)));
}

/** Every parameter is given, so that no variable of `pg` in the environment decides about one. */
function configurationOf(
  access: PostgresAccess,
  { statementMsMax = STATEMENT_MS_MAX, connections, connectMsMax, lifetimeSMax }: PoolLimits,
  tls: ConnectionOptions | undefined,
): PoolConfig {
  const { address, password } = access;
  return {
    host: address.host,
    port: address.port,
    user: address.user,
    database: address.database,
    password: () => password()?.reveal() ?? (undefined as unknown as string),
    ssl: tls ?? false,
    application_name: 'portolan',
    client_encoding: 'UTF8',
    options: '',
    max: connections ?? CONNECTIONS_MAX,
    connectionTimeoutMillis: connectMsMax ?? CONNECT_MS_MAX,
    maxLifetimeSeconds: lifetimeSMax ?? LIFETIME_S_MAX,
    query_timeout: statementMsMax,
    keepAlive: true,
    // Its type does not say that the pool waits for it.
    onConnect: (async (client) => client.query(sessionOf(statementMsMax))) as (client: ClientBase) => void,
    types: { getTypeParser: ((oid: number) => (oid === INT8 ? Number : asText)) as never },
  };
}

/** The type of 64-bit integers. The ledger stores only those that a number represents exactly. */
const INT8 = 20;
const asText = (text: string): string => text;

function tlsOf({ address, certificates }: PostgresAccess): ConnectionOptions | undefined {
  if (address.tls === 'disable') return undefined;
  const { root, client, key } = certificates();
  return {
    rejectUnauthorized: true,
    ...(root === undefined ? {} : { ca: root }),
    ...(client === undefined ? {} : { cert: client }),
    ...(key === undefined ? {} : { key }),
    ...(address.tls === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
  };
}

/** @returns why a connection cannot use the certificates, such as a key of another certificate; undefined: it can. */
export function faultOfCertificates({ root, client, key }: Certificates): string | undefined {
  try {
    createSecureContext({ ca: root, cert: client, key });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * The begin of a transaction: `asked`, nothing was sent; `tried`, a message with it failed, so the server may have begun the transaction
 * or not. The next statement then begins it again: it never runs outside a transaction, and the server refuses it inside the failed one.
 */
type Beginning = 'asked' | 'tried' | 'done';

const ENDS: ReadonlySet<string> = new Set(['commit', 'rollback']);

/**
 * A connection as Kysely sees it: transactions begin with their limits, a lost connection is discarded, and a commit that was not
 * answered has an error of its own. A transaction begins with its first query, in one message if that has no values: otherwise, each
 * commit would wait for one more answer.
 */
function guarded(client: PoolClient, begin: string, released: () => void): PostgresPoolClient {
  let isLost = false;
  let beginning: Beginning = 'done';
  const lose = (): void => {
    isLost = true;
  };
  // Without a listener, a connection that ends between two statements would end the process.
  client.on('error', lose);
  const send = async (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<never>> => {
    // A transaction with a mode of its own works on a whole ledger.
    if (text.startsWith('start transaction')) return answerOf(await client.query(`${text}; ${DURABLE}; ${UNLIMITED}`));
    if (beginning === 'done' || ENDS.has(text)) {
      beginning = 'done';
      return answerOf(await client.query(text, [...values]));
    }
    beginning = 'tried';
    if (values.length > 0) await client.query(begin);
    // Without values, the simple protocol runs all statements of a message.
    const answer = await (values.length > 0 ? client.query(text, [...values]) : client.query(`${begin}; ${text}`));
    beginning = 'done';
    return answerOf(answer);
  };
  const query = async (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<never>> => {
    if (text === 'begin') {
      beginning = 'asked';
      return unsent(text);
    }
    // The server rolls back what a lost connection has not committed, and knows nothing of a transaction without a query.
    if (ENDS.has(text) && (beginning === 'asked' || (isLost && text === 'rollback'))) {
      beginning = 'done';
      return unsent(text);
    }
    try {
      return await send(text, values);
    } catch (thrown) {
      const error = driverError(thrown, true);
      if (endsConnection(error)) lose();
      if (isLost && text === 'commit' && !isRefusedCommit(error))
        throw new CommitUnanswered('the commit was not answered', { cause: error });
      throw error;
    }
  };
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy = false) => {
      client.off('error', lose);
      client.release(isLost || destroy);
      released();
    },
  };
}

/** Returns the result of a statement that was not sent. */
function unsent(text: string): PostgresQueryResult<never> {
  return answerOf({ command: text.toUpperCase(), rowCount: 0, rows: [] });
}

/** An error that the server reports without ending the session is an answer: nothing was committed. */
function isRefusedCommit(error: unknown): boolean {
  return isServerError(error) && !endsConnection(error);
}

/** @param answer of several statements: a list with the results of all. */
function answerOf(answer: unknown): PostgresQueryResult<never> {
  return (Array.isArray(answer) ? answer.at(-1) : answer) as PostgresQueryResult<never>;
}

/** Lets a number of users in; the others wait in order, without a time limit. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  async take(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
