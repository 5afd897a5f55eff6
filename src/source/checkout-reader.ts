import { locatePaths, placeInCheckout } from './checkout.ts';
import type { SourceReading } from './feed.ts';
import { type RepositoryOptions, RepositoryReader, type RepositoryView } from './repository-reader.ts';
import { gitFolders, identityOf, type WatchPlan, watchPlanOfRepository } from './watch-plan.ts';

export interface CheckoutOptions extends RepositoryOptions {
  /** As given with -f; a part of one may be a link that is flipped. */
  readonly paths: readonly string[];
  readonly ref: string;
  /** Files of the disk that are no manifests, wherever the commit has them. */
  readonly exclude: readonly string[];
}

/** A link that is flipped faster than it can be followed is looked at again later. */
const ATTEMPTS_MAX = 10;

/** A checkout, a worktree or a bare repository of this machine. */
export class CheckoutReader extends RepositoryReader {
  readonly location: string;
  readonly #options: CheckoutOptions;
  #plan: WatchPlan | undefined;

  constructor(options: CheckoutOptions) {
    super(options);
    this.#options = options;
    this.location = `${options.paths.join(', ')} at ${options.ref}`;
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
        return await this.readRef(view, ref, ref);
      } catch (error) {
        await this.restart();
        if (place === failedAt || attempt === ATTEMPTS_MAX || this.closing.signal.aborted) throw error;
        failedAt = place;
      }
    }
  }

  async watchPlan(): Promise<WatchPlan | undefined> {
    return this.#plan;
  }

  /** Where the paths lead now. */
  async #view(): Promise<RepositoryView> {
    const { paths, exclude } = this.#options;
    const located = await locatePaths(paths);
    const { root } = located;
    const { gitFolder, commonFolder } = await gitFolders(root);
    const folders = [root, gitFolder, commonFolder];
    const identities = await Promise.all(folders.map(identityOf));
    this.#plan = await watchPlanOfRepository(root, paths);
    const places = await Promise.all(exclude.map((file) => placeInCheckout(root, file)));
    return {
      git: this.gitOf(root),
      identity: [...folders, ...identities].join(' '),
      paths: located.paths,
      exclude: places.filter((place) => place !== undefined),
    };
  }
}
