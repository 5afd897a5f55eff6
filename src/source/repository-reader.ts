import type { SignaturePolicy, SourceLimits } from '../kinds/settings/source-spec.ts';
import type { EpochMs } from '../model/time.ts';
import type { PathInCommit } from './checkout.ts';
import { type CommitMemory, readCommit } from './commit-source.ts';
import type { SourceReading } from './feed.ts';
import type { Git } from './git.ts';
import { ObjectReader } from './objects.ts';
import { type Descent, descentFrom, resolveRevision, revisionName } from './revision.ts';
import { requireSignature } from './signatures.ts';

/** What is read of a repository. */
export interface RepositoryView {
  readonly git: Git;
  /** Changes when another repository took this one's place. */
  readonly identity: string;
  readonly paths: readonly PathInCommit[];
  /** Paths from the top of the tree that are left out. */
  readonly exclude: readonly string[];
}

export interface CommitReaderOptions {
  readonly signatures: SignaturePolicy;
  readonly limits: SourceLimits;
  readonly now: () => EpochMs;
  /** Goes before what the repository at hand says: one that is fetched in parts may get more of its history. */
  readonly descent?: (git: Git, commit: string, ancestor: string) => Promise<Descent>;
}

/** Commits of one repository after another, each read at the cost of what it has that the one before did not. */
export class CommitReader {
  filesRead = 0;
  readonly #options: CommitReaderOptions;
  #open: { readonly view: RepositoryView; readonly objects: ObjectReader } | undefined;
  #memory: CommitMemory | undefined;
  #last: { readonly key: string; readonly reading: SourceReading } | undefined;

  constructor(options: CommitReaderOptions) {
    this.#options = options;
  }

  /**
   * The commit that a ref means now; the very reading of the last time if it is the same.
   * @param name what the revision is called by: the ref as people write it.
   */
  async readRef(view: RepositoryView, ref: string, name: string): Promise<SourceReading> {
    const objects = await this.#objectsOf(view);
    const id = await resolveRevision(view.git, objects, ref);
    return this.#read(view, objects, id, name);
  }

  /** Ends the process that answers, so that the next question starts a new one. */
  async restart(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.objects.close();
  }

  async #objectsOf(view: RepositoryView): Promise<ObjectReader> {
    if (this.#open !== undefined && this.#open.view.identity === view.identity) return this.#open.objects;
    await this.restart();
    const objects = new ObjectReader(view.git);
    this.#open = { view, objects };
    return objects;
  }

  async #read(view: RepositoryView, objects: ObjectReader, id: string, name: string): Promise<SourceReading> {
    const { git, paths, exclude } = view;
    await requireSignature(git, id, this.#options.signatures);
    const key = JSON.stringify([id, name, paths, exclude]);
    if (this.#last?.key === key) return this.#last.reading;
    const known = this.#memory === undefined ? {} : { known: this.#memory };
    const { limits } = this.#options;
    const found = await readCommit({ git, objects, commit: id, paths, exclude, limits, ...known });
    this.filesRead += found.blobsRead;
    this.#memory = found.memory;
    const reading: SourceReading = {
      revision: revisionName(name, id),
      commit: { id, committedMs: found.object.committedMs },
      files: found.files,
      problems: found.problems,
      observedMs: this.#options.now(),
      descentFrom: (ancestor) => this.#descent(git, id, found.object.parents, ancestor),
    };
    this.#last = { key, reading };
    return reading;
  }

  /** Asked of the repository as it is then: the worktree that the commit was read from may be gone. */
  async #descent(read: Git, id: string, parents: readonly string[], ancestor: string): Promise<Descent> {
    if (parents.includes(ancestor)) return 'descends';
    const git = this.#open?.view.git ?? read;
    return (this.#options.descent ?? descentFrom)(git, id, ancestor);
  }
}
