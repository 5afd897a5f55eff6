import type { ResourceId } from '../../model/ids.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Stored } from '../ledger-records.ts';

export interface Age {
  readonly asOfMs: EpochMs;
  readonly ageMs: number;
}

/** The part of this process's state that other replicas store. */
export interface SharedView {
  /** Returns when it was last read, and the time since then; before the first read, those of the start of this process. */
  age(): Age;
  /** The database answered the last read. */
  readonly isCurrent: boolean;
  /** No read has succeeded for so long that what this process works towards may be outdated. Nothing is sent then. */
  readonly isStale: boolean;
  /** Returns what the last read found of an application that is new to this process; undefined: the ledger may have more. */
  take(id: ResourceId): Stored | undefined;
  /**
   * Reads which applications of this process another one has stored. Call it before a revision is followed, if others may have worked by
   * one between it and the last one that was followed. @throws PortolanError when the database does not answer.
   */
  noteMoves(): Promise<void>;
  /** Stores the commits, if this process leads the source and has changed them. */
  saveCommits(): Promise<void>;
}
