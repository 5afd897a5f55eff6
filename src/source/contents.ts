import type { OperatorNames } from '../manifest/relations.ts';
import type { Variables } from '../manifest/substitute.ts';
import type { SourceFile } from '../manifest/text.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState } from '../model/resource.ts';
import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import type { EpochMs } from '../model/time.ts';
import type { PathInCommit } from './checkout.ts';
import type { Packed } from './packing.ts';

/** What manifests are loaded with. */
export interface LoadContext {
  /** For `${NAME}`. */
  readonly variables: Variables;
  readonly operator: OperatorNames;
}

export interface LoadedSource {
  /** Empty as soon as there is one problem. Resources that did not change since the load before are the same objects. */
  readonly desired: DesiredState;
  /** `snapshotId` of it. */
  readonly snapshot: string;
  readonly problems: readonly Problem[];
}

/** Files that were read. They stay where they were read: in this thread or in another. */
export interface Contents {
  /**
   * What the files mean.
   * @param signal ends it.
   * @throws PortolanError when the thread that has them fails, or they cannot be read again after it failed before.
   */
  load(context: LoadContext, signal?: AbortSignal): Promise<LoadedSource>;
  /** The files for the ledger. @param known digests of parts that are there already. @throws PortolanError as `load`. */
  pack(known: readonly string[]): Promise<Packed>;
}

/** Where the files of a commit are. Plain data: it goes to another thread. */
export interface CommitPlace {
  /** Real path of the checkout or bare repository. */
  readonly root: string;
  /** Changes when another repository took this one's place. */
  readonly identity: string;
  /** Whole id. */
  readonly commit: string;
  readonly paths: readonly PathInCommit[];
  /** Paths from the top of the tree that are left out: the configuration, which may lie among the manifests. */
  readonly exclude: readonly string[];
}

/** Where plain files are. Plain data: it goes to another thread. */
export interface FolderPlace {
  readonly paths: readonly string[];
  readonly exclude: readonly string[];
  /** How long the files must have held still. */
  readonly settleMs: number;
}

export interface CommitContents {
  readonly contents: Contents;
  readonly committedMs: EpochMs;
  readonly parents: readonly string[];
}

export interface FolderContents {
  readonly contents: Contents;
  /** Digest of names, sizes, times and inodes of all that was met. */
  readonly stats: string;
  /** Of names and contents, and of what could not be read. */
  readonly digest: string;
}

/** Reads and parses sources. One place for every caller: the command line in its own thread, the daemon in another. */
export interface Workbench {
  /**
   * @param label what messages call the commit: `main@sha1:<id>`.
   * @throws PortolanError when git fails, or the commit exceeds a limit or did so before.
   */
  commit(place: CommitPlace, label: string): Promise<CommitContents>;
  /** @throws PortolanError when nothing is there, it does not hold still or exceeds a limit. */
  folder(place: FolderPlace, label: string): Promise<FolderContents>;
  /** Files that were packed before. */
  unpack(parts: () => Iterable<string> | AsyncIterable<string>): Promise<Contents>;
  /** Files that somebody sent. */
  files(files: readonly SourceFile[], signal?: AbortSignal): Promise<Contents>;
  /** Forgets what failed, so that it is read again. @returns whether anything had failed. */
  forgetFailures(): Promise<boolean>;
  close(): Promise<void>;
}

export type Limits = () => SourceLimits;
