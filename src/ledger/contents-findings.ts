import type { LedgerContents } from './contents.ts';
import { inventoryFaults } from './inventory.ts';
import { newestSchemaAt } from './migrations.ts';
import type { LedgerTables } from './schema.ts';
import { type InventoryCoverage, type LedgerFinding, verifyChain } from './verify.ts';
import type { ScopeKey } from '../model/ids.ts';

/** Everything that belongs to one scope. */
interface ScopeContents {
  readonly lines: LedgerTables['history'][];
  readonly objects: LedgerTables['object'][];
  head: LedgerTables['chain'] | undefined;
}

/** Returns the faults in the history of each scope, and the objects that differ from it. Holds one scope at a time. */
export async function contentsFindings(contents: LedgerContents): Promise<readonly LedgerFinding[]> {
  const { standing, coveredSince } = contents;
  const known = newestSchemaAt(contents.location);
  if (standing.schema > known) {
    const message = `the ledger has schema ${standing.schema}, and this version of Portolan knows up to ${known}: nothing else could be checked`;
    return [{ area: 'schema', message }];
  }
  const findings: LedgerFinding[] = [];
  for await (const [scope, { lines, objects, head }] of byScope(contents)) {
    if (lines.length > 0 || head !== undefined) findings.push(...verifyChain(scope, lines, head, standing.serial));
    if (coveredSince === undefined) continue;
    for (const message of inventoryFaults(
      lines.filter((line) => line.objects !== null),
      objects,
    ))
      findings.push({ area: 'inventory', scope, message });
  }
  return findings;
}

async function* byScope(contents: LedgerContents): AsyncGenerator<readonly [ScopeKey, ScopeContents]> {
  const heads = new Map<ScopeKey, LedgerTables['chain']>();
  for await (const head of contents.rows('chain')) heads.set(head.scope, head);
  const objects = new Map<ScopeKey, LedgerTables['object'][]>();
  for await (const object of contents.rows('object', ['scope', 'uid'])) {
    const ofScope = objects.get(object.scope);
    if (ofScope === undefined) objects.set(object.scope, [object]);
    else ofScope.push(object);
  }
  const finished = (scope: ScopeKey, lines: LedgerTables['history'][]): readonly [ScopeKey, ScopeContents] => {
    const found = { lines, objects: objects.get(scope) ?? [], head: heads.get(scope) };
    heads.delete(scope);
    objects.delete(scope);
    return [scope, found];
  };
  let lines: LedgerTables['history'][] = [];
  for await (const line of contents.rows('history', ['scope', 'line'])) {
    const scope = lines[0]?.scope;
    if (scope !== undefined && scope !== line.scope) {
      yield finished(scope, lines);
      lines = [];
    }
    lines.push(line);
  }
  if (lines[0] !== undefined) yield finished(lines[0].scope, lines);
  for (const scope of new Set([...heads.keys(), ...objects.keys()])) yield finished(scope, []);
}

/** Returns how much of the objects `contentsFindings` could check. */
export async function contentsCoverage(contents: LedgerContents): Promise<InventoryCoverage> {
  let objects = 0;
  for await (const _ of contents.rows('object')) objects += 1;
  return { objects, since: contents.coveredSince };
}
