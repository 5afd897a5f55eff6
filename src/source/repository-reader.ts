import type { SignaturePolicy } from '../configuration/settings/source-spec.ts';
import type { EpochMs } from '../model/time.ts';
import type { PathInCommit } from './checkout.ts';
import type { Workbench } from './contents.ts';
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
  readonly workbench: Workbench;
  readonly now: () => EpochMs;
  /** Goes before what the repository at hand says: one that is fetched in parts may get more of its history. */
  readonly descent?: (git: Git, commit: string, ancestor: string) => Promise<Descent>;
}

/** Commits of one repository after another, each read at the cost of what it has that the one before did not. */
export class CommitReader {
  filesRead = 0;
  readonly #options: CommitReaderOptions;
  #open: { readonly view: RepositoryView; readonly objects: ObjectReader } | undefined;
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
    return this.#read(view, id, name);
  }

  /** Ends everything that reads. */
  async close(): Promise<void> {
    await this.restart();
    await this.#options.workbench.close();
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

  async #read(view: RepositoryView, id: string, name: string): Promise<SourceReading> {
    const { git, paths, exclude } = view;
    await requireSignature(git, id, this.#options.signatures);
    const key = JSON.stringify([id, name, paths, exclude]);
    if (this.#last?.key === key) return this.#last.reading;
    const place = { root: git.root, identity: view.identity, commit: id, paths, exclude };
    const revision = revisionName(name, id);
    const found = await this.#options.workbench.commit(place, revision);
    this.filesRead += found.blobsRead;
    const reading: SourceReading = {
      revision,
      commit: { id, committedMs: found.committedMs },
      contents: found.contents,
      observedMs: this.#options.now(),
      descentFrom: (ancestor) => this.#descent(git, id, found.parents, ancestor),
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
