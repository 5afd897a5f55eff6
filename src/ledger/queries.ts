import { type CompiledQuery, type Kysely, type QueryResult, sql } from 'kysely';
import { pendingStates } from './rules.ts';
import { historyColumns, intentColumns, type LedgerTables, objectColumns, snapshotColumns } from './schema.ts';

/** A database, or a transaction on it. */
export interface Executor {
  executeQuery<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>>;
}

/** A place in a compiled query, filled each time the query runs. */
class Hole {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * Builds and compiles a query once. Measured: a commit of six statements takes 0.26 ms this way and 0.36 ms when every
 * statement is built each time, of which the disk takes 0.18 ms.
 */
export function prepare<Values extends object, Row>(build: (holes: Values) => { compile(): CompiledQuery<Row> }) {
  // Kysely passes a value through whatever it is, so a hole may travel in its place and in its type.
  const holes = new Proxy({}, { get: (_, name) => new Hole(String(name)) }) as Values;
  const compiled = build(holes).compile();
  return async (executor: Executor, values: Values): Promise<QueryResult<Row>> => {
    const given = values as Readonly<Record<string, unknown>>;
    const parameters = compiled.parameters.map((value) => (value instanceof Hole ? given[value.name] : value));
    return executor.executeQuery({ ...compiled, parameters });
  };
}

/** The holes of all columns of a row. @param others that no field of the model stands for. */
function every<Row>(holes: Row, columns: object, ...others: readonly (keyof Row)[]): Row {
  const names = [...(Object.keys(columns) as (keyof Row)[]), ...others];
  return Object.fromEntries(names.map((column) => [column, holes[column]])) as Row;
}

/** Every statement of a commit, compiled once for the dialect of `db`. */
export function commitQueries(db: Kysely<LedgerTables>): CommitQueries {
  let queries = known.get(db);
  if (queries === undefined) known.set(db, (queries = compileCommit(db)));
  return queries;
}

export type CommitQueries = ReturnType<typeof compileCommit>;

const known = new WeakMap<Kysely<LedgerTables>, CommitQueries>();

function compileCommit(db: Kysely<LedgerTables>) {
  return {
    standing: prepare((_: object) => db.selectFrom('meta').select(['k', 'v']).where('k', 'in', ['epoch', 'serial'])),
    setMeta: prepare(({ k, v }: LedgerTables['meta']) => db.updateTable('meta').set({ v }).where('k', '=', k)),
    putObject: prepare((holes: LedgerTables['object']) => {
      const row = every(holes, objectColumns, 'serial');
      return db
        .insertInto('object')
        .values(row)
        .onConflict((on) => on.column('uid').doUpdateSet(row));
    }),
    dropObject: prepare(({ uid, scope }: Pick<LedgerTables['object'], 'uid' | 'scope'>) =>
      db.deleteFrom('object').where('uid', '=', uid).where('scope', '=', scope),
    ),
    openIntent: prepare((holes: LedgerTables['intent']) =>
      db.insertInto('intent').values(every(holes, intentColumns, 'serial')),
    ),
    moveIntent: prepare((holes: MoveValues) =>
      db
        .updateTable('intent')
        .set({
          state: holes.state,
          settle_ms: sql<number>`coalesce(${holes.settle_ms}, settle_ms)`,
          settle_mark: sql<string>`coalesce(${holes.settle_mark}, settle_mark)`,
          outcome: sql<string>`coalesce(${holes.outcome}, outcome)`,
          resolved_by: sql<string | null>`coalesce(${holes.resolved_by}, resolved_by)`,
        })
        .where('id', '=', holes.id)
        .where('scope', '=', holes.scope)
        .where('state', 'in', pendingStates),
    ),
    acceptSnapshot: prepare((holes: LedgerTables['snapshot']) => {
      const row = every(holes, snapshotColumns, 'serial');
      return db
        .insertInto('snapshot')
        .values(row)
        .onConflict((on) => on.columns(['source', 'id']).doUpdateSet(row));
    }),
    ...compileFacts(db),
    ...compileChain(db),
  };
}

function compileChain(db: Kysely<LedgerTables>) {
  return {
    head: prepare(({ scope }: Pick<LedgerTables['chain'], 'scope'>) =>
      db.selectFrom('chain').select(['lines', 'hash']).where('scope', '=', scope),
    ),
    setHead: prepare(({ scope, lines, hash }: LedgerTables['chain']) =>
      db
        .insertInto('chain')
        .values({ scope, lines, hash })
        .onConflict((on) => on.column('scope').doUpdateSet({ lines, hash })),
    ),
    moveHead: prepare((holes: LedgerTables['chain'] & { readonly wasLines: number; readonly wasHash: string }) =>
      db
        .updateTable('chain')
        .set({ lines: holes.lines, hash: holes.hash })
        .where('scope', '=', holes.scope)
        .where('lines', '=', holes.wasLines)
        .where('hash', '=', holes.wasHash),
    ),
    record: prepare((holes: LedgerTables['history']) =>
      db.insertInto('history').values(every(holes, historyColumns, 'line', 'objects')),
    ),
  };
}

function compileFacts(db: Kysely<LedgerTables>) {
  return {
    setFact: prepare(({ key, value }: LedgerTables['fact']) =>
      db
        .insertInto('fact')
        .values({ key, value })
        .onConflict((on) => on.column('key').doUpdateSet({ value })),
    ),
    addFact: prepare(({ key, value }: LedgerTables['fact']) =>
      db
        .insertInto('fact')
        .values({ key, value })
        .onConflict((on) => on.column('key').doNothing()),
    ),
    changeFact: prepare(({ key, value, was }: LedgerTables['fact'] & { readonly was: string }) =>
      db.updateTable('fact').set({ value }).where('key', '=', key).where('value', '=', was),
    ),
  };
}

/** A null leaves the column as it is. */
interface MoveValues extends Pick<LedgerTables['intent'], 'id' | 'scope' | 'state'> {
  readonly settle_ms: number | null;
  readonly settle_mark: string | null;
  readonly outcome: string | null;
  readonly resolved_by: string | null;
}
