import { type Kysely, sql, type Transaction } from 'kysely';
import { CONTENT_TABLES, type ContentTable, coveredSinceIn, type LedgerContents } from '../contents.ts';
import { missing } from '../errors.ts';
import { standingIn } from '../migrations.ts';
import type { LedgerTables } from '../schema.ts';
import { withDatabase } from './open.ts';
import type { PostgresAccess } from './pool.ts';
import { type PostgresTables, readPostgresStanding } from './tables.ts';

/** Rows that are fetched at once. */
const BATCH = 500;

/** Reads a ledger as of one moment; works beside a writer. @throws PortolanError `ledger/missing`, and those of the database. */
export async function withPostgresContents<Result>(
  access: PostgresAccess,
  work: (contents: LedgerContents, db: Kysely<PostgresTables>) => Promise<Result>,
): Promise<Result> {
  return withDatabase(access, (db) =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (transaction) => work(await contentsIn(transaction, access), db)),
  );
}

/** Returns the ledger as a transaction sees it. */
export async function contentsIn(
  transaction: Transaction<PostgresTables>,
  { address: { location, schema } }: Pick<PostgresAccess, 'address'>,
): Promise<LedgerContents> {
  if ((await readPostgresStanding(transaction, schema)) === undefined) throw missing(location);
  const meta = await transaction.selectFrom('meta').select(['k', 'v']).execute();
  const standing = standingIn(meta);
  if (standing === undefined) throw missing(location);
  let cursors = 0;
  return {
    location,
    standing,
    coveredSince: coveredSinceIn(meta),
    async *rows<Table extends ContentTable>(table: Table, order = CONTENT_TABLES[table].order) {
      const cursor = sql.id(`rows_${++cursors}`);
      const columns = sql.join(order.map((column) => sql.id(column)));
      await sql`declare ${cursor} no scroll cursor for select * from ${sql.id(schema, table)} order by ${columns}`.execute(
        transaction,
      );
      for (;;) {
        const { rows } = await sql<LedgerTables[Table]>`fetch ${sql.lit(BATCH)} from ${cursor}`.execute(transaction);
        yield* rows;
        if (rows.length < BATCH) break;
      }
      await sql`close ${cursor}`.execute(transaction);
    },
  };
}
