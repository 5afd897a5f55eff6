import { LIMITS } from '../manifest/limits.ts';
import type { ReadSources } from '../manifest/read.ts';
import { fileProblem } from '../manifest/source-rules.ts';
import { type SourceFile, tooLarge } from '../manifest/text.ts';
import type { Problem } from '../model/problem.ts';
import type { PathInCommit } from './checkout.ts';
import { type Git, gitFailed, incompleteClone } from './git.ts';
import { type Candidate, type KnownTrees, Listing } from './listing.ts';
import type { ObjectReader } from './objects.ts';
import { type CommitObject, parseCommit } from './trees.ts';

export interface CommitReading {
  readonly git: Git;
  readonly objects: ObjectReader;
  /** Whole id. */
  readonly commit: string;
  readonly paths: readonly PathInCommit[];
  /** Paths from the top of the tree that are left out: the configuration, which may lie among the manifests. */
  readonly exclude: readonly string[];
  /** What was read of another commit. */
  readonly known?: CommitMemory;
}

/** What reading one commit leaves for the next: nothing that both have is read twice. */
export interface CommitMemory {
  readonly trees: KnownTrees;
  /** Contents by object id. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

export interface ReadCommit extends ReadSources {
  readonly object: CommitObject;
  readonly memory: CommitMemory;
  /** How many contents were asked of git. */
  readonly blobsRead: number;
}

/**
 * Reads the manifests of a commit from git's objects; the files on disk are not looked at. The same names count as in a
 * folder. A link, a submodule, a file that is too large or the pointer of one is a problem, and the rest is
 * read all the same. Each file's `contentId` is its object id.
 * @throws PortolanError when git fails.
 */
export async function readCommit(reading: CommitReading): Promise<ReadCommit> {
  const { git, objects, commit, paths, known } = reading;
  const [content] = await objects.read([{ id: commit, type: 'commit' }]);
  const object = content && parseCommit(content);
  if (object === undefined) throw gitFailed(git.root, `read commit ${commit}`, 'it names no tree');
  const listing = new Listing(git, objects, known?.trees ?? new Map(), reading.exclude);
  for (const path of paths) await listing.add(object.tree, path, commit);
  const { candidates, problems } = listing;
  const none = { files: [], object, memory: known ?? NOTHING, blobsRead: 0 };
  if (candidates.length > LIMITS.files) return { ...none, problems: [...problems, tooMany(candidates)] };
  const contents = new Contents(known?.contents ?? NOTHING.contents);
  const sizes = await contents.sizes(git, objects, candidates);
  for (const { shown, id } of candidates) {
    const size = sizes.get(id) as number;
    if (size > LIMITS.fileBytes) problems.push(fileTooLarge(shown, size));
  }
  const wanted = candidates.filter(({ id }) => (sizes.get(id) as number) <= LIMITS.fileBytes);
  const total = wanted.reduce((sum, { id }) => sum + (sizes.get(id) as number), 0);
  if (total > LIMITS.totalBytes) return { ...none, problems: [...problems, tooMuch(candidates, total)] };
  await contents.read(objects, wanted);
  const files: SourceFile[] = [];
  for (const { shown, id } of wanted) {
    const bytes = contents.of(id);
    if (isLargeFilePointer(bytes))
      listing.reject(shown, 'source/lfs-pointer', LARGE_FILE, 'the manifest itself in git');
    else files.push({ path: shown, content: bytes, contentId: id });
  }
  const memory = { trees: listing.trees, contents: contents.used };
  return { files, problems, object, memory, blobsRead: contents.asked };
}

const NOTHING: CommitMemory = { trees: new Map(), contents: new Map() };

/** Contents by object id: those of this commit, as far as an earlier one had them already. */
class Contents {
  readonly used = new Map<string, Uint8Array>();
  asked = 0;
  readonly #known: ReadonlyMap<string, Uint8Array>;

  constructor(known: ReadonlyMap<string, Uint8Array>) {
    this.#known = known;
  }

  /** Bytes by id, asked for before anything large is taken apart. */
  async sizes(git: Git, objects: ObjectReader, candidates: readonly Candidate[]): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    for (const { id } of candidates) sizes.set(id, this.#known.get(id)?.length ?? -1);
    const unknown = [...sizes].filter(([, size]) => size === -1).map(([id]) => id);
    for (const [index, facts] of (await objects.facts(unknown)).entries()) {
      if (facts.found !== 'one') throw incompleteClone(git.root);
      if (facts.type !== 'blob')
        throw gitFailed(git.root, 'look at the files of the commit', `${facts.id} is a ${facts.type}`);
      sizes.set(unknown[index] as string, facts.size);
    }
    return sizes;
  }

  async read(objects: ObjectReader, wanted: readonly Candidate[]): Promise<void> {
    const unread = new Set<string>();
    for (const { id } of wanted) {
      const known = this.#known.get(id);
      if (known === undefined) unread.add(id);
      else this.used.set(id, known);
    }
    const ids = [...unread];
    this.asked = ids.length;
    for (const [index, content] of (await objects.read(ids.map((id) => ({ id, type: 'blob' })))).entries())
      this.used.set(ids[index] as string, content);
  }

  of(id: string): Uint8Array {
    const content = this.used.get(id);
    if (content === undefined) throw new Error(`blob ${id} was not asked for`);
    return content;
  }
}

function fileTooLarge(shown: string, size: number): Problem {
  const { code, message, expected, hint } = tooLarge(size);
  return { ...fileProblem(shown, code, message, expected), ...(hint === undefined ? {} : { hint }) };
}

function tooMany(candidates: readonly Candidate[]): Problem {
  const message = `the commit has ${candidates.length} manifests there; none was read`;
  return fileProblem(candidates[0]?.shown ?? '', 'limit/files', message, `at most ${LIMITS.files}`);
}

function tooMuch(candidates: readonly Candidate[], total: number): Problem {
  const message = `the manifests of the commit have ${total} bytes together; none was read`;
  return fileProblem(candidates[0]?.shown ?? '', 'limit/total-size', message, `at most ${LIMITS.totalBytes} (256 MiB)`);
}

const LARGE_FILE = 'it is the pointer of a file that Git LFS keeps elsewhere';

function isLargeFilePointer(content: Uint8Array): boolean {
  const head = Buffer.from(content.subarray(0, 64)).toString('latin1');
  return /^version https?:\/\/(?:git-lfs|hawser)\.github\.com\/spec\//.test(head);
}
