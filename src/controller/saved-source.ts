import type { LedgerOperation } from '../ledger/ledger.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import type { Contents } from '../source/contents.ts';

/** Index of the saved parts, written with them in one transaction. */
interface Index {
  readonly snapshot: string;
  readonly revision: string;
  /** Digest of each part. */
  readonly parts: readonly string[];
}

/**
 * Saves the accepted files: the parts that changed. Calls must not overlap.
 * @param more returns operations for the same transaction.
 */
export async function saveSource(
  sourceLedger: SourceLedger,
  snapshot: string,
  revision: string,
  contents: Contents,
  more: () => readonly LedgerOperation[] = () => [],
): Promise<void> {
  const { source } = sourceLedger;
  const before = await indexOf(sourceLedger);
  const { digests, parts } = await contents.pack(before?.parts ?? []);
  const operations: LedgerOperation[] = [];
  for await (const { place, text } of parts)
    operations.push({ op: 'set-fact', key: partFact(source, place), value: text });
  // The ledger does not delete facts; an empty one needs no space.
  for (let place = digests.length; place < (before?.parts.length ?? 0); place += 1)
    operations.push({ op: 'set-fact', key: partFact(source, place), value: '' });
  const index: Index = { snapshot, revision, parts: digests };
  operations.push({ op: 'set-fact', key: indexFact(source), value: JSON.stringify(index) });
  operations.push(...more());
  await recordOfSource(sourceLedger, operations);
}

/** Returns the files of the accepted snapshot, so that a restart does not depend on the source. */
export async function restoreSource(sourceLedger: SourceLedger) {
  const { ledger, source } = sourceLedger;
  const index = await indexOf(sourceLedger);
  if (index === undefined) return undefined;
  return {
    snapshot: index.snapshot,
    revision: index.revision,
    /** Returns the packed files. If a part is missing, they do not match the snapshot and are not used. */
    async *parts(): AsyncIterable<string> {
      for (const place of index.parts.keys()) {
        const value = await ledger.fact(partFact(source, place));
        if (value !== undefined) yield value;
      }
    },
  };
}

async function indexOf({ ledger, source }: SourceLedger): Promise<Index | undefined> {
  const value = await ledger.fact(indexFact(source));
  // Builds before the first release stored all files in this one fact, as base64.
  return value?.startsWith('{') === true ? (JSON.parse(value) as Index) : undefined;
}

function indexFact(source: string): string {
  return `files ${source}`;
}

function partFact(source: string, place: number): string {
  return `files-${place} ${source}`;
}
