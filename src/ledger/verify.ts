import type { DatabaseSync } from 'node:sqlite';
import { chainHash, chainStart, coveredSince, inventoryFaults } from './inventory.ts';
import { compactedEvent, type RemovedRange, rangesIn } from './compaction.ts';
import { missing } from './errors.ts';
import { fileExists } from './files.ts';
import { fileSteps, migrate, newestSchema, readStanding, type Standing } from './migrations.ts';
import type { HistoryTable, LedgerTables, ObjectTable } from './schema.ts';
import { explainedFile, inDatabase, sqliteFault } from './open-database.ts';
import type { ScopeKey } from '../model/ids.ts';
import type { Json } from '../model/json.ts';

/** Something in a ledger that is not as it was written. */
export interface LedgerFinding {
  /**
   * `structure`: what SQLite itself finds; `schema`: tables and indexes; `chain`: the history of one scope; `inventory`:
   * the objects of one scope, which differ from its history.
   */
  readonly area: 'structure' | 'schema' | 'chain' | 'inventory';
  readonly scope?: ScopeKey;
  /** One sentence that says what is wrong, and where. */
  readonly message: string;
}

/** From where on the history covers the objects. `undefined`: not at all, for the schema is older than that. */
export interface InventoryCoverage {
  readonly objects: number;
  /** Objects are as recorded since this serial; 0: since the ledger was made. */
  readonly since: number | undefined;
}

/** Says how much `verifySqliteLedger` could check of the objects. */
export function inventoryCoverage(path: string): InventoryCoverage | undefined {
  return inDatabase(path, { readOnly: true }, (database) => {
    try {
      const { n } = database.prepare('SELECT count(*) AS n FROM object').get() as { readonly n: number };
      const row = database.prepare('SELECT v FROM meta WHERE k = ?').get(coveredSince);
      return { objects: n, since: row === undefined ? undefined : Number(row['v']) };
    } catch (error) {
      if (sqliteFault(error) === 'unknown' && !(error instanceof Error)) throw error;
      return undefined; // The findings say what is wrong with it.
    }
  });
}

/**
 * Checks the file's structure, its schema, every scope's history, and its objects against the history. Reads only, and
 * works beside a writer.
 * @returns findings; an empty list means that every line and every object is the one that was written, and none is missing.
 * @throws PortolanError `ledger/missing`, or `ledger/full` or `ledger/io` of its disk.
 */
export function verifySqliteLedger(path: string): readonly LedgerFinding[] {
  if (!fileExists(path)) throw missing(path);
  try {
    return inDatabase(path, { readOnly: true }, (database) => {
      database.exec('PRAGMA trusted_schema = OFF; BEGIN'); // One view of all tables, whatever is written meanwhile.
      return [...structureFindings(database), ...contentFindings(database)];
    });
  } catch (error) {
    if (sqliteFault(error) !== 'corrupt' || !(error instanceof Error)) throw explainedFile(path, error);
    return [{ area: 'structure', message: `the file cannot be read as a database: ${error.message}` }];
  }
}

function structureFindings(database: DatabaseSync): readonly LedgerFinding[] {
  const rows = database.prepare('PRAGMA integrity_check(20)').all() as { integrity_check: string }[];
  return rows
    .map((row) => row.integrity_check)
    .filter((text) => text !== 'ok')
    .map((message) => ({ area: 'structure', message }));
}

/** Returns the faults in the content of a database: its schema, its history and its objects. */
export function contentFindings(database: DatabaseSync): readonly LedgerFinding[] {
  const standing = readStanding(database);
  if (standing === undefined) return [{ area: 'structure', message: 'it is a database, but not one of Portolan' }];
  const known = newestSchema(fileSteps());
  if (standing.schema > known) {
    const message = `the ledger has schema ${standing.schema}, and this version of Portolan knows up to ${known}: nothing else could be checked`;
    return [{ area: 'schema', message }];
  }
  const schema = schemaFindings(database, standing.schema);
  // Without its tables, nothing else can be read.
  if (schema.some(({ message }) => message.startsWith('the table'))) return schema;
  return [...schema, ...chainFindings(database, standing), ...inventoryFindings(database)];
}

