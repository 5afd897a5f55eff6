import { hash } from 'node:crypto';
import type { LedgerOperation } from '../ledger/ledger.ts';
import type { LeaseUnit } from '../ledger/shared.ts';
import { recordOfSource, type SourceLedger } from '../ledger/source-ledger.ts';
import { compact } from '../manifest/compact.ts';
import { PortolanError } from '../model/errors.ts';
import type { LastChange } from '../model/fleet.ts';
import type { ResourceId, ScopeKey } from '../model/ids.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { ApplicationStatus } from '../model/status.ts';
import type { ScopePlan } from '../model/plan.ts';
import type { Observed } from '../model/shown.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import { type PackedText, packText, unpackText } from './packed-text.ts';
import { platformUnit } from './replicas/leadership.ts';
import type { RecordTurns } from './record-turns.ts';
import type { Work } from '../reconcile/reconcile.ts';

/** A commit that changed an application. */
export interface CommitMark {
  readonly revision: string;
  /** When the application was in sync with it; null: it was not, or not yet. */
  readonly appliedMs: EpochMs | null;
}

/** State of an application that survives the process, besides its status. */
export interface Kept {
  /** Suspension by an operator. Suspension by annotation is in the manifest. */
  readonly suspended: { readonly by: string; readonly reason: string; readonly sinceMs: EpochMs } | null;
  /** A plan that a person approved, until a pass uses the approval. */
  readonly approved: { readonly digest: string; readonly by: string; readonly atMs: EpochMs } | null;
  /** A resource that a person lets the next pass adopt, if its plan still has this digest. */
  readonly adopting: {
    readonly resource: ResourceId;
    readonly digest: string;
    readonly by: string;
    readonly reason: string;
    readonly atMs: EpochMs;
  } | null;
  /** Pending removals by natural key, with the time that each was observed to be gone from the source. */
  readonly goneForMs: Readonly<Record<string, number>>;
  /** When the revision was accepted under which they were found pending last; null: nothing is pending, or that is not known. */
  readonly goneAtMs: EpochMs | null;
  /**
   * Pending removals of objects that only move: their manifest has created another one, possibly in an earlier pass.
   */
  readonly moved: readonly string[];
  /** Resources suspended by annotation, with the time of the first pass that found them so. */
  readonly asideSince: Readonly<Record<ResourceId, EpochMs>>;
  /** When a long suspension was last reported. */
  readonly remindedMs: EpochMs | null;
  /** Commits that changed the manifests of the application, the newest last. */
  readonly commits: readonly CommitMark[];
  /** Digest of its manifests. */
  readonly digest: string;
  /** The last write that succeeded. */
  readonly lastChange: LastChange | null;
  /** The last scope that the platform resolved, and the reference of the manifest that it was resolved from. */
  readonly resolved: { readonly from: string; readonly scope: ScopeKey } | null;
  /** When something was last changed, until the health after that change is known. */
  readonly changedMs: EpochMs | null;
  /**
   * Number of times that the leader of a platform has taken it over from the leader of another one. A command counts only as long as this
   * number does not change: a later one may have been carried out elsewhere.
   */
  readonly takeovers: number;
}

export const nothingKept: Kept = {
  suspended: null,
  approved: null,
  adopting: null,
  goneForMs: {},
  goneAtMs: null,
  moved: [],
  asideSince: {},
  remindedMs: null,
  commits: [],
  digest: '',
  lastChange: null,
  resolved: null,
  changedMs: null,
  takeovers: 0,
};

