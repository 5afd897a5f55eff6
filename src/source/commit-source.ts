import { join } from 'node:path';
import { LIMITS } from '../manifest/limits.ts';
import type { ReadSources } from '../manifest/read.ts';
import { fileProblem, isHiddenName, isManifestName } from '../manifest/source-rules.ts';
import { type SourceFile, tooLarge } from '../manifest/text.ts';
import type { Problem } from '../model/problem.ts';
import type { BlobReader } from './blobs.ts';
import type { PathInCommit } from './checkout.ts';
import { type Git, gitFailed, incompleteClone } from './git.ts';

export interface CommitReading {
  readonly git: Git;
  readonly blobs: BlobReader;
  /** Whole id. */
  readonly commit: string;
  readonly paths: readonly PathInCommit[];
  /** Paths from the top of the tree that are left out: the configuration, which may lie among the manifests. */
  readonly exclude: readonly string[];
}

/** One entry of a tree. */
interface TreeEntry {
  readonly mode: string;
  readonly id: string;
  readonly path: string;
}

/** A file that is to be read. */
interface Candidate {
  /** As messages show it. */
  readonly shown: string;
  readonly id: string;
}

const FOLDER = '040000';
const LINK = '120000';
const SUBMODULE = '160000';

/**
 * Reads the manifests of a commit from git's objects; the files on disk are not looked at. The same names count as in a
 * folder. A link, a submodule, a file that is too large or the pointer of one is a problem, and the rest is
 * read all the same. Each file's `contentId` is its object id.
 * @throws PortolanError when git fails.
 */
export async function readCommit(reading: CommitReading): Promise<ReadSources> {
  const { git, blobs, commit, paths } = reading;
  const listing = new Listing(reading.exclude);
  for (const path of paths) await list(git, commit, path, listing);
  const { problems } = listing;
  if (listing.candidates.length > LIMITS.files)
    return { files: [], problems: [...problems, tooMany(listing.candidates)] };
  const sizes = await sizesOf(git, listing.candidates);
  const sized = listing.candidates.map((candidate, index) => ({ ...candidate, size: sizes[index] ?? 0 }));
  for (const { shown, size } of sized) if (size > LIMITS.fileBytes) problems.push(fileTooLarge(shown, size));
  const wanted = sized.filter(({ size }) => size <= LIMITS.fileBytes);
  const total = wanted.reduce((sum, { size }) => sum + size, 0);
  if (total > LIMITS.totalBytes) return { files: [], problems: [...problems, tooMuch(listing.candidates, total)] };
  const contents = await blobs.read(wanted);
  const files: SourceFile[] = [];
  for (const [index, content] of contents.entries()) {
    const { shown, id } = wanted[index] as Candidate;
    if (isLargeFilePointer(content))
      listing.reject(shown, 'source/lfs-pointer', LARGE_FILE, 'the manifest itself in git');
    else files.push({ path: shown, content, contentId: id });
  }
  return { files, problems };
}

async function list(git: Git, commit: string, { named, within }: PathInCommit, listing: Listing): Promise<void> {
  if (within === '') return listing.folder(named, '', await listTree(git, ['-r'], commit));
  const [entry] = await listTree(git, [], commit, within);
  if (entry === undefined || entry.path !== within) {
    const message = `there is no such file or folder in commit ${commit.slice(0, 12)}`;
    listing.reject(named, 'source/not-found', message, 'a path that the commit has');
  } else if (entry.mode === FOLDER) {
    listing.folder(named, within, await listTree(git, ['-r'], `${commit}:${within}`));
  } else listing.file(named, entry);
}

async function listTree(git: Git, depth: readonly string[], ...of: readonly string[]): Promise<readonly TreeEntry[]> {
  const args = ['ls-tree', '-z', '--full-tree', ...depth, '--end-of-options', ...of];
  const { exitCode, stdout, stderr } = await git.run(args);
  if (exitCode !== 0) throw gitFailed(git.root, 'list the files of the commit', stderr);
  return stdout.toString('utf8').split('\0').slice(0, -1).map(parseEntry);
}

/** `<mode> <type> <id>\t<path>`. */
function parseEntry(line: string): TreeEntry {
  const [, mode, id, path] = /^([0-7]{6}) [a-z]+ ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
  if (mode === undefined || id === undefined || path === undefined) throw new Error(`git lists a file as "${line}"`);
  return { mode, id, path };
}

/** Sizes in bytes, asked for before anything large is taken apart. */
async function sizesOf(git: Git, candidates: readonly Candidate[]): Promise<readonly number[]> {
  const names = candidates.map(({ id }) => `${id}\n`).join('');
  const { exitCode, stdout, stderr } = await git.run(['cat-file', '--batch-check=%(objecttype) %(objectsize)'], {
    input: names,
  });
  if (exitCode !== 0) throw gitFailed(git.root, 'look at the files of the commit', stderr);
  const lines = stdout.toString('utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [, size] = /^blob ([0-9]+)$/.exec(line) ?? [];
    if (size === undefined) throw incompleteClone(git.root);
    return Number(size);
  });
}

/** What was found so far, each file once whatever path led to it. */
class Listing {
  readonly candidates: Candidate[] = [];
  readonly problems: Problem[] = [];
  readonly #seen: Set<string>;

  constructor(exclude: readonly string[]) {
    this.#seen = new Set(exclude);
  }

  /** @param entries of the folder, their paths from it. */
  folder(named: string, within: string, entries: readonly TreeEntry[]): void {
    for (const entry of entries) {
      if (entry.path.split('/').some(isHiddenName)) continue;
      // What a submodule holds would be missing without a word, whatever its name is.
      if (entry.mode !== SUBMODULE && !isManifestName(entry.path)) continue;
      this.file(join(named, entry.path), { ...entry, path: within === '' ? entry.path : `${within}/${entry.path}` });
    }
  }

  /** @param entry with its path from the top of the tree. */
  file(shown: string, { mode, id, path }: TreeEntry): void {
    if (this.#seen.has(path)) return;
    this.#seen.add(path);
    if (mode === LINK)
      this.reject(shown, 'source/link', 'it is a symbolic link; in a commit none is followed', 'a plain file');
    else if (mode === SUBMODULE)
      this.reject(
        shown,
        'source/submodule',
        'it is a submodule; what it holds is not part of the commit',
        'folders without submodules: a narrower -f leaves it out',
      );
    else this.candidates.push({ shown, id });
  }

  reject(shown: string, code: string, message: string, expected: string): void {
    this.problems.push(fileProblem(shown, code, message, expected));
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
