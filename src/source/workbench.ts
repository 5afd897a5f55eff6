import type { Declarations } from '../kinds/kind.ts';
import { FileCache } from '../manifest/file-cache.ts';
import { loadManifests } from '../manifest/load.ts';
import type { SourceFile } from '../manifest/text.ts';
import type { Problem } from '../model/problem.ts';
import type { Clock } from '../runtime/clock.ts';
import { type CommitMemory, readCommit } from './commit-source.ts';
import type {
  CommitContents,
  CommitPlace,
  Contents,
  FolderContents,
  FolderPlace,
  Limits,
  LoadContext,
  LoadedSource,
  Workbench,
} from './contents.ts';
import { settledFolder } from './folder-scan.ts';
import { Git } from './git.ts';
import { ObjectReader } from './objects.ts';
import { type Packed, Packer, unpack } from './packing.ts';
import { snapshotId } from './snapshot.ts';

export interface WorkbenchOptions {
  readonly kinds: Declarations;
  readonly clock: Clock;
  /** The process's PATH: where git is looked for. */
  readonly path: string | undefined;
  readonly limits: Limits;
}

interface Repository {
  readonly identity: string;
  readonly git: Git;
  readonly objects: ObjectReader;
}

/** Reads and parses in the thread that calls. Each commit costs what it has that the one before did not. */
export class LocalWorkbench implements Workbench {
  readonly #options: WorkbenchOptions;
  readonly #cache = new FileCache();
  readonly #packer = new Packer();
  readonly #closing = new AbortController();
  #open: Repository | undefined;
  #memory: CommitMemory | undefined;
  /** Of the folder that was read last. */
  #contentIds: ReadonlySet<string> = new Set();

  constructor(options: WorkbenchOptions) {
    this.#options = options;
  }

  async commit({ root, identity, commit, paths, exclude }: CommitPlace): Promise<CommitContents> {
    const { git, objects } = await this.#repository(root, identity);
    const known = this.#memory === undefined ? {} : { known: this.#memory };
    try {
      const limits = this.#options.limits();
      const found = await readCommit({ git, objects, commit, paths, exclude, limits, ...known });
      this.#memory = found.memory;
      const { committedMs, parents } = found.object;
      return { contents: this.#hold(found.files, found.problems), committedMs, parents, blobsRead: found.blobsRead };
    } catch (error) {
      // A git that runs for long may hold on to what was replaced.
      await this.#leaveRepository();
      throw error;
    }
  }

  async folder(place: FolderPlace): Promise<FolderContents> {
    const { clock, limits } = this.#options;
    const { files, problems, stats, digest } = await settledFolder(place, limits(), clock, this.#closing.signal);
    const contentIds = new Set(files.map(({ contentId }) => contentId as string));
    const filesRead = contentIds.difference(this.#contentIds).size;
    this.#contentIds = contentIds;
    return { contents: this.#hold(files, problems), stats, digest, filesRead };
  }

  async unpack(parts: () => AsyncIterable<string>): Promise<Contents> {
    const files: SourceFile[] = [];
    for await (const text of parts()) for (const file of await unpack(text)) files.push(file);
    return this.#hold(files, []);
  }

  async files(files: readonly SourceFile[]): Promise<Contents> {
    return this.#hold(files, []);
  }

  async forgetFailures(): Promise<boolean> {
    return false;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the source was closed'));
    await this.#leaveRepository();
  }

  #hold(files: readonly SourceFile[], problems: readonly Problem[]): Contents {
    return new HeldContents(this.#options.kinds, files, problems, this.#cache, this.#packer);
  }

  async #repository(root: string, identity: string): Promise<Repository> {
    if (this.#open?.identity === identity && this.#open.git.root === root) return this.#open;
    await this.#leaveRepository();
    const { clock, path } = this.#options;
    const git = new Git(root, { clock, path, signal: this.#closing.signal });
    this.#open = { identity, git, objects: new ObjectReader(git) };
    return this.#open;
  }

  async #leaveRepository(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.objects.close();
  }
}

/** Files in the memory of this thread. */
export class HeldContents implements Contents {
  readonly files: readonly SourceFile[];
  /** Faults of files that could not be read; they count like faults in manifests. */
  readonly problems: readonly Problem[];
  readonly #kinds: Declarations;
  readonly #cache: FileCache;
  readonly #packer: Packer;

  constructor(
    kinds: Declarations,
    files: readonly SourceFile[],
    problems: readonly Problem[] = [],
    cache: FileCache = new FileCache(),
    packer: Packer = new Packer(),
  ) {
    this.#kinds = kinds;
    this.files = files;
    this.problems = problems;
    this.#cache = cache;
    this.#packer = packer;
  }

  async load({ variables, operator }: LoadContext): Promise<LoadedSource> {
    const { files, problems: before } = this;
    const { desired, problems } = loadManifests({
      kinds: this.#kinds,
      files,
      variables,
      operator,
      problems: before,
      cache: this.#cache,
    });
    return { desired, problems, snapshot: problems.length > 0 ? '' : snapshotId(desired) };
  }

  async pack(known: readonly string[]): Promise<Packed> {
    return this.#packer.pack(this.files, known);
  }
}
