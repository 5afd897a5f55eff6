import type { SourceLimits } from '../configuration/settings/source-spec.ts';
import { join } from 'node:path';
import { LIMITS } from '../manifest/limits.ts';
import type { ReadSources } from '../manifest/read.ts';
import { fileProblem } from '../manifest/source-rules.ts';
import { keptContent, type SourceFile, tooLarge } from '../manifest/text.ts';
import type { Problem } from '../model/problem.ts';
import type { PathInCommit } from './checkout.ts';
import type { CommitPlace } from './contents.ts';
import { type Git, gitFailed, incompleteClone } from './git.ts';
import { type Candidate, Draft, type Folder, folderOf, Listing } from './listing.ts';
import { type ObjectReader, type CommitObject, parseCommit } from './objects.ts';

interface CommitReading extends Pick<CommitPlace, 'commit' | 'paths' | 'exclude'> {
  readonly git: Git;
  readonly objects: ObjectReader;
  readonly limits: SourceLimits;
  /** Folders of another commit, which are reused where they are the same. */
  readonly known?: CommitMemory | undefined;
}

/** Folders of one commit that the next reading reuses, so that nothing is read twice. */
export interface CommitMemory {
  /** The excluded paths. With others, the folders would differ. */
  readonly exclude: readonly string[];
  /** Folders by `keyOf` their path. */
  readonly folders: ReadonlyMap<string, Folder>;
}

export interface ReadCommit extends ReadSources {
  readonly object: CommitObject;
  readonly memory: CommitMemory;
}

/**
 * Reads the manifests of a commit from git's objects, not from files on disk. File names follow the same rules as in a folder. A
 * link, a submodule, a file that is too large, or a Git LFS pointer is a problem; the rest is read. The `contentId` of a file
 * is its git object id. A file that another commit had at the same path is the same JavaScript object.
 * @throws PortolanError when git fails, or the commit exceeds a limit.
 */
export async function readCommit(reading: CommitReading): Promise<ReadCommit> {
  const { git, objects, commit, paths, exclude, limits } = reading;
  const [content] = await objects.read([{ id: commit, type: 'commit' }]);
  const object = content && parseCommit(content);
  if (object === undefined) throw gitFailed(git.root, `read commit ${commit}`, 'the commit has no tree');
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
  const contentOf = await readContents(reading, listing, known);
  if (typeof contentOf === 'number') return { ...none, problems: [tooMuch(contentOf, limits.sizeMib, first)] };
  const folders = new Map<string, Folder>();
  for (const [key, folder] of found) folders.set(key, folder instanceof Draft ? folderOf(folder, contentOf) : folder);
  const { files, problems } = merge(paths, folders, commit);
  return { files, problems, object, memory: { exclude, folders } };
}

const NO_FOLDERS: ReadonlyMap<string, Folder> = new Map();

function keyOf({ named, within }: PathInCommit): string {
  return `${named}\0${within}`;
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((one, index) => one === right[index]);
}

/** Returns each file once, even if several paths contain it. The first path decides how messages show it. */
function merge(
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
    // The path of a named file is its name; the paths of a folder's files start with `join` of its name.
    const prefix = folder.tree === '' ? path.named.length : join(path.named, '-').length - 1;
    const isFirst = (shown: string): boolean => {
      const rest = shown.slice(prefix);
      const within = path.within === '' || rest === '' ? path.within + rest : `${path.within}/${rest}`;
      return !seen.has(within) && seen.add(within) !== undefined;
    };
    for (const file of folder.files) if (isFirst(file.path)) files.push(file);
    for (const problem of folder.problems) if (isFirst(problem.position.file)) problems.push(problem);
  }
  return { files, problems };
}

/**
 * Reads the contents of new or changed files. Reads the sizes first, so that large objects are never loaded.
 * @returns a function from a candidate to its file or problem; or the total size in bytes, if that exceeds the limit.
 */
