import type { PortolanError } from '../model/errors.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import type { Contents } from './contents.ts';
import type { Age, Descent } from './revision.ts';

/** The facts of a commit that people know it by. */
export interface CommitFacts {
  /** Full id. */
  readonly id: string;
  readonly committedMs: EpochMs;
  /** `Ann <ann@example.com>` */
  readonly author?: string;
  /** First line of its message. */
  readonly subject?: string;
}

/** The commits of the repository whose ids begin with a text. */
export type FoundCommit =
  | {
      readonly found: 'one';
      readonly commit: CommitFacts;
      /** Returns the relation of another commit to this one. Fetches nothing: `unknown` when the history is too short. */
      readonly descent: (descendant: string) => Promise<Descent>;
    }
  | { readonly found: 'none' | 'several' };

/** One consistent reading of a source: of one commit, or of plain files that did not change meanwhile. */
export interface SourceReading {
  /** `main@sha1:<id>`, or `files@sha256:<digest>` for plain files. */
  readonly revision: string;
  /** null for plain files. */
  readonly commit: CommitFacts | null;
  readonly contents: Contents;
  readonly observedMs: EpochMs;
  /** Returns the relation of this commit to another; `unknown` for plain files, and when the history is too short. */
  descentFrom(ancestor: string): Promise<Descent>;
  /**
   * Returns whether this commit is older than one that another process has read. Only a checkout of this machine can be:
   * Portolan does not update it.
   */
  olderThan?(commit: string): Promise<Age>;
}

export type SourceState =
  | {
      readonly type: 'read';
      readonly reading: SourceReading;
      /** When the source was asked for its present state. */
      readonly askedMs: MonotonicMs;
    }
  /** The source could not be read completely. The previous reading stays in effect. */
  | { readonly type: 'failed'; readonly error: PortolanError; readonly atMs: EpochMs };

/** Watches one source. Level-triggered: reports the present state, and may skip states in between. */
export interface SourceFeed {
  /** Shown in messages: a folder, or an address without credentials, with the ref. */
  readonly location: string;
  /**
   * Reads the source now and whenever it may have changed. Reports only states that differ from the previous one.
   * @param report is called again only after its promise has resolved. It must not reject.
   */
  start(report: (state: SourceState) => Promise<void>): void;
  /** Reads the source now. */
  poke(): void;
  /**
   * Looks for a commit in the repository as it was last read. Plain files have none.
   * @param prefix the beginning of its id, at least 4 hexadecimal digits.
   * @throws PortolanError when git fails.
   */
  findCommit(prefix: string): Promise<FoundCommit>;
  /** Reads the source now, and reports a failure even if it is the same as before. */
  retry(): void;
  /** Reads the source now, and reports what it finds even if it is the same as before. */
  confirm(): void;
  /** Ends all processes and watchers of the feed, and resolves when they have ended. */
  close(): Promise<void>;
}
