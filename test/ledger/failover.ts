import { querySharedServer } from '../support/postgres-shared.ts';

/**
 * Keeps what a schema contains now, as a standby that receives nothing more.
 * @returns makes that standby the database: everything recorded since is lost.
 */
export async function standbyOf(
  schema: string,
  query: typeof querySharedServer = querySharedServer,
): Promise<() => Promise<void>> {
  const found = await query(`SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`);
  const tables = found.map(({ tablename }) => String(tablename));
  const kept = (table: string): string => `${schema}_standby.${table}`;
  await query(
    [
      `CREATE SCHEMA ${schema}_standby`,
      ...tables.map((table) => `CREATE TABLE ${kept(table)} AS TABLE ${schema}.${table}`),
    ].join('; '),
  );
  return async () => {
    // Triggers would give facts new serials.
    const statements = tables.map(
      (table) =>
        `DELETE FROM ${schema}.${table}; INSERT INTO ${schema}.${table} OVERRIDING SYSTEM VALUE SELECT * FROM ${kept(table)}`,
    );
    await query(['SET session_replication_role = replica', 'BEGIN', ...statements, 'COMMIT'].join('; '));
  };
}
