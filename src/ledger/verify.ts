import type { DatabaseSync } from 'node:sqlite';
import { chainHash, chainStart } from './chain.ts';
import { compactedEvent, type RemovedRange, rangesIn } from './compaction.ts';
import { missing } from './errors.ts';
import { fileExists } from './files.ts';
import { readStanding } from './migrations.ts';
import type { HistoryTable, LedgerTables } from './schema.ts';
import { openDatabase } from './sqlite.ts';
import { sqliteFault } from './sqlite-faults.ts';
import type { ScopeKey } from '../model/ids.ts';
import type { Json } from '../model/json.ts';

/** Something in a ledger that is not as it was written. */
export interface LedgerFinding {
  /** `structure`: what SQLite itself finds; `chain`: the history of one scope. */
  readonly area: 'structure' | 'chain';
  readonly scope?: ScopeKey;
  /** What, and where, in a sentence. */
  readonly message: string;
}

/**
 * Checks the file's structure and every scope's history. Reads only, and works beside a writer.
 * @returns findings; an empty list means that every line is the one that was written, in its place, and none is missing.
 * @throws PortolanError `ledger/missing`.
 */
export function verifySqliteLedger(path: string): readonly LedgerFinding[] {
  if (!fileExists(path)) throw missing(path);
  try {
    const database = openDatabase(path, { readOnly: true });
    try {
      database.exec('PRAGMA trusted_schema = OFF; BEGIN'); // One view of all tables, whatever is written meanwhile.
      return [...structureFindings(database), ...chainFindings(database)];
    } finally {
      database.close();
    }
  } catch (error) {
    if (sqliteFault(error) !== 'corrupt' || !(error instanceof Error)) throw error;
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

function chainFindings(database: DatabaseSync): readonly LedgerFinding[] {
  const standing = readStanding(database);
  if (standing === undefined) return [{ area: 'structure', message: 'it is a database, but not one of Portolan' }];
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
  });
}

function removedByFirstLine(lines: readonly HistoryTable[]): ReadonlyMap<number, RemovedRange> {
  const compacted = lines.filter(({ event }) => event === compactedEvent);
  return new Map(compacted.flatMap(({ detail }) => rangesIn(parsed(detail))).map((range) => [range.from, range]));
}

/** A detail that was tampered with may be no JSON any more; its hash tells. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
