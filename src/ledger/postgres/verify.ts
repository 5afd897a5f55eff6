import { type Kysely, sql } from 'kysely';
import { contentsCoverage, contentsFindings } from '../contents-findings.ts';
import { migrations } from '../migrations.ts';
import type { InventoryCoverage, LedgerFinding } from '../verify.ts';
import { withPostgresContents } from './contents.ts';
import { withDatabase } from './open.ts';
import type { PostgresAccess } from './pool.ts';
import { type PostgresTables, tablesOf } from './tables.ts';

/**
 * Checks the tables and indexes, the history of every scope, and the objects against the history. Reads only, and works beside a
 * writer. The database checks its own files.
 * @throws PortolanError `ledger/missing`, and those of the database.
 */
export async function verifyPostgresLedger(
  access: PostgresAccess,
): Promise<{ readonly findings: readonly LedgerFinding[]; readonly inventory: InventoryCoverage }> {
  return withPostgresContents(access, async (contents) => {
    const schema = await schemaFindings(access, contents.standing.schema);
    return {
      findings: [...schema, ...(await contentsFindings(contents))],
      inventory: await contentsCoverage(contents),
    };
  });
}

class Expected extends Error {}

/**
 * Compares tables, constraints and indexes with those of a new ledger, which is made of temporary tables and rolled back: the
 * server describes both in the same words.
 */
async function schemaFindings(access: PostgresAccess, schema: number): Promise<readonly LedgerFinding[]> {
  const steps = migrations.filter(({ to }) => to <= schema);
  if (steps.length !== schema) return [];
  return withDatabase(access, async (db) => {
    const present = await partsOf(db, access.address.schema);
    let expected: ReadonlyMap<string, string> = new Map();
    try {
      await db.transaction().execute(async (transaction) => {
        await sql`set local search_path to pg_temp`.execute(transaction);
        // Functions of temporary tables are found by their whole names only.
        const statements = tablesOf(steps).replaceAll('EXECUTE FUNCTION ', 'EXECUTE FUNCTION pg_temp.');
        await sql.raw(statements).execute(transaction);
        const { rows } = await sql<{ name: string }>`
          select nspname as name from pg_catalog.pg_namespace where oid = pg_my_temp_schema()`.execute(transaction);
        expected = await partsOf(transaction, rows[0]?.name ?? '');
        throw new Expected();
      });
    } catch (error) {
      if (!(error instanceof Expected)) throw error;
    }
    return [...new Set([...expected.keys(), ...present.keys()])].sort().flatMap((name): LedgerFinding[] => {
      if (expected.get(name) === present.get(name)) return [];
      const fault = !present.has(name)
        ? 'is missing'
        : expected.has(name)
          ? 'was changed'
          : 'does not belong to a ledger';
      return [{ area: 'schema', message: `the ${name} ${fault}` }];
    });
  });
}

/** Returns definitions by `table history`, `column history.detail`, `constraint …`, `index …`, without the name of the schema. */
async function partsOf(db: Kysely<PostgresTables>, schema: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ name: string; definition: string }>`
    with relation as (
      select c.oid, c.relname, c.relkind from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace where n.nspname = ${schema})
    select 'table ' || relname as name, '' as definition from relation where relkind in ('r', 'p')
    union all
    select 'column ' || relname || '.' || attname,
      concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attcollation::regcollation)
    from relation join pg_catalog.pg_attribute on attrelid = oid where relkind in ('r', 'p') and attnum > 0 and not attisdropped
    union all
    select 'constraint ' || conname, pg_get_constraintdef(c.oid)
    from pg_catalog.pg_constraint c join relation r on r.oid = c.conrelid where contype <> 'n'
    union all
    select 'index ' || relname, pg_get_indexdef(oid) from relation where relkind in ('i', 'I')
    union all
    select 'trigger ' || tgname, relname from pg_catalog.pg_trigger t join relation r on r.oid = t.tgrelid where not tgisinternal`.execute(
    db,
  );
  return new Map(
    rows.map(({ name, definition }) => [name, definition.replace(/ ON (?:[^ ]+\.)?([^ .]+) USING /, ' ON $1 USING ')]),
  );
}