/** One application of the source in memory. Its values are replaced, never changed. */
export interface AppRecord {
  readonly id: ResourceId;
  work: Work;
  /** Revision and snapshot of the source that `work` was last part of. */
  revision: string;
  snapshot: string;
  /** The last revision that changed the application, when it was first observed, and when it was committed. */
  changedRevision: string;
  observedMs: EpochMs;
  committedMs: EpochMs | null;
  /** Author of that revision's commit. */
  author: string | null;
  status: ApplicationStatus;
  kept: Kept;
  /** Last observation of this process; null before the first. */
  observed: KeptObservation | null;
  /** The plan that the last pass of this process ended with; null before the first. */
  plan: ScopePlan | null;
  /** Resources whose fields the platform did not show in the last pass. */
  hidden: ReadonlySet<ResourceId>;
  /** Why observation could not decide a request in doubt, by its intent, as the last pass found it. */
  doubts: ReadonlyMap<string, string>;
  /**
   * A commit has moved it to its platform, so that the former leader may have stored more than this process knows: `takeOver` ends that.
   * Each move has an object of its own. undefined: what is stored is what its leader has stored.
   */
  moved: { readonly to: string } | undefined;
  /** Digest of status and `kept` in the ledger, without times. */
  written: string;
  /** The turns in which it is stored. */
  readonly turns: RecordTurns;
  /** Up to when this process has counted `goneForMs`. */
  watchedMs: MonotonicMs | undefined;
  /** Snapshot of the plan that a person approved last. */
  approvedSnapshot: string | undefined;
  /** Passes that this process began. */
  passes: number;
  /** When the last of them began. */
  passedMs: MonotonicMs | undefined;
  isRunning: boolean;
  /** No pass has tried the present manifests. */
  isUntried: boolean;
  /** It changed together with few others and is not in sync yet, so it is read alone instead of with a listing. */
  isAlone: boolean;
  /** Milestones that were reported for a revision. */
  reached: { revision: string; milestones: Set<string> };
}

/** An observation, whose text takes a tenth of the memory of its objects, and packed a seventh of that. */
interface KeptObservation {
  readonly atMs: EpochMs;
  /** All but the time, as JSON. */
  readonly others: PackedText;
  readonly digest: string;
}

/** Stores an observation. An equal one stays, and is not packed again. */
export function keepObserved(record: AppRecord, { atMs, ...rest }: Observed): void {
  const text = JSON.stringify(rest);
  const digest = hash('sha256', text, 'base64');
  const { observed } = record;
  record.observed = observed?.digest === digest ? { ...observed, atMs } : { atMs, digest, others: packText(text) };
}

export function observedOf({ observed }: Pick<AppRecord, 'observed'>): Observed | null {
  return observed && { atMs: observed.atMs, ...(JSON.parse(unpackText(observed.others)) as Omit<Observed, 'atMs'>) };
}

/** Stores the plan that a pass ended with, without room for more: of most applications, nearly all of its lists are empty. */
export function keepPlan(record: AppRecord, plan: ScopePlan): void {
  const { actions, deferred, holds, notes, inSync } = plan;
  record.plan = {
    ...plan,
    actions: compact(actions),
    deferred: compact(deferred),
    holds: compact(holds),
    notes: compact(notes),
    inSync: compact(inSync),
  };
}

/** Shared by all applications without them. */
export const NONE_HIDDEN: AppRecord['hidden'] = new Set();
export const NO_DOUBTS: AppRecord['doubts'] = new Map();

/** The record of an application in the ledger. */
export type Stored = Pick<AppRecord, 'status' | 'kept'>;

/** Members that only say when or how often. A change of these alone is not written. */
const TIMES: ReadonlySet<string> = new Set([
  'lastAttemptMs',
  'lastSuccessMs',
  'nextAttemptMs',
  'failures',
  'atMs',
  'lastAttemptedRevision',
]);

/** Returns a digest of status and `kept` without times, to find out whether they changed. */
export function digestWithoutTimes({ status, kept }: Stored): string {
  return hash(
    'sha256',
    JSON.stringify({ status, kept }, (key, value: unknown) => (TIMES.has(key) ? undefined : value)),
  );
}

/** The ledger as the leader of a platform stores the statuses of its applications. */
export interface StatusLedger extends SourceLedger {
  /** The platform. */
  readonly unit: LeaseUnit;
  /** Another process may lead the platform to which a commit moves an application. */
  readonly isShared: boolean;
}

/**
 * Saves the status of an application if it changed, with rows of history.
 * @throws PortolanError `controller/not-leader` if a commit has moved the application to another platform, or from another one and
 * `takeOver` has not taken its record over yet.
 */
export function saveRecord(
  statusLedger: StatusLedger,
  record: AppRecord,
  lines: readonly LedgerOperation[] = [],
): Promise<void> {
  return record.turns.run(record.id, () => writeRecord(statusLedger, record, lines));
}

