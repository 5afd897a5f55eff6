import { chainHash, chainStart, changesText, inventoryEvent, type ObjectChanges } from './inventory.ts';
import type { LedgerOperation, LedgerTransaction } from './ledger.ts';
import type { CommitQueries, Executor } from './queries.ts';
import type { LedgerTables } from './schema.ts';
import type { ScopeKey } from '../model/ids.ts';
import { canonicalJson } from '../model/json.ts';

type RecordOperation = Extract<LedgerOperation, { op: 'record' }>;

/** The end of the chain of a scope. */
type Head = Readonly<Pick<LedgerTables['chain'], 'lines' | 'hash'>>;

/** Holds the sources of the lines that a transaction adds. */
interface Added {
  readonly transaction: LedgerTransaction;
  readonly serial: number;
  readonly changes: ObjectChanges;
}

/**
 * Appends the transaction's lines to its scope's chain; the last one seals the objects that it changed.
 * @param known where the chain ended after an earlier transaction. The end is read only if it is another one now: each answer that a
 * commit waits for makes it longer.
 * @returns where the chain ends now; undefined: the transaction records nothing.
 */
export async function appendLines(
  executor: Executor,
  queries: CommitQueries,
  added: Added,
  known: Head | undefined,
): Promise<Head | undefined> {
  const { scope } = added.transaction;
  const records = recordsOf(added);
  if (records.length === 0) return undefined;
  const movedFrom = async (head: Head): Promise<readonly Line[] | undefined> => {
    const lines = linesAfter(head, records, added);
    const was = { wasLines: head.lines, wasHash: head.hash };
    const moved = await queries.moveHead(executor, { scope, ...endOf(lines), ...was });
    return moved.numAffectedRows === 1n ? lines : undefined;
  };
  const readAndMoved = async (): Promise<readonly Line[]> => {
    const { rows } = await queries.head(executor, { scope });
    const head = { lines: Number(rows[0]?.lines ?? 0), hash: rows[0]?.hash ?? chainStart };
    const lines = linesAfter(head, records, added);
    await queries.setHead(executor, { scope, ...endOf(lines) });
    return lines;
  };
  const lines = (known && (await movedFrom(known))) ?? (await readAndMoved());
  for (const line of lines) await queries.record(executor, line);
  return endOf(lines);
}

function recordsOf({ transaction, changes }: Added): readonly RecordOperation[] {
  const said = transaction.operations.filter((operation) => operation.op === 'record');
  const isSilent = said.length === 0 && changes.size > 0;
  return isSilent ? [{ op: 'record', event: inventoryEvent, detail: {} }] : said;
}

type Line = LedgerTables['history'];

function linesAfter(
  head: Head,
  records: readonly RecordOperation[],
  { transaction, serial, changes }: Added,
): readonly Line[] {
  const { scope, atMs, actor } = transaction;
  const lines: Line[] = [];
  for (const [at, { event, uid = null, detail }] of records.entries()) {
    const line = head.lines + at + 1;
    const previous = lines.at(-1)?.hash ?? head.hash;
    const text = canonicalJson(detail);
    const objects = at === records.length - 1 ? changesText(changes) : null;
    const hash = chainHash(previous, { scope, line, serial, atMs, actor, event, uid, detail: text, objects });
    lines.push({
      scope,
      line,
      serial,
      at_ms: atMs,
      actor,
      event,
      uid,
      detail: text,
      prev_hash: previous,
      hash,
      objects,
    });
  }
  return lines;
}

function endOf(lines: readonly Line[]): Head {
  const { line, hash } = lines.at(-1) as Line;
  return { lines: line, hash };
}

/** Limit of the ends that are kept: more than a process writes at a time. */
const HEADS_MAX = 1_000;

/** Remembers the ends of the chains that a ledger wrote last. */
export class KnownHeads {
  readonly #heads = new Map<ScopeKey, Head>();

  get(scope: ScopeKey): Head | undefined {
    return this.#heads.get(scope);
  }

  /** Forgets the chain that was written longest ago, if there are many. */
  keep(scope: ScopeKey, head: Head): void {
    this.#heads.delete(scope);
    this.#heads.set(scope, head);
    const [first] = this.#heads.keys();
    if (this.#heads.size > HEADS_MAX && first !== undefined) this.#heads.delete(first);
  }
}
