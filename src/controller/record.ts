import type { ResourceId } from '../model/ids.ts';
import type { Observed } from '../model/shown.ts';
import type { ApplicationStatus } from '../model/status.ts';
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
