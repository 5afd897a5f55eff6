import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

/** Kysely over `node:sqlite`: statements are prepared once, and a transaction takes the write lock when it begins. */
export function nodeSqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new NodeSqliteDriver(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class NodeSqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #connection: NodeSqliteConnection;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#connection = new NodeSqliteConnection(database);
  }

  async init(): Promise<void> {}

  /** There is one connection; Kysely lets one transaction or query at a time have it, as the adapter demands. */
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {}

  async beginTransaction(): Promise<void> {
    this.#database.exec('begin immediate');
  }

  async commitTransaction(): Promise<void> {
    this.#database.exec('commit');
  }

  async rollbackTransaction(): Promise<void> {
    // A full disk makes SQLite roll back by itself; a second rollback would hide that error behind its own.
    if (this.#database.isTransaction) this.#database.exec('rollback');
  }

  async destroy(): Promise<void> {
    this.#connection.forget();
    this.#database.close();
  }
}

interface CachedStatement {
  readonly statement: StatementSync;
  /** Names of its columns; none if it only writes. */
  readonly columns: readonly string[];
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, CachedStatement>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { statement, columns } = this.#prepared(sql);
    const values = parameters as readonly SQLInputValue[];
    if (columns.length > 0)
      return { rows: named(columns, statement.all(...values) as unknown as unknown[][]) as Row[] };
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: the contract of Kysely wants a generator; nothing here streams.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('the ledger reads whole results');
  }

  forget(): void {
    this.#statements.clear();
  }

  #prepared(sql: string): CachedStatement {
    let cached = this.#statements.get(sql);
    if (cached === undefined) {
      const statement = this.#database.prepare(sql);
      // If `node:sqlite` built the rows, name by name, a large read would take twice as long.
      statement.setReturnArrays(true);
      this.#statements.set(sql, (cached = { statement, columns: statement.columns().map(({ name }) => name) }));
    }
    return cached;
  }
}

function named(columns: readonly string[], rows: readonly (readonly unknown[])[]): readonly object[] {
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (let place = 0; place < columns.length; place += 1) row[columns[place] as string] = values[place];
    return row;
  });
}
