import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import { join } from 'node:path';
import { LIMITS } from '../manifest/limits.ts';
import type { ReadSources } from '../manifest/read.ts';
import { fileProblem } from '../manifest/source-rules.ts';
import { type SourceFile, tooLarge } from '../manifest/text.ts';
import type { Problem } from '../model/problem.ts';
import type { PathInCommit } from './checkout.ts';
import { type Git, gitFailed, incompleteClone } from './git.ts';
import { type Candidate, Draft, type Folder, folderOf, Listing } from './listing.ts';
import { type ObjectReader, type CommitObject, parseCommit } from './objects.ts';

export interface CommitReading {
  readonly git: Git;
  readonly objects: ObjectReader;
  /** Whole id. */
  readonly commit: string;
  readonly paths: readonly PathInCommit[];
  /** Paths from the top of the tree that are left out: the configuration, which may lie among the manifests. */
  readonly exclude: readonly string[];
  readonly limits: SourceLimits;
  /** What was read of another commit. */
  readonly known?: CommitMemory;
}

/** What reading one commit leaves for the next: nothing that both have is read or looked at twice. */
export interface CommitMemory {
  /** What was left out: with something else, folders would be others. */
  readonly exclude: readonly string[];
  /** By the path that was named. */
  readonly folders: ReadonlyMap<string, Folder>;
}

export interface ReadCommit extends ReadSources {
  readonly object: CommitObject;
  readonly memory: CommitMemory;
}

/**
 * Reads the manifests of a commit from git's objects; the files on disk are not looked at. The same names count as in a
 * folder. A link, a submodule, a file that is too large or the pointer of one is a problem, and the rest is
 * read all the same. Each file's `contentId` is its object id; one that another commit had at the same path is the same object.
 * @throws PortolanError when git fails, or the commit exceeds a limit.
 */
export async function readCommit(reading: CommitReading): Promise<ReadCommit> {
  const { git, objects, commit, paths, exclude, limits } = reading;
  const [content] = await objects.read([{ id: commit, type: 'commit' }]);
  const object = content && parseCommit(content);
  if (object === undefined) throw gitFailed(git.root, `read commit ${commit}`, 'it names no tree');
  const isKnown = reading.known !== undefined && isSame(reading.known.exclude, exclude);
  const known = isKnown ? reading.known.folders : NO_FOLDERS;
  const listing = new Listing(git, objects, exclude, limits);
  const found = new Map<string, Folder | Draft>();
  for (const path of paths) {
    const folder = await listing.find(object.tree, path, known.get(keyOf(path)));
    if (folder !== undefined) found.set(keyOf(path), folder);
  }
  const none = { files: [], object, memory: reading.known ?? { exclude, folders: NO_FOLDERS } };
  const [first] = listing.candidates;
  if (listing.isTooMany) return { ...none, problems: [tooMany(listing.files, first)] };
  const contents = new Blobs(git, objects);
  const total = listing.bytes + (await contents.sizes(listing.candidates, known));
  if (total > limits.sizeMib * MIB) return { ...none, problems: [tooMuch(total, limits.sizeMib, first)] };
  await contents.read();
  const folders = new Map<string, Folder>();
  for (const [key, folder] of found)
    folders.set(key, folder instanceof Draft ? folderOf(folder, (one) => contents.of(one)) : folder);
  const { files, problems } = together(paths, folders, commit);
  return { files, problems, object, memory: { exclude, folders } };
}

const NO_FOLDERS: ReadonlyMap<string, Folder> = new Map();

function keyOf({ named, within }: PathInCommit): string {
  return `${named}\0${within}`;
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((one, index) => one === right[index]);
}

/** Each file once, whatever path leads to it; the first path says how it is shown. */
function together(
  paths: readonly PathInCommit[],
  folders: ReadonlyMap<string, Folder>,
  commit: string,
): { readonly files: readonly SourceFile[]; readonly problems: readonly Problem[] } {
  const [only] = folders.values();
  if (only !== undefined && paths.length === 1) return only;
  const seen = new Set<string>();
  const files: SourceFile[] = [];
  const problems: Problem[] = [];
  for (const path of paths) {
    const folder = folders.get(keyOf(path));
    if (folder === undefined) {
      problems.push(notFound(path, commit));
      continue;
    }
    // A file that is named comes under its name, a folder's under what `join` puts before theirs.
    const prefix = folder.tree === '' ? path.named.length : join(path.named, '-').length - 1;
    const isNews = (shown: string): boolean => {
      const rest = shown.slice(prefix);
      const within = path.within === '' || rest === '' ? path.within + rest : `${path.within}/${rest}`;
      return !seen.has(within) && seen.add(within) !== undefined;
    };
    for (const file of folder.files) if (isNews(file.path)) files.push(file);
    for (const problem of folder.problems) if (isNews(problem.position.file)) problems.push(problem);
  }
  return { files, problems };
}

