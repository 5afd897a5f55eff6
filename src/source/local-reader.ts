import { PortolanError } from '../model/errors.ts';
import { locatePaths, placeInCheckout } from './checkout.ts';
import type { SourceReading } from './feed.ts';
import type { SourceReader } from './level-feed.ts';
import { type WatchPlan, watchPlanOfFiles, gitFolders, identityOf, watchPlanOfRepository } from './watch-plan.ts';
import type { FolderPlace } from './contents.ts';
import { folderStats } from './folder-scan.ts';
import { type RepositoryOptions, RepositoryReader, type RepositoryView } from './repository-reader.ts';

export interface LocalOptions extends Omit<CheckoutOptions, 'ref'> {
  /** Default: `HEAD` if the paths are in a repository, otherwise the plain files. */
  readonly ref: string | undefined;
  /** True refuses plain files: the source was a repository before, or signatures are required. */
  readonly isRepository: boolean;
  /** Milliseconds for which plain files must not change. */
  readonly stableMs: number;
}

/**
 * Returns a reader of the paths of `-f`: a repository, or else plain files. It decides once: a checkout that has lost its `.git`
 * is broken, and does not become a folder of files.
 */
export function localReader(options: LocalOptions): SourceReader {
  const asRepository = new CheckoutReader({ ...options, ref: options.ref ?? 'HEAD' });
  let chosen: SourceReader | undefined = options.isRepository || options.ref !== undefined ? asRepository : undefined;
  const choose = async (): Promise<SourceReader> => {
    try {
      await locatePaths(options.paths);
      return asRepository;
    } catch (error) {
      if (!isNoRepository(error)) throw error;
    }
    return folderReader(options);
  };
  return {
    get location() {
      return chosen?.location ?? options.paths.join(', ');
    },
    async observe() {
      try {
        const reader = chosen ?? (await choose());
        const reading = await reader.observe();
        chosen = reader;
        return reading;
      } catch (error) {
        if (isNoRepository(error)) throw notRepository(options);
        throw error;
      }
    },
    watchPlan: async () => chosen?.watchPlan(),
    findCommit: async (prefix) => (await chosen?.findCommit(prefix)) ?? { found: 'none' },
    async close() {
      await asRepository.close();
      if (chosen !== asRepository) await chosen?.close();
    },
  };
}

function isNoRepository(error: unknown): boolean {
  return error instanceof PortolanError && error.code === 'source/no-repository';
}

function notRepository({ paths, ref, signatures }: LocalOptions): PortolanError {
  const asked =
    ref !== undefined
      ? `the ref ${ref} is requested`
      : signatures.by !== 'nobody'
        ? 'spec.source.signatures requires signed commits'
        : 'the previous reading was a commit';
  return new PortolanError({
    code: 'source/no-repository',
    disposition: 'give-up',
    message: `${paths.join(', ')} is not in a readable git repository, but ${asked}.`,
    remedy:
      'Restore the checkout, or correct -f; Portolan retries automatically. To switch to plain files, remove the ref and start with --allow-rewind.',
  });
}

/** File times have a resolution of a few milliseconds: two scans within that could miss a write between them. */
const STABLE_MIN_MS = 50;

/**
 * Returns a reader of plain files and folders. A reading is what two equal scans some time apart found. A program that writes
 * file by file with longer pauses must switch a link instead.
 */
function folderReader({ paths, exclude, stableMs, clock, workbench }: LocalOptions): SourceReader {
  const place: FolderPlace = { paths, exclude, stableMs: Math.max(stableMs, STABLE_MIN_MS) };
  let last: { readonly stats: string; readonly digest: string; readonly reading: SourceReading } | undefined;
  return {
    location: paths.join(', '),
    async observe() {
      const seen = await folderStats(place);
      if (last?.stats === seen) return last.reading;
      // Before they are read, only names and times identify the files.
      const { contents, stats, digest } = await workbench.folder(place, `files@stats:${seen}`);
      const reading: SourceReading =
        last?.digest === digest
          ? last.reading
          : {
              revision: `files@sha256:${digest}`,
              commit: null,
              contents,
              observedMs: clock.now(),
              descentFrom: async () => 'unknown',
            };
      last = { stats, digest, reading };
      return reading;
    },
    watchPlan: () => watchPlanOfFiles(paths),
    findCommit: async () => ({ found: 'none' }),
    close: () => workbench.close(),
  };
}

interface CheckoutOptions extends RepositoryOptions {
  /** Paths of -f. A part of a path may be a link that is switched. */
  readonly paths: readonly string[];
  readonly ref: string;
  /** Files on disk that are excluded from the commit. */
  readonly exclude: readonly string[];
}

/** Maximum number of attempts while a link changes faster than it can be read. */
const ATTEMPTS_MAX = 10;

/** A checkout, a worktree or a bare repository of this machine. */
class CheckoutReader extends RepositoryReader {
  protected override readonly isCheckout = true;
  readonly location: string;
  readonly #options: CheckoutOptions;
  #plan: WatchPlan | undefined;

  constructor(options: CheckoutOptions) {
    super(options);
    this.#options = options;
    this.location = `${options.paths.join(', ')} at ${options.ref}`;
  }

  /**
   * A running git may keep files open that were replaced, and the worktree behind a link may be removed while it is read.
   * So a failed read is retried once with a new git, and again as long as the link has changed.
   */
  async observe(): Promise<SourceReading> {
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

  /** Resolves the paths to their present repository. */
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
