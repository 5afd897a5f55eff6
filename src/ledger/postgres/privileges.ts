import { type Kysely, sql } from 'kysely';
import { missingPrivileges } from './faults.ts';
import type { PostgresAccess } from './pool.ts';
import type { PostgresTables } from './tables.ts';

/** Privileges that a replica needs, by table. `examples/postgres/grants.sql` grants exactly these. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  meta: ['SELECT', 'UPDATE'],
  history: ['SELECT', 'INSERT'],
  fact: ['SELECT', 'INSERT', 'UPDATE'],
  chain: ['SELECT', 'INSERT', 'UPDATE'],
  snapshot: ['SELECT', 'INSERT', 'UPDATE'],
  intent: ['SELECT', 'INSERT', 'UPDATE'],
  object: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  lease: ['SELECT', 'INSERT', 'UPDATE'],
  replica: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  command: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  session: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  event: ['SELECT', 'INSERT', 'DELETE'],
};

/**
 * Checks at the start what would otherwise fail at the first write, or only once this process leads.
 * @throws PortolanError `ledger/refused` with all privileges that the role lacks.
 */
export async function mustHavePrivileges(
  db: Kysely<PostgresTables>,
  { address: { location, schema, user } }: PostgresAccess,
): Promise<void> {
  const wanted = Object.entries(NEEDED).flatMap(([table, privileges]) =>
    privileges.map((one) => [table, one] as const),
  );
  const { rows } = await sql<{ missing: string }>`
    select w.privilege || ' ON ' || n.nspname || '.' || c.relname as missing
    from unnest(${wanted.map(([table]) => table)}::text[], ${wanted.map(([, privilege]) => privilege)}::text[])
      with ordinality as w(name, privilege, position)
    join pg_catalog.pg_namespace n on n.nspname = ${schema}
    join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = w.name
    where not has_table_privilege(c.oid, w.privilege)
    order by w.position`.execute(db);
  const missing = rows.map((row) => row.missing);
  if (missing.length > 0) throw missingPrivileges(location, user, missing);
}

/** Returns the role of this connection if it may change or remove the history, as the owner of the tables and a superuser may. */
export async function strongRole(
  db: Kysely<PostgresTables>,
  { address: { schema } }: PostgresAccess,
): Promise<string | undefined> {
  const { rows } = await sql<{ role: string }>`
    select current_user::text as role
    from pg_catalog.pg_namespace n
    join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = 'history'
    where n.nspname = ${schema} and has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE')`.execute(db);
  return rows[0]?.role;
}
