import type { LedgerOperation } from '../ledger/ledger.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import type { ResourceId } from '../model/ids.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { ApplicationStatus } from '../model/status.ts';
import type { Observed } from '../model/shown.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import type { Work } from '../reconcile/reconcile.ts';

/** What of an application outlives the process, beside its status. */
export interface Kept {
  /** By an operator's word; a manifest's annotation is in the manifest. */
  readonly suspended: { readonly by: string; readonly reason: string; readonly sinceMs: EpochMs } | null;
  /** A plan that a person let through, until a pass takes it up. */
  readonly approved: { readonly digest: string; readonly by: string; readonly atMs: EpochMs } | null;
  /** What is to be removed, by natural key, and how long it was watched being gone from the source without a break. */
  readonly goneForMs: Readonly<Record<string, number>>;
  /** Of these, what only moves: its manifest created another one, maybe in an earlier pass. */
  readonly moved: readonly string[];
  /** Resources suspended by annotation, and since when. */
  readonly asideSince: Readonly<Record<ResourceId, EpochMs>>;
  /** When somebody was last told that something here is suspended for long. */
  readonly remindedMs: EpochMs | null;
  /** When something was changed last, until its health after that is known. */
  readonly changedMs: EpochMs | null;
}

export const nothingKept: Kept = {
  suspended: null,
  approved: null,
  goneForMs: {},
  moved: [],
  asideSince: {},
  remindedMs: null,
  changedMs: null,
};

/** One application of the source, as the controller holds it. The values in it are replaced, never changed. */
export interface AppRecord {
  readonly id: ResourceId;
  work: Work;
  /** Of the source, in which `work` was last seen; and the snapshot of it. */
  revision: string;
  snapshot: string;
  /** The revision that changed something of it last, when that was first seen, and the commit's own time. */
  changedRevision: string;
  observedMs: EpochMs;
  committedMs: EpochMs | null;
  status: ApplicationStatus;
  kept: Kept;
  /** What this process observed last; null: nothing yet. */
  observed: Observed | null;
  /** What the ledger holds of status and `kept`, without times. */
  written: string;
  /** Until when this process has counted `goneForMs`. */
  watchedMs: MonotonicMs | undefined;
  /** Snapshot of which a person approved the plan, if that was the last one. */
  approvedSnapshot: string | undefined;
  /** Passes begun by this process. */
  passes: number;
  isRunning: boolean;
  /** No pass has tried what is wanted now. */
  isFresh: boolean;
  /** It changed with few others, and has not come to rest since: they are looked at each by itself. */
  isAlone: boolean;
  /** Revisions whose milestones were told. */
  reached: { revision: string; milestones: Set<string> };
}

type Stored = Pick<AppRecord, 'status' | 'kept'>;

/** Fields that only say when, or how often: a change of nothing else is not worth a write. */
const TIMES: ReadonlySet<string> = new Set([
  'lastAttemptMs',
  'lastSuccessMs',
  'nextAttemptMs',
  'failures',
  'atMs',
  'lastAttemptedRevision',
]);

/** What an application looks like without times. */
export function standing({ status, kept }: Stored): string {
  return JSON.stringify({ status, kept }, (key, value: unknown) => (TIMES.has(key) ? undefined : value));
}

/** Writes an application's status down where it says something new, with lines of history beside it. */
export async function keepRecord(
  sourceLedger: SourceLedger,
  record: AppRecord,
  lines: readonly LedgerOperation[] = [],
): Promise<void> {
  const now = standing(record);
  if (now === record.written && lines.length === 0) return;
  const { status, kept } = record;
  const value = JSON.stringify({ status, kept } satisfies Stored);
  const key = statusFact(sourceLedger.source, record.id);
  const operations = [{ op: 'set-fact', key, value } as const, ...lines];
  await recordOfSource(sourceLedger, operations, status.scope ?? undefined);
  record.written = now;
}

/** What an earlier process wrote down of an application. */
export async function restoreRecord(sourceLedger: SourceLedger, id: ResourceId): Promise<Stored | undefined> {
  const text = await sourceLedger.ledger.fact(statusFact(sourceLedger.source, id));
  return text === undefined ? undefined : (JSON.parse(text) as Stored);
}

function statusFact(source: string, id: ResourceId): string {
  return `status ${source} ${id}`;
}

/** A line of the history. */
export function line(event: string, detail: Json): LedgerOperation {
  return { op: 'record', event, detail };
}

/** Small facts of the controller as canonical JSON, written only when they change. */
export async function keepFact(sourceLedger: SourceLedger, name: string, value: Json): Promise<void> {
  const key = `${name} ${sourceLedger.source}`;
  const text = canonicalJson(value);
  if ((await sourceLedger.ledger.fact(key)) === text) return;
  await recordOfSource(sourceLedger, [{ op: 'set-fact', key, value: text }]);
}

export async function restoreFact<T extends Json>(
  { ledger, source }: SourceLedger,
  name: string,
): Promise<T | undefined> {
  const text = await ledger.fact(`${name} ${source}`);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
