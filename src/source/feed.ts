import type { PortolanError } from '../model/errors.ts';
import type { EpochMs } from '../model/time.ts';
import type { Contents } from './contents.ts';
import type { Descent } from './revision.ts';

/** One whole reading of a source: of one commit, or of plain files that held still. Never a mixture. */
export interface SourceReading {
  /** `main@sha1:<id>`, or `files@sha256:<digest>` of plain files. */
  readonly revision: string;
  /** null for plain files. */
  readonly commit: { readonly id: string; readonly committedMs: EpochMs } | null;
  readonly contents: Contents;
  readonly observedMs: EpochMs;
  /** How this commit stands to another; `unknown` for plain files and histories that do not reach far enough. */
  descentFrom(ancestor: string): Promise<Descent>;
}

export type SourceState =
  | { readonly type: 'read'; readonly reading: SourceReading }
  /** Nothing could be read, whole, now: what was read before stands. */
  | { readonly type: 'failed'; readonly error: PortolanError; readonly atMs: EpochMs };

/** Watches one source. Level-triggered: what comes is the state of now, and states in between may be left out. */
export interface SourceFeed {
  /** For people: a folder, or an address without credentials, with the ref. */
  readonly location: string;
  /**
   * Reads once and then whenever something may have changed; tells only states that differ from the one before.
   * One call at a time: the next waits until the returned promise has settled. It must not reject.
   */
  start(tell: (state: SourceState) => Promise<void>): void;
  /** Looks now. */
  poke(): void;
  /** Looks now, and tells a failure even if it is the one of before. */
  retry(): void;
  /** Ends every process and watcher of it, and resolves when all have ended. */
  close(): Promise<void>;
}