async function readContents(
  { git, objects, limits }: CommitReading,
  { candidates, bytes }: Listing,
  known: ReadonlyMap<string, Folder>,
): Promise<number | ((candidate: Candidate) => SourceFile | Problem)> {
  const sizes = new Map(candidates.map(({ id }) => [id, -1]));
  const contents = candidates.length > 0 ? knownContents(known, sizes) : new Map<string, SourceFile['content']>();
  for (const [id, content] of contents) sizes.set(id, content.length);
  const unknown = [...sizes.keys()].filter((id) => !contents.has(id));
  for (const [index, facts] of (await objects.facts(unknown)).entries()) {
    if (facts.found !== 'one') throw incompleteClone(git.root);
    if (facts.type !== 'blob')
      throw gitFailed(git.root, 'read the files of the commit', `${facts.id} is a ${facts.type}`);
    sizes.set(unknown[index] as string, facts.size);
  }
  const sizeOf = ({ id }: Candidate): number => sizes.get(id) as number;
  const sum = candidates.map(sizeOf).reduce((total, size) => total + (size > LIMITS.fileBytes ? 0 : size), bytes);
  if (sum > limits.sizeMib * MIB) return sum;
  const ids = unknown.filter((id) => (sizes.get(id) as number) <= LIMITS.fileBytes);
  for (const [index, content] of (await objects.read(ids.map((id) => ({ id, type: 'blob' })))).entries())
    contents.set(ids[index] as string, keptContent(content));
  return (candidate) => {
    const { shown, id } = candidate;
    if (sizeOf(candidate) > LIMITS.fileBytes) return fileTooLarge(shown, sizeOf(candidate));
    const content = contents.get(id) as SourceFile['content'];
    if (!isLargeFilePointer(content)) return { path: shown, content, contentId: id };
    return fileProblem(shown, 'source/lfs-pointer', LARGE_FILE, 'the manifest itself in git');
  };
}

/** Returns the wanted contents that files of the previous commit have, at any path. */
function knownContents(known: ReadonlyMap<string, Folder>, wanted: ReadonlyMap<string, number>) {
  const contents = new Map<string, SourceFile['content']>();
  for (const { files } of known.values()) {
    // An iterator would create garbage for each of ten thousand files.
    for (let index = 0; index < files.length; index += 1) {
      const { contentId, content } = files[index] as SourceFile;
      if (contentId !== undefined && wanted.has(contentId)) contents.set(contentId, content);
    }
  }
  return contents;
}

function notFound({ named }: PathInCommit, commit: string): Problem {
  const message = `commit ${commit.slice(0, 12)} has no such file or folder`;
  return fileProblem(named, 'source/not-found', message, 'a path in the commit');
}

function fileTooLarge(shown: string, size: number): Problem {
  const { code, message, expected, hint } = tooLarge(size);
  return { ...fileProblem(shown, code, message, expected), ...(hint === undefined ? {} : { hint }) };
}

function tooMany(files: number, first: Candidate | undefined): Problem {
  const message = `the commit has ${files} manifests at this path; none was read`;
  return fileProblem(first?.shown ?? '', 'limit/files', message, `at most ${LIMITS.files}`);
}

const MIB = 1024 * 1024;

function tooMuch(total: number, sizeMib: number, first: Candidate | undefined): Problem {
  const message = `the manifests of the commit have ${total} bytes in total; none was read`;
  const expected = `at most ${sizeMib} MiB`;
  const problem = fileProblem(first?.shown ?? '', 'limit/total-size', message, expected);
  return { ...problem, hint: 'name fewer folders, or raise spec.source.limits.sizeMib of Settings' };
}

const LARGE_FILE = 'this file is a Git LFS pointer, and its content is stored elsewhere';

function isLargeFilePointer(content: SourceFile['content']): boolean {
  const head =
    typeof content === 'string' ? content.slice(0, 64) : Buffer.from(content.subarray(0, 64)).toString('latin1');
  return /^version https?:\/\/(?:git-lfs|hawser)\.github\.com\/spec\//.test(head);
}