/** Contents of the files that another commit did not have where they are. */
class Blobs {
  readonly #git: Git;
  readonly #objects: ObjectReader;
  readonly #sizes = new Map<string, number>();
  readonly #contents = new Map<string, Uint8Array>();

  constructor(git: Git, objects: ObjectReader) {
    this.#git = git;
    this.#objects = objects;
  }

  /**
   * Asks for sizes, before anything large is taken apart.
   * @returns bytes of all that are not too large by themselves.
   */
  async sizes(candidates: readonly Candidate[], known: ReadonlyMap<string, Folder>): Promise<number> {
    for (const { id } of candidates) this.#sizes.set(id, -1);
    if (candidates.length > 0) this.#takeKnown(known);
    const unknown = [...this.#sizes.keys()].filter((id) => !this.#contents.has(id));
    for (const [index, facts] of (await this.#objects.facts(unknown)).entries()) {
      if (facts.found !== 'one') throw incompleteClone(this.#git.root);
      if (facts.type !== 'blob')
        throw gitFailed(this.#git.root, 'look at the files of the commit', `${facts.id} is a ${facts.type}`);
      this.#sizes.set(unknown[index] as string, facts.size);
    }
    return candidates.reduce((sum, { id }) => sum + (this.#isTooLarge(id) ? 0 : this.#sizeOf(id)), 0);
  }

  async read(): Promise<void> {
    const ids = [...this.#sizes.keys()].filter((id) => !this.#contents.has(id) && !this.#isTooLarge(id));
    for (const [index, content] of (await this.#objects.read(ids.map((id) => ({ id, type: 'blob' })))).entries())
      this.#contents.set(ids[index] as string, content);
  }

  of({ shown, id }: Candidate): SourceFile | Problem {
    if (this.#isTooLarge(id)) return fileTooLarge(shown, this.#sizeOf(id));
    const content = this.#contents.get(id);
    if (content === undefined) throw new Error(`blob ${id} was not asked for`);
    if (!isLargeFilePointer(content)) return { path: shown, content, contentId: id };
    return fileProblem(shown, 'source/lfs-pointer', LARGE_FILE, 'the manifest itself in git');
  }

  /** What another file has, or had: under another name, or elsewhere. */
  #takeKnown(known: ReadonlyMap<string, Folder>): void {
    for (const { files } of known.values()) {
      // By index: what an iterator leaves behind for each of ten thousand files is garbage.
      for (let index = 0; index < files.length; index += 1) {
        const { contentId, content } = files[index] as SourceFile;
        if (contentId === undefined || !this.#sizes.has(contentId) || typeof content === 'string') continue;
        this.#sizes.set(contentId, content.length);
        this.#contents.set(contentId, content);
      }
    }
  }

  #sizeOf(id: string): number {
    const size = this.#sizes.get(id);
    if (size === undefined || size < 0) throw new Error(`the size of blob ${id} was not asked for`);
    return size;
  }

  #isTooLarge(id: string): boolean {
    return this.#sizeOf(id) > LIMITS.fileBytes;
  }
}

function notFound({ named }: PathInCommit, commit: string): Problem {
  const message = `there is no such file or folder in commit ${commit.slice(0, 12)}`;
  return fileProblem(named, 'source/not-found', message, 'a path that the commit has');
}

function fileTooLarge(shown: string, size: number): Problem {
  const { code, message, expected, hint } = tooLarge(size);
  return { ...fileProblem(shown, code, message, expected), ...(hint === undefined ? {} : { hint }) };
}

function tooMany(files: number, first: Candidate | undefined): Problem {
  const message = `the commit has ${files} manifests there; none was read`;
  return fileProblem(first?.shown ?? '', 'limit/files', message, `at most ${LIMITS.files}`);
}

const MIB = 1024 * 1024;

function tooMuch(total: number, sizeMib: number, first: Candidate | undefined): Problem {
  const message = `the manifests of the commit have ${total} bytes together; none was read`;
  const expected = `at most ${sizeMib} MiB`;
  const problem = fileProblem(first?.shown ?? '', 'limit/total-size', message, expected);
  return { ...problem, hint: 'name fewer folders, or raise spec.source.limits.sizeMib of Settings' };
}

const LARGE_FILE = 'it is the pointer of a file that Git LFS keeps elsewhere';

function isLargeFilePointer(content: Uint8Array): boolean {
  const head = Buffer.from(content.subarray(0, 64)).toString('latin1');
  return /^version https?:\/\/(?:git-lfs|hawser)\.github\.com\/spec\//.test(head);
}
