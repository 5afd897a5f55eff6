import { join } from 'node:path';
import type { PathInCommit } from './checkout.ts';
import type { SourceReading } from './feed.ts';
import type { Git } from './git.ts';
import { isDamage, Mirror, type MirrorOptions, type RemoteRef } from './mirror.ts';
import { type RepositoryOptions, RepositoryReader } from './repository-reader.ts';
import { type Descent, descentFrom } from './revision.ts';
import { identityOf } from './watch-plan.ts';

export interface RemoteOptions extends Omit<MirrorOptions, 'signal'>, RepositoryOptions {
  /** Paths within the repository. Empty: the whole repository. */
  readonly paths: readonly string[];
}

/** Reads a remote repository: asks for the ref, and fetches it when it is new. */
export class RemoteReader extends RepositoryReader {
  readonly location: string;
  readonly #options: RemoteOptions;
  readonly #mirror: Mirror;
  readonly #paths: readonly PathInCommit[];
  /** The ref as the remote named it before it was last fetched completely. The fetch may have brought another id. */
  #fetched: RemoteRef | undefined;

  /** @throws PortolanError `invalid`, as `Mirror` does. */
  constructor(options: RemoteOptions) {
    super(options);
    this.#options = options;
    this.location = `${options.url} at ${options.ref}`;
    this.#mirror = new Mirror({ ...options, signal: this.closing.signal });
    const named = options.paths.length === 0 ? ['.'] : options.paths;
    this.#paths = named.map((path) => ({ named: path, within: join('/', path).replace(/^\/|\/$/g, '') }));
  }

  async observe(): Promise<SourceReading> {
    await this.#mirror.open();
    const remote = await this.#mirror.resolveRef();
    try {
      return await this.#read(remote);
    } catch (error) {
      if (!isDamage(error) || this.closing.signal.aborted) throw error;
      await this.restart();
      await this.#mirror.discard();
      this.#fetched = undefined;
      await this.#mirror.open();
      return this.#read(remote);
    }
  }

  async watchPlan(): Promise<undefined> {
    return undefined;
  }

  async #read(remote: RemoteRef): Promise<SourceReading> {
    // A fetch brings the commit that the ref has at that time. If the ref is set back to the id that was asked for before it, only a
    // comparison with the local ref shows that the fetch must be repeated.
    if (this.#fetched?.id !== remote.id || (await this.#mirror.localId()) !== remote.id) {
      await this.#mirror.fetch(remote);
      this.#fetched = remote;
    } else await this.#mirror.tidy();
    const { folder, localRef } = this.#mirror;
    const identity = await identityOf(folder);
    const view = { git: this.gitOf(folder), identity, paths: this.#paths, exclude: [] };
    return this.readRef(view, localRef, this.#options.ref);
  }

  protected override async descent(git: Git, commit: string, ancestor: string): Promise<Descent> {
    let descent = await descentFrom(git, commit, ancestor);
    const remote = this.#fetched;
    if (remote === undefined) return descent;
    await this.#mirror.deepen(remote, async () => {
      descent = await descentFrom(git, commit, ancestor);
      return descent !== 'unknown';
    });
    return descent === 'unknown' ? descentFrom(git, commit, ancestor) : descent;
  }
}
