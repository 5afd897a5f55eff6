import PQueue from 'p-queue';
import type { SignaturePolicy } from '../configuration/settings/source-spec.ts';
import { PortolanError } from '../model/errors.ts';
import type { CommitPlace, Workbench } from './contents.ts';
import type { FoundCommit, SourceReading } from './feed.ts';
import { Git, type GitSurroundings } from './git.ts';
import type { SourceReader } from './level-feed.ts';
import { ObjectReader, parseCommit } from './objects.ts';
import { ageOf, type Descent, descentFrom, resolveRevision, revisionName } from './revision.ts';
import { requireSignature } from './signatures.ts';
import type { WatchPlan } from './watch-plan.ts';

/** Maximum size of a commit that `findCommit` reads. */
const FOUND_BYTES_MAX = 64 * 1024;
/** Questions about older commits that git answers at once, each in a process of its own, and those that wait. */
const LOOKUPS = 2;
const LOOKUPS_WAITING = 16;

/** The part of a repository to read. */
export interface RepositoryView extends Pick<CommitPlace, 'identity' | 'paths' | 'exclude'> {
  readonly git: Git;
}

export interface RepositoryOptions extends Omit<GitSurroundings, 'signal'> {
  readonly signatures: SignaturePolicy;
  readonly workbench: Workbench;
}

/** Reads successive commits of a repository. Each costs only its difference from the previous one. */
export abstract class RepositoryReader implements SourceReader {
  abstract readonly location: string;
  /** Aborted when the source is closed. */
  protected readonly closing = new AbortController();
  readonly #options: RepositoryOptions;
  readonly #lookups = new PQueue({ concurrency: LOOKUPS });
  #open: { readonly view: RepositoryView; readonly objects: ObjectReader } | undefined;
  #last: { readonly key: string; readonly reading: SourceReading } | undefined;

  constructor(options: RepositoryOptions) {
    this.#options = options;
  }

  abstract observe(): Promise<SourceReading>;
  abstract watchPlan(): Promise<WatchPlan | undefined>;

  async close(): Promise<void> {
    this.closing.abort(new Error('the source was closed'));
    await this.restart();
    await this.#options.workbench.close();
  }

  async findCommit(prefix: string): Promise<FoundCommit> {
    return this.#lookUp(() => this.#find(prefix));
  }

  /** Bounds what callers may ask git, so that they delay neither the reading of the source nor other work of the machine. */
  #lookUp<Result>(ask: () => Promise<Result>): Promise<Result> {
    if (this.#lookups.size >= LOOKUPS_WAITING) throw tooManyLookups();
    return this.#lookups.add(ask);
  }

  async #find(prefix: string): Promise<FoundCommit> {
    if (this.#open === undefined || !/^[0-9a-f]{4,64}$/.test(prefix)) return { found: 'none' };
    const { view, objects } = this.#open;
    const [facts] = await objects.facts([`${prefix}^{commit}`]);
    // A message of many bytes is not read in the main thread.
    if (facts?.found !== 'one' || facts.size > FOUND_BYTES_MAX)
      return { found: facts?.found === 'several' ? 'several' : 'none' };
    const { id } = facts;
    const [content] = await objects.read([{ id, type: 'commit' }]);
    const parsed = content && parseCommit(content);
    if (parsed === undefined) return { found: 'none' };
    const { committedMs, author, subject } = parsed;
    return {
      found: 'one',
      commit: { id, committedMs, author, subject },
      descent: async (descendant) => this.#lookUp(() => descentFrom(view.git, descendant, id)),
    };
  }

  protected gitOf(root: string): Git {
    const { clock, path } = this.#options;
    return new Git(root, { clock, path, signal: this.closing.signal });
  }

  /**
   * Reads the commit of a ref. Returns the same object as the last time if the commit is the same.
   * @param name the ref in the name of the revision, as users write it.
   */
  protected async readRef(view: RepositoryView, ref: string, name: string): Promise<SourceReading> {
    const objects = await this.#objectsOf(view);
    const id = await resolveRevision(view.git, objects, ref);
    return this.#read(view, id, name);
  }

  /** Ends the git process, so that the next question starts a new one. */
  protected async restart(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.objects.close();
  }

  /** Whether Portolan does not update the repository. */
  protected readonly isCheckout: boolean = false;

  /** Returns the relation of two commits. A remote reader may fetch more history first. */
  protected descent(git: Git, commit: string, ancestor: string): Promise<Descent> {
    return descentFrom(git, commit, ancestor);
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
    const reading: SourceReading = {
      revision,
      commit: { id, committedMs: found.committedMs, author: found.author, subject: found.subject },
      contents: found.contents,
      observedMs: this.#options.clock.now(),
      descentFrom: (ancestor) => this.#descent(git, id, found.parents, ancestor),
      ...(this.isCheckout ? { olderThan: (commit) => ageOf(this.#open?.view.git ?? git, id, commit) } : {}),
    };
    this.#last = { key, reading };
    return reading;
  }

  /** Asks the repository that is open now, because the worktree of the commit may have been removed. */
  async #descent(read: Git, id: string, parents: readonly string[], ancestor: string): Promise<Descent> {
    if (parents.includes(ancestor)) return 'descends';
    return this.descent(this.#open?.view.git ?? read, id, ancestor);
  }
}

function tooManyLookups(): PortolanError {
  return new PortolanError({
    code: 'source/too-many-lookups',
    disposition: 'retry',
    message: `${LOOKUPS_WAITING} questions about older commits are waiting, which is the limit. Nothing was looked up.`,
    remedy: 'Retry in a few seconds.',
  });
}
