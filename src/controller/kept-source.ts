import type { LedgerOperation } from '../ledger/ledger.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import type { Contents } from '../source/contents.ts';

/** What is in the ledger beside the parts; written with them in one transaction. */
interface Index {
  readonly snapshot: string;
  readonly revision: string;
  /** What each part says, as a digest. */
  readonly parts: readonly string[];
}

/** Writes the accepted files down: the parts that changed. One call after the other. */
export async function keepSource(
  sourceLedger: SourceLedger,
  snapshot: string,
  revision: string,
  contents: Contents,
): Promise<void> {
  const { source } = sourceLedger;
  const before = await indexOf(sourceLedger);
  const { digests, parts } = await contents.pack(before?.parts ?? []);
  const operations: LedgerOperation[] = [];
  for await (const { place, text } of parts)
    operations.push({ op: 'set-fact', key: partFact(source, place), value: text });
  // Facts are not deleted; empty, they take no room.
  for (let place = digests.length; place < (before?.parts.length ?? 0); place += 1)
    operations.push({ op: 'set-fact', key: partFact(source, place), value: '' });
  const index: Index = { snapshot, revision, parts: digests };
  operations.push({ op: 'set-fact', key: indexFact(source), value: JSON.stringify(index) });
  await recordOfSource(sourceLedger, operations);
}

/** Returns the files of the accepted snapshot, so that a restart needs no source to go on. */
export async function restoreSource(sourceLedger: SourceLedger) {
  const { ledger, source } = sourceLedger;
  const index = await indexOf(sourceLedger);
  if (index === undefined) return undefined;
  return {
    snapshot: index.snapshot,
    revision: index.revision,
    /** Its files. Where one part is missing they mean something else than the snapshot, and are not used. */
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
  // Builds before the first release kept all files in this one fact, as base64.
  return value?.startsWith('{') === true ? (JSON.parse(value) as Index) : undefined;
}

function indexFact(source: string): string {
  return `files ${source}`;
}

function partFact(source: string, place: number): string {
  return `files-${place} ${source}`;
}
