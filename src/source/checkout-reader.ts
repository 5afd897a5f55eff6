import type { SignaturePolicy } from '../kinds/settings/source-spec.ts';
import type { Clock } from '../runtime/clock.ts';
import { locatePaths, placeInCheckout } from './checkout.ts';
import type { SourceReading } from './feed.ts';
import { Git } from './git.ts';
import type { SourceReader } from './level-feed.ts';
import { CommitReader, type RepositoryView } from './repository-reader.ts';
import { gitFolders, identityOf, type WatchPlan, watchPlanOfRepository } from './watch-plan.ts';

export interface CheckoutOptions {
  /** As given with -f; a part of one may be a link that is flipped. */
  readonly paths: readonly string[];
  readonly ref: string;
  /** Files of the disk that are no manifests, wherever the commit has them. */
  readonly exclude: readonly string[];
  readonly signatures: SignaturePolicy;
  readonly clock: Clock;
  /** The process's PATH. */
  readonly path: string | undefined;
}

/** How often a look is begun anew: the worktree behind a link may be removed while it is read. */
const ATTEMPTS = 2;

/** A checkout, a worktree or a bare repository of this machine. */
export class CheckoutReader implements SourceReader {
  readonly location: string;
  readonly #options: CheckoutOptions;
  readonly #commits: CommitReader;
  readonly #closing = new AbortController();
  #plan: WatchPlan | undefined;

  constructor(options: CheckoutOptions) {
    this.#options = options;
    this.location = `${options.paths.join(', ')} at ${options.ref}`;
    this.#commits = new CommitReader({ signatures: options.signatures, now: () => options.clock.now() });
  }

  get filesRead(): number {
    return this.#commits.filesRead;
  }

  look(): Promise<SourceReading> {
    const { ref } = this.#options;
    return this.#retrying((view) => this.#commits.readRef(view, ref, ref));
  }

  async watchPlan(): Promise<WatchPlan | undefined> {
    return this.#plan;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the source was closed'));
    await this.#commits.restart();
  }

  /** A long-lived git may hold on to what was replaced: what fails is tried once more with a new one. */
  async #retrying(read: (view: RepositoryView) => Promise<SourceReading>): Promise<SourceReading> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await read(await this.#view());
      } catch (error) {
        await this.#commits.restart();
        if (attempt === ATTEMPTS || this.#closing.signal.aborted) throw error;
      }
    }
  }

  /** Where the paths lead now. */
  async #view(): Promise<RepositoryView> {
    const { paths, exclude, clock, path } = this.#options;
    const located = await locatePaths(paths);
    const { root } = located;
    const { gitFolder, commonFolder } = await gitFolders(root);
    const folders = [root, gitFolder, commonFolder];
    const identities = await Promise.all(folders.map(identityOf));
    this.#plan = await watchPlanOfRepository(root, paths);
    const places = await Promise.all(exclude.map((file) => placeInCheckout(root, file)));
    return {
      git: new Git(root, { clock, path, signal: this.#closing.signal }),
      identity: [...folders, ...identities].join(' '),
      paths: located.paths,
      exclude: places.filter((place) => place !== undefined),
    };
  }
}
