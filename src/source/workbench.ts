import type { Declarations } from '../kinds/kind.ts';
import { FileCache } from '../manifest/file-cache.ts';
import { loadManifests, type ManifestInput } from '../manifest/load.ts';
import { evaluatePolicies } from '../policies/evaluate.ts';
import type { PolicyQuestion, PolicyResult } from '../policies/spec.ts';
import type { SourceFile } from '../manifest/text.ts';
import { type CommitMemory, readCommit } from './commit-source.ts';
import type {
  CommitContents,
  CommitPlace,
  Contents,
  FolderContents,
  FolderPlace,
  Limits,
  LoadContext,
  Workbench,
} from './contents.ts';
import { readStableFolder } from './folder-scan.ts';
import { Git, type GitSurroundings } from './git.ts';
import { ObjectReader } from './objects.ts';
import { Packer, unpack } from './packing.ts';
import { snapshotId } from './snapshot.ts';

export interface WorkbenchOptions extends Omit<GitSurroundings, 'signal'> {
  readonly kinds: Declarations;
  readonly limits: Limits;
}

interface Repository {
  readonly identity: string;
  readonly git: Git;
  readonly objects: ObjectReader;
}

/** Reads and parses in the calling thread. Each commit costs only its difference from the previous one. */
export class LocalWorkbench implements Workbench {
  readonly #options: WorkbenchOptions;
  readonly #cache = new FileCache();
  readonly #packer = new Packer();
  readonly #closing = new AbortController();
  #open: Repository | undefined;
  #memory: CommitMemory | undefined;

  constructor(options: WorkbenchOptions) {
    this.#options = options;
  }

  async commit({ root, identity, commit, paths, exclude }: CommitPlace): Promise<CommitContents> {
    const { git, objects } = await this.#repository(root, identity);
    try {
      const limits = this.#options.limits();
      const found = await readCommit({ git, objects, commit, paths, exclude, limits, known: this.#memory });
      this.#memory = found.memory;
      const { committedMs, author, subject, parents } = found.object;
      return { contents: this.#hold(found), committedMs, author, subject, parents };
    } catch (error) {
      // A running git may keep files open that were replaced.
      await this.#leaveRepository();
      throw error;
    }
  }

  async folder(place: FolderPlace): Promise<FolderContents> {
    const { clock, limits } = this.#options;
    const found = await readStableFolder(place, limits(), clock, this.#closing.signal);
    return { contents: this.#hold(found), stats: found.stats, digest: found.digest };
  }

  async unpack(parts: () => Iterable<string> | AsyncIterable<string>): Promise<Contents> {
    const files: SourceFile[] = [];
    for await (const text of parts()) for (const file of unpack(text)) files.push(file);
    return this.#hold({ files });
  }

  async files(files: readonly SourceFile[]): Promise<Contents> {
    return this.#hold({ files });
  }

  async judge(question: PolicyQuestion): Promise<readonly PolicyResult[]> {
    return evaluatePolicies(question, this.#options.clock);
  }

  async forgetFailures(): Promise<boolean> {
    return false;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the source was closed'));
    await this.#leaveRepository();
  }

  #hold({ files, problems = [] }: Pick<HeldFiles, 'files' | 'problems'>): Contents {
    const { kinds } = this.#options;
    return heldContents({ kinds, files, problems, cache: this.#cache }, this.#packer);
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

type HeldFiles = Omit<ManifestInput, keyof LoadContext>;

/** Returns files in the memory of this thread. `problems` are those of reading; they count like problems in manifests. */
export function heldContents({ problems = [], ...sources }: HeldFiles, packer = new Packer()) {
  return {
    files: sources.files,
    problems,
    async load({ variables, operator }) {
      const loaded = loadManifests({ ...sources, problems, variables, operator });
      return { ...loaded, snapshot: loaded.problems.length > 0 ? '' : snapshotId(loaded.desired) };
    },
    pack: async (known) => packer.pack(sources.files, known),
  } satisfies Contents & Pick<HeldFiles, 'files' | 'problems'>;
}
