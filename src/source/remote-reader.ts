import { join } from 'node:path';
import type { SignaturePolicy } from '../configuration/settings/source-spec.ts';
import type { PathInCommit } from './checkout.ts';
import type { Workbench } from './contents.ts';
import type { SourceReading } from './feed.ts';
import { Git } from './git.ts';
import type { SourceReader } from './level-feed.ts';
import { isDamage, Mirror, type MirrorOptions, type RemoteRef } from './mirror.ts';
import { CommitReader, type RepositoryView } from './repository-reader.ts';
import { type Descent, descentFrom } from './revision.ts';
import { identityOf } from './watch-plan.ts';

export interface RemoteOptions extends Omit<MirrorOptions, 'signal'> {
  /** Within the repository; none: all of it. */
  readonly paths: readonly string[];
  readonly signatures: SignaturePolicy;
  readonly workbench: Workbench;
}

/** A repository of another machine: it is asked what the ref is, and fetched when that is new. */
export class RemoteReader implements SourceReader {
  readonly location: string;
  readonly #options: RemoteOptions;
  readonly #mirror: Mirror;
  readonly #commits: CommitReader;
  readonly #paths: readonly PathInCommit[];
  readonly #closing = new AbortController();
  /** What the mirror has, once that is known to be whole. */
  #fetched: RemoteRef | undefined;

  /** @throws PortolanError `invalid` as `Mirror`. */
  constructor(options: RemoteOptions) {
    this.#options = options;
    this.location = `${options.url} at ${options.ref}`;
    this.#mirror = new Mirror({ ...options, signal: this.#closing.signal });
    const named = options.paths.length === 0 ? ['.'] : options.paths;
    this.#paths = named.map((path) => ({ named: path, within: join('/', path).replace(/^\/|\/$/g, '') }));
    this.#commits = new CommitReader({
      signatures: options.signatures,
      workbench: options.workbench,
      now: () => options.clock.now(),
      descent: (git, commit, ancestor) => this.#descent(git, commit, ancestor),
    });
  }

  get filesRead(): number {
    return this.#commits.filesRead;
  }

  async look(): Promise<SourceReading> {
    await this.#mirror.open();
    const remote = await this.#mirror.ask();
    try {
      return await this.#read(remote);
    } catch (error) {
      if (!isDamage(error) || this.#closing.signal.aborted) throw error;
      await this.#commits.restart();
      await this.#mirror.discard();
      this.#fetched = undefined;
      await this.#mirror.open();
      return this.#read(remote);
    }
  }

  async watchPlan(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the source was closed'));
    await this.#commits.close();
  }

  async #read(remote: RemoteRef): Promise<SourceReading> {
    if (this.#fetched?.id !== remote.id) {
      await this.#mirror.fetch(remote);
      this.#fetched = remote;
    } else await this.#mirror.tidy();
    return this.#commits.readRef(await this.#view(), this.#mirror.localRef, this.#options.ref);
  }

  async #view(): Promise<RepositoryView> {
    const { clock, path } = this.#options;
    const { folder } = this.#mirror;
    const git = new Git(folder, { clock, path, signal: this.#closing.signal });
    return { git, identity: await identityOf(folder), paths: this.#paths, exclude: [] };
  }

  async #descent(git: Git, commit: string, ancestor: string): Promise<Descent> {
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
