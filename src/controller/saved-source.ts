import type { LedgerOperation } from '../ledger/ledger.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import type { PortolanError } from '../model/errors.ts';
import type { DesiredState } from '../model/resource.ts';
import type { EpochMs } from '../model/time.ts';
import type { Contents, LoadContext, Workbench } from '../source/contents.ts';
import type { CommitFacts } from '../source/feed.ts';
import { isDamagedCopy } from '../source/packing.ts';
import { isUnreadable } from '../source/unreadable.ts';
import type { Decision } from './acceptance.ts';

/** An accepted revision, and what was decided about it. */
export interface SavedRevision {
  readonly snapshot: string;
  readonly revision: string;
  /** undefined: an earlier version saved it. */
  readonly accepted?: AcceptanceRecord | undefined;
}

/** The facts of an acceptance that other replicas and later processes do not decide again. */
export interface AcceptanceRecord extends Decision {
  readonly commit: CommitFacts | null;
  readonly observedMs: EpochMs;
  readonly acceptedMs: EpochMs;
}

/** Index of the saved parts, written with them in one transaction. */
interface Index extends SavedRevision {
  /** Digest of each part. */
  readonly parts: readonly string[];
}

/**
 * Saves the accepted files: the parts that changed. Calls must not overlap.
 * @param more returns operations for the same transaction.
 */
export async function saveSource(
  sourceLedger: SourceLedger,
  saved: SavedRevision,
  contents: Contents,
  more: () => readonly LedgerOperation[] = () => [],
): Promise<void> {
  const operations = await savingOperations(sourceLedger, saved, contents);
  await recordOfSource(sourceLedger, [...operations, ...more()]);
}

/** Returns the operations that save the accepted files, for one transaction. */
export async function savingOperations(
  sourceLedger: SourceLedger,
  { snapshot, revision, accepted }: SavedRevision,
  contents: Contents,
): Promise<readonly LedgerOperation[]> {
  const { source } = sourceLedger;
  const before = indexIn(await savedText(sourceLedger));
  const { digests, parts } = await contents.pack(before?.parts ?? []);
  const operations: LedgerOperation[] = [];
  for await (const { place, text } of parts)
    operations.push({ op: 'set-fact', key: partFact(source, place), value: text });
  // The ledger does not delete facts; an empty one needs no space.
  for (let place = digests.length; place < (before?.parts.length ?? 0); place += 1)
    operations.push({ op: 'set-fact', key: partFact(source, place), value: '' });
  const index: Index = { snapshot, revision, parts: digests, accepted };
  operations.push({ op: 'set-fact', key: savedSourceFact(source), value: JSON.stringify(index) });
  return operations;
}

/** The files of an accepted revision in the ledger. */
export interface SavedSource extends SavedRevision {
  /** Returns the packed files. If a part is missing, they do not match the snapshot and are not used. */
  parts(): AsyncIterable<string>;
  /**
   * Returns whether the ledger still has this revision. If not, some of the parts may be of a later one: each revision replaces parts
   * of the former one, in the transaction that changes the index.
   */
  isCurrent(): Promise<boolean>;
}

/** Returns the files of the accepted snapshot, so that neither a restart nor another replica depends on the source. */
export async function restoreSource(sourceLedger: SourceLedger): Promise<SavedSource | undefined> {
  const { ledger, source } = sourceLedger;
  const text = await savedText(sourceLedger);
  const index = indexIn(text);
  if (index === undefined) return undefined;
  const { snapshot, revision, accepted } = index;
  return {
    snapshot,
    revision,
    accepted,
    async *parts() {
      for (const place of index.parts.keys()) {
        const value = await ledger.fact(partFact(source, place));
        if (value !== undefined) yield value;
      }
    },
    isCurrent: async () => (await savedText(sourceLedger)) === text,
  };
}

function savedText({ ledger, source }: SourceLedger): Promise<string | undefined> {
  return ledger.fact(savedSourceFact(source));
}

function indexIn(value: string | undefined): Index | undefined {
  // Builds before the first release stored all files in this one fact, as base64.
  return value?.startsWith('{') === true ? (JSON.parse(value) as Index) : undefined;
}

/** Returns the key of the index, which changes with each accepted revision. */
export function savedSourceFact(source: string): string {
  return `files ${source}`;
}

function partFact(source: string, place: number): string {
  return `files-${place} ${source}`;
}

/**
 * The result of loading saved files. `different`: variables, configuration or version give them another meaning now. `outdated`: a later
 * revision was saved meanwhile, so what was read may be a mix of both.
 */
export type LoadedSaved =
  | { readonly type: 'loaded'; readonly desired: DesiredState }
  | { readonly type: 'different'; readonly why: string | undefined }
  | { readonly type: 'failed'; readonly error: PortolanError }
  | { readonly type: 'outdated' };

/** The members of the controller that loading uses. */
interface Loading {
  readonly options: { readonly workbench: Pick<Workbench, 'unpack'> };
  readonly configuration: LoadContext;
}

/** Parses the saved files, and checks that they still have the meaning that was accepted. */
export async function loadSaved(loading: Loading, saved: SavedSource): Promise<LoadedSaved> {
  const [ended] = await Promise.allSettled([loadParts(loading, saved)]);
  // Neither a result nor an error of a mix says anything. The snapshot does not notice a mix of revisions with the same meaning.
  if (!(await saved.isCurrent())) return { type: 'outdated' };
  if (ended.status === 'rejected') throw ended.reason;
  return ended.value;
}

async function loadParts(
  { options: { workbench }, configuration }: Loading,
  saved: SavedSource,
): Promise<Exclude<LoadedSaved, { type: 'outdated' }>> {
  try {
    const contents = await workbench.unpack(saved.parts);
    const { desired, snapshot, problems } = await contents.load(configuration);
    const [problem] = problems;
    if (problem === undefined && snapshot === saved.snapshot) return { type: 'loaded', desired };
    return { type: 'different', why: problem?.message };
  } catch (error) {
    if (!isUnreadable(error) && !isDamagedCopy(error)) throw error;
    return { type: 'failed', error };
  }
}
