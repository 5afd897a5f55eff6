import { type Kysely, sql } from 'kysely';
import { contentsCoverage, contentsFindings } from '../contents-findings.ts';
import { migrations } from '../migrations.ts';
import type { Retirement } from '../retirement.ts';
import type { InventoryCoverage, LedgerFinding } from '../verify.ts';
import { withPostgresContents } from './contents.ts';
import { isServerError } from './faults.ts';
import { withDatabase } from './open.ts';
import type { PostgresAccess } from './pool.ts';
import { type PostgresTables, tablesOf } from './tables.ts';

/** Holds what is wrong with a ledger, and how much could be checked. */
export interface PostgresVerification {
  readonly findings: readonly LedgerFinding[];
  readonly inventory: InventoryCoverage;
  /** Why the tables could not be compared with those of a new ledger; undefined: they were. */
  readonly unchecked: string | undefined;
  /** The ledger was copied, and is only read since; undefined: it was not. */
  readonly retired: Retirement | undefined;
}

/**
 * Checks tables, indexes, triggers and their functions, the history of every scope, and the objects against the history. Reads only, and
 * works beside a writer. The database checks its own files.
 * @throws PortolanError `ledger/missing`, and those of the database.
 */
export async function verifyPostgresLedger(access: PostgresAccess): Promise<PostgresVerification> {
  return withPostgresContents(access, async (contents) => {
    const { findings, unchecked } = await schemaFindings(access, contents.standing.schema);
    return {
      findings: [...findings, ...(await contentsFindings(contents))],
      inventory: await contentsCoverage(contents),
      unchecked,
      retired: contents.standing.retired,
    };
  });
}

type SchemaFindings = Pick<PostgresVerification, 'findings' | 'unchecked'>;

/** Compares the parts of the schema with those of a new ledger. */
async function schemaFindings(access: PostgresAccess, schema: number): Promise<SchemaFindings> {
  const steps = migrations.filter(({ to }) => to <= schema);
  if (steps.length !== schema) return { findings: [], unchecked: undefined };
  return withDatabase(access, async (db) => {
    const present = await partsOf(db, access.address.schema);
    let expected: Parts;
    try {
      expected = await newParts(db, tablesOf(steps));
    } catch (error) {
      if (!isServerError(error) || !NO_TEMPORARY_TABLES.test(error.code)) throw error;
      return { findings: [], unchecked: error.message };
    }
    const names = [...new Set([...expected.keys(), ...present.keys()])].sort();
    const findings = names.flatMap((name): LedgerFinding[] => {
      const fault = faultOf(expected.get(name), present.get(name));
      return fault === undefined ? [] : [{ area: 'schema', message: `the ${name} ${fault}` }];
    });
    return { findings, unchecked: undefined };
  });
}

/** The role lacks the privilege, or the server is a standby. */
const NO_TEMPORARY_TABLES = /^(?:42501|25006|0A000)$/;

class Expected extends Error {}

/** Makes a new ledger of temporary tables and rolls it back, so that the server describes both in the same words. */
async function newParts(db: Kysely<PostgresTables>, statements: string): Promise<Parts> {
  let expected: Parts = new Map();
  try {
    await db
      .transaction()
      .setIsolationLevel('read committed')
      .setAccessMode('read write')
      .execute(async (transaction) => {
        await sql`set local search_path to pg_temp`.execute(transaction);
        // Functions of temporary tables are found by their whole names only.
        const temporary = statements.replaceAll('EXECUTE FUNCTION ', 'EXECUTE FUNCTION pg_temp.');
        await sql.raw(temporary).execute(transaction);
        const { rows } = await sql<{ name: string }>`
          select nspname as name from pg_catalog.pg_namespace where oid = pg_my_temp_schema()`.execute(transaction);
        expected = await partsOf(transaction, rows[0]?.name ?? '');
        throw new Expected();
      });
  } catch (error) {
    if (!(error instanceof Expected)) throw error;
  }
  return expected;
}

function faultOf(expected: Part | undefined, present: Part | undefined): string | undefined {
  if (present === undefined) return 'is missing';
  // Indexes and functions that an administrator adds change no record, unless the index refuses some.
  if (expected === undefined) return present.isHarmless ? undefined : 'does not belong to a ledger';
  if (present.state !== '') return present.state;
  return present.definition === expected.definition ? undefined : 'was changed';
}

interface Part {
  /** The statement or the words of the server, without the name of the schema. */
  readonly definition: string;
  /** Such as `is disabled`; empty: it is in use. */
  readonly state: string;
  readonly isHarmless: boolean;
}

/** Parts of a schema by `table history`, `column history.detail`, `constraint …`, `index …`, `trigger …`, `function …`. */
type Parts = ReadonlyMap<string, Part>;

async function partsOf(db: Kysely<PostgresTables>, schema: string): Promise<Parts> {
  const { rows } = await sql<{ name: string; definition: string; state: string; harmless: number; prefix: string }>`
    with relation as (
      select c.oid, c.relname, c.relkind from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace where n.nspname = ${schema}),
    part (name, definition, state, harmless) as (
      select 'table ' || relname, '', '', 0 from relation where relkind in ('r', 'p')
      union all
      select 'column ' || relname || '.' || attname,
        concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attcollation::regcollation), '', 0
      from relation join pg_catalog.pg_attribute on attrelid = oid where relkind in ('r', 'p') and attnum > 0 and not attisdropped
      union all
      select 'constraint ' || conname, pg_get_constraintdef(c.oid), '', 0
      from pg_catalog.pg_constraint c join relation r on r.oid = c.conrelid where contype <> 'n'
      union all
      select 'index ' || relname, pg_get_indexdef(oid), case when indisvalid then '' else 'is not valid' end,
        case when indisunique then 0 else 1 end
      from relation join pg_catalog.pg_index on indexrelid = oid where relkind in ('i', 'I')
      union all
      select 'trigger ' || tgname, pg_get_triggerdef(t.oid), case when tgenabled in ('O', 'A') then '' else 'is disabled' end, 0
      from pg_catalog.pg_trigger t join relation r on r.oid = t.tgrelid where not tgisinternal
      union all
      select 'function ' || proname, prosrc, '', 1 from pg_catalog.pg_proc p
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace where n.nspname = ${schema})
    select part.*, quote_ident(${schema}) || '.' as prefix from part`.execute(db);
  return new Map(
    rows.map(({ name, definition, state, harmless, prefix }) => {
      return [name, { definition: unqualified(definition, prefix), state, isHarmless: Number(harmless) === 1 }];
    }),
  );
}

/** Removes the schema from the names of tables and functions. The server may call the one of temporary tables `pg_temp`, quoted or not. */
function unqualified(definition: string, prefix: string): string {
  return [prefix, 'pg_temp.', '"pg_temp".'].reduce(
    (text, one) => text.replaceAll(` ON ${one}`, ' ON ').replaceAll(` FUNCTION ${one}`, ' FUNCTION '),
    definition,
  );
}