/** Tables and indexes as a new ledger has them: without its indexes, a ledger no longer refuses a second install. */
function schemaFindings(database: DatabaseSync, schema: number): readonly LedgerFinding[] {
  return inDatabase(':memory:', { readOnly: false }, (fresh) => {
    fresh.exec("CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL); INSERT INTO meta VALUES ('serial', '0')");
    migrate(
      fresh,
      0,
      fileSteps().filter(({ to }) => to <= schema),
    );
    const [expected, present] = [partsOf(fresh), partsOf(database)];
    return [...new Set([...expected.keys(), ...present.keys()])].flatMap((name): LedgerFinding[] => {
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

/** Definitions by `table history`; `meta` comes before every schema. */
function partsOf(database: DatabaseSync): ReadonlyMap<string, string> {
  const query = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'";
  const rows = database.prepare(`${query} AND name <> 'meta'`).all();
  return new Map(rows.map(({ type, name, sql }) => [`${String(type)} ${String(name)}`, String(sql)]));
}

function inventoryFindings(database: DatabaseSync): readonly LedgerFinding[] {
  if (database.prepare('SELECT 1 FROM meta WHERE k = ?').get(coveredSince) === undefined) return [];
  const objects = database.prepare('SELECT * FROM object ORDER BY scope, uid').all() as unknown as ObjectTable[];
  const sealing = 'SELECT scope, line, objects FROM history WHERE objects IS NOT NULL ORDER BY scope, line';
  const lines = database.prepare(sealing).all() as unknown as Pick<HistoryTable, 'scope' | 'line' | 'objects'>[];
  const rowsOf = Map.groupBy(objects, ({ scope }) => scope);
  const linesOf = Map.groupBy(lines, ({ scope }) => scope);
  return [...new Set([...linesOf.keys(), ...rowsOf.keys()])].flatMap((scope) =>
    inventoryFaults(linesOf.get(scope) ?? [], rowsOf.get(scope) ?? []).map(
      (message): LedgerFinding => ({ area: 'inventory', scope, message }),
    ),
  );
}

function chainFindings(database: DatabaseSync, standing: Standing): readonly LedgerFinding[] {
  const heads = database.prepare('SELECT scope, lines, hash FROM chain').all() as LedgerTables['chain'][];
  const headOf = new Map(heads.map((head) => [head.scope, head]));
  const scopes = database.prepare('SELECT scope FROM chain UNION SELECT DISTINCT scope FROM history ORDER BY 1').all();
  const ofScope = database.prepare('SELECT * FROM history WHERE scope = ? ORDER BY line');
  return scopes.flatMap((row) => {
    const scope = String(row.scope);
    const lines = ofScope.all(scope) as unknown as HistoryTable[];
    return verifyChain(scope, lines, headOf.get(scope), standing.serial);
  });
}

/**
 * Follows one scope's history from its first line.
 * @param lines in order, with those that compaction removed left out.
 * @param head what the ledger says the chain's length and last hash are.
 * @param serialMax the ledger's own serial; no line can have a later one.
 */
export function verifyChain(
  scope: ScopeKey,
  lines: readonly HistoryTable[],
  head: { readonly lines: number; readonly hash: string } | undefined,
  serialMax: number,
): readonly LedgerFinding[] {
  const findings: LedgerFinding[] = [];
  const report = (message: string) => findings.push({ area: 'chain', scope, message });
  const removed = removedByFirstLine(lines);
  let next = 1;
  let previousHash = chainStart;
  for (const row of lines) {
    for (let range = removed.get(next); range !== undefined && next < row.line; range = removed.get(next)) {
      if (range.previousHash !== previousHash)
        report(`the compaction of lines ${range.from} to ${range.to} does not fit line ${next - 1}`);
      next = range.to + 1;
      previousHash = range.hash;
    }
    if (row.line !== next) report(`lines ${next} to ${row.line - 1} are missing`);
    else if (row.prev_hash !== previousHash) report(`line ${row.line} does not follow the line before it`);
    if (row.hash !== hashOf(row))
      report(`line ${row.line} (serial ${row.serial}, ${row.event}) was changed after it was written`);
    if (row.serial > serialMax)
      report(`line ${row.line} has serial ${row.serial}, later than the ledger's own ${serialMax}`);
    next = row.line + 1;
    previousHash = row.hash;
  }
  if (head === undefined) report('the ledger does not say how long this history is');
  else if (head.lines !== next - 1) report(`the history ends at line ${next - 1}, but ${head.lines} were written`);
  else if (head.hash !== previousHash) report(`the last line, ${head.lines}, is not the one that was written`);
  return findings;
}

function hashOf(row: HistoryTable): string {
  return chainHash(row.prev_hash, {
    scope: row.scope,
    line: row.line,
    serial: row.serial,
    atMs: row.at_ms,
    actor: row.actor,
    event: row.event,
    uid: row.uid,
    detail: row.detail,
    objects: row.objects,
  });
}

function removedByFirstLine(lines: readonly HistoryTable[]): ReadonlyMap<number, RemovedRange> {
  const compacted = lines.filter(({ event }) => event === compactedEvent);
  return new Map(compacted.flatMap(({ detail }) => rangesIn(parsed(detail))).map((range) => [range.from, range]));
}

/** Returns null for a detail that is not JSON: it was changed, and its hash shows that. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
