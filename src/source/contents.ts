import type { LoadedManifests, ManifestInput } from '../manifest/load.ts';
import type { PolicyQuestion, PolicyResult } from '../policies/spec.ts';
import type { SourceFile } from '../manifest/text.ts';
import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import type { EpochMs } from '../model/time.ts';
import type { PathInCommit } from './checkout.ts';
import type { Packed } from './packing.ts';

/** Values that loading manifests needs. */
export type LoadContext = Required<Pick<ManifestInput, 'variables' | 'operator'>>;

/** The loaded manifests. Resources that did not change since the previous load are the same objects. */
export interface LoadedSource extends LoadedManifests {
  /** `snapshotId` of `desired`; empty if there is any problem. */
  readonly snapshot: string;
}

/** Files that were read. They stay in the thread that read them. */
export interface Contents {
  /**
   * Parses the files.
   * @param signal ends the work.
   * @throws PortolanError when the thread that holds the files fails, or the files cannot be read once more after it failed.
   */
  load(context: LoadContext, signal?: AbortSignal): Promise<LoadedSource>;
  /** Packs the files for the ledger. @param known digests of parts that the ledger has. @throws PortolanError as `load`. */
  pack(known: readonly string[]): Promise<Packed>;
}

/** The place of the files of a commit. Plain data, so that it can be sent to another thread. */
export interface CommitPlace {
  /** Real path of the checkout or bare repository. */
  readonly root: string;
  /** Changes when another repository replaces this one. */
  readonly identity: string;
  /** Full id. */
  readonly commit: string;
  readonly paths: readonly PathInCommit[];
  /** Excluded paths from the top of the tree: the configuration, which may be among the manifests. */
  readonly exclude: readonly string[];
}

/** The place of plain files. Plain data, so that it can be sent to another thread. */
export interface FolderPlace {
  readonly paths: readonly string[];
  readonly exclude: readonly string[];
  /** Milliseconds for which the files must not change. */
  readonly stableMs: number;
}

export interface CommitContents {
  readonly contents: Contents;
  readonly committedMs: EpochMs;
  readonly author: string;
  readonly subject: string;
  readonly parents: readonly string[];
}

export interface FolderContents {
  readonly contents: Contents;
  /** Digest of names, sizes, times and inodes of all entries. */
  readonly stats: string;
  /** Digest of names, contents, and problems. */
  readonly digest: string;
}

/** Reads and parses sources. The command line does that in its own thread, the daemon in another. */
export interface Workbench {
  /**
   * Reads a commit.
   * @param label the name of the commit in messages: `main@sha1:<id>`.
   * @throws PortolanError when git fails, or the commit exceeds a limit now or did so earlier.
   */
  commit(place: CommitPlace, label: string): Promise<CommitContents>;
  /** Reads plain files. @throws PortolanError when they do not exist, keep changing, or exceed a limit. */
  folder(place: FolderPlace, label: string): Promise<FolderContents>;
  /** Restores packed files. */
  unpack(parts: () => Iterable<string> | AsyncIterable<string>): Promise<Contents>;
  /** Takes files that a request contains. */
  files(files: readonly SourceFile[], signal?: AbortSignal): Promise<Contents>;
  /**
   * Evaluates policies where sources are parsed. A policy that cannot be evaluated denies.
   * @throws PortolanError when the thread fails.
   */
  judge(question: PolicyQuestion): Promise<readonly PolicyResult[]>;
  /** Forgets failed readings, so that they are retried. @returns whether there were any. */
  forgetFailures(): Promise<boolean>;
  close(): Promise<void>;
}

export type Limits = () => SourceLimits;
