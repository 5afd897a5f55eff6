import type { SignaturePolicy } from '../configuration/settings/source-spec.ts';
import type { Clock } from '../runtime/clock.ts';
import { locatePaths, placeInCheckout } from './checkout.ts';
import type { Workbench } from './contents.ts';
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
  readonly workbench: Workbench;
  readonly clock: Clock;
  /** The process's PATH. */
  readonly path: string | undefined;
}

/** A link that is flipped faster than it can be followed is looked at again later. */
const ATTEMPTS_MAX = 10;

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
    this.#commits = new CommitReader({
      signatures: options.signatures,
      workbench: options.workbench,
      now: () => options.clock.now(),
    });
  }

  get filesRead(): number {
    return this.#commits.filesRead;
  }

  /**
   * A long-lived git may hold on to what was replaced, and the worktree behind a link may be removed while it is read:
   * what fails is tried once more with a new one, and again as long as the link leads elsewhere each time.
   */
  async look(): Promise<SourceReading> {
    const { ref } = this.#options;
    let failedAt: string | undefined;
    for (let attempt = 1; ; attempt += 1) {
      let place = 'nowhere';
      try {
        const view = await this.#view();
        place = view.identity;
        return await this.#commits.readRef(view, ref, ref);
      } catch (error) {
        await this.#commits.restart();
        if (place === failedAt || attempt === ATTEMPTS_MAX || this.#closing.signal.aborted) throw error;
        failedAt = place;
      }
    }
  }

  async watchPlan(): Promise<WatchPlan | undefined> {
    return this.#plan;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the source was closed'));
    await this.#commits.close();
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