/** Does the same as `saveRecord`, for a caller whose turn it is. */
export async function writeRecord(
  statusLedger: StatusLedger,
  record: AppRecord,
  lines: readonly LedgerOperation[],
): Promise<void> {
  const now = digestWithoutTimes(record);
  if (now === record.written && lines.length === 0) return;
  const { id, status, kept, snapshot } = record;
  const { unit, source, ledger, isShared } = statusLedger;
  if (platformUnit(status.platform) !== unit || record.moved !== undefined) throw notStoredBy(unit, record);
  const text = isShared ? await ledger.fact(statusFact(source, id)) : undefined;
  const storing = replacing(statusLedger, { id, status, kept, snapshot }, text);
  try {
    // The leader of another platform has stored it, by a commit that this process has not followed.
    if (text !== undefined && (platformIn(text) ?? status.platform) !== status.platform)
      throw notStoredBy(unit, record);
    await recordOfSource(statusLedger, [...storing, ...lines], status.scope ?? unit);
  } catch (error) {
    if (!isShared || !isTakenAway(error)) throw error;
    record.moved = { to: status.platform };
    throw notStoredBy(unit, record, error);
  }
  record.written = now;
}

/** Returns whether the leader of another platform has stored an application: a lease protects its record from all others. */
function isTakenAway(error: unknown): boolean {
  return error instanceof PortolanError && (error.code === 'ledger/conflict' || error.code === 'controller/not-leader');
}

/**
 * Returns the operations that store a record in the place of a text; undefined: of none. The lease of a platform protects the records that
 * its leader has stored. Any other one is replaced only while the revision is the accepted one, because another commit may move the
 * application to another leader.
 */
export function replacing(
  { source, isShared }: StatusLedger,
  { id, status, kept, snapshot }: Pick<AppRecord, 'id' | 'status' | 'kept' | 'snapshot'>,
  text: string | undefined,
): readonly LedgerOperation[] {
  const value = JSON.stringify({ status, kept } satisfies Stored);
  const set = { op: 'set-fact', key: statusFact(source, id), value } as const;
  if (!isShared) return [set];
  const isOwn = text !== undefined && platformIn(text) === status.platform;
  return [...(isOwn ? [] : [{ op: 'expect-snapshot', source, id: snapshot } as const]), { ...set, was: text ?? null }];
}

/** A commit has moved an application to or from the platform that this process leads. */
export function notStoredBy(unit: LeaseUnit, { id }: AppRecord, cause?: unknown): PortolanError {
  const platform = unit.slice(unit.indexOf(':') + 1);
  return new PortolanError({
    code: 'controller/not-leader',
    disposition: 'retry',
    message: `A new commit may have moved ${id} to or from Platform/${platform}, so the controller that leads this platform stored nothing about it.`,
    remedy: 'Retry in a few seconds; portolan replicas shows the leaders.',
    cause,
  });
}

/** The beginning of nearly every stored record. */
const BEGINNING = /^\{"status":\{"id":"[^"\\]*","scope":(?:null|"[^"\\]*"),"platform":"([^"\\]*)"/;

/** Returns the platform whose leader stored a record; undefined: this version does not understand the record. */
export function platformIn(text: string): string | undefined {
  // Records are long, and each process reads all of them.
  return BEGINNING.exec(text)?.[1] ?? parseStored(text)?.status.platform;
}

/** Returns what an earlier process saved of an application. `unreadable`: this version does not understand it. */
export async function restoreRecord(
  sourceLedger: SourceLedger,
  id: ResourceId,
): Promise<Stored | 'unreadable' | undefined> {
  const text = await sourceLedger.ledger.fact(statusFact(sourceLedger.source, id));
  return text === undefined ? undefined : (parseStored(text) ?? 'unreadable');
}

/** Returns a stored record; undefined: this version does not understand it. A bug or another version may have stored it. */
export function parseStored(text: string): Stored | undefined {
  try {
    const { status, kept } = JSON.parse(text) as Stored;
    return Array.isArray(status.conditions) && typeof kept === 'object' && kept !== null ? { status, kept } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the text that the keys of all statuses of a source begin with. */
export function statusPrefix(source: string): string {
  return `status ${source} `;
}

/** Returns the key of the status of an application. */
export function statusFact(source: string, id: ResourceId): string {
  return `${statusPrefix(source)}${id}`;
}

/** Returns a row of the history. */
export function historyRow(event: string, detail: Json): LedgerOperation {
  return { op: 'record', event, detail };
}

/** Saves a small fact of the controller as canonical JSON, if it changed. */
export async function saveFact(sourceLedger: SourceLedger, name: string, value: Json): Promise<void> {
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
