import type { Stats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { invalidInput } from '../model/errors.ts';

/** A path from the command line or the settings, and its place in a commit. */
export interface PathInCommit {
  /** The path as the user wrote it. Messages show it. */
  readonly named: string;
  /** The path from the top of the tree, with `/`; empty for the whole tree. */
  readonly within: string;
}

interface LocatedPaths {
  /** Real path of the one checkout, worktree or bare repository that all paths belong to. */
  readonly root: string;
  readonly paths: readonly PathInCommit[];
}

/**
 * Finds the git repository that contains the paths. Uses only the place of `.git` on disk: a path may exist in the commit alone,
 * and links below the top of the repository are not followed.
 * @throws PortolanError `invalid` when a path is not in a repository, or the paths are in several.
 */
export async function locatePaths(named: readonly string[]): Promise<LocatedPaths> {
  const located = await Promise.all(
    named.map(async (path) => {
      const top = await findTop(path);
      return { root: await realpath(top), path: { named: path, within: posix(relative(top, resolve(path))) } };
    }),
  );
  const roots = [...new Set(located.map(({ root }) => root))];
  const [root] = roots;
  if (root === undefined || roots.length > 1) {
    throw invalidInput(
      'source/several-checkouts',
      `The paths given with -f belong to different git repositories: ${roots.join(', ')}. A revision is a commit of one repository. Nothing was read.`,
      'Name paths of one repository only, and use one --source for each repository.',
    );
  }
  return { root, paths: located.map(({ path }) => path) };
}

/** Returns the path in the commit of a file on disk; undefined when the file is elsewhere, or its folder does not exist. */
export async function placeInCheckout(root: string, file: string): Promise<string | undefined> {
  // The reader of the file reports the error in more detail.
  const folder = await realpath(dirname(resolve(file))).catch(() => undefined);
  if (folder === undefined) return undefined;
  return isWithin(root, folder) ? posix(relative(root, join(folder, basename(file)))) : undefined;
}

/** Returns the innermost parent folder with a `.git`, or else a bare repository. */
async function findTop(path: string): Promise<string> {
  let top: string | undefined;
  let bare: string | undefined;
  let link: string | undefined;
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if (await exists(join(folder, '.git'))) {
      if (link !== undefined && top !== undefined) await refuseLinkOut(path, folder, top, link);
      top ??= folder;
    }
    // A bare repository inside a checkout may come from a commit, so it is not trusted.
    if (await isBare(folder)) bare ??= folder;
    if (top !== undefined && (await isLink(folder))) link = folder;
    if (dirname(folder) === folder) break;
  }
  const found = top ?? bare;
  if (found !== undefined) return found;
  throw invalidInput(
    'source/no-repository',
    `${path} is not in a git repository, so it has no revisions. Nothing was read.`,
    'Name a path in a checkout or a bare repository, or omit --revision to read the files on disk.',
  );
}

/** Refuses a link that leads out of the checkout: a commit can contain links, but must not choose the repository. */
async function refuseLinkOut(path: string, outer: string, top: string, link: string): Promise<void> {
  const real = await realpath(top);
  if (isWithin(await realpath(outer), real)) return;
  throw invalidInput(
    'source/link-out',
    `${path} contains the link ${link}, which leads out of the checkout ${outer} into another one. Nothing was read.`,
    `Pass -f ${real} if you want to read that repository.`,
  );
}

async function isBare(folder: string): Promise<boolean> {
  const [head, objects, refs] = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => stat(join(folder, name)).catch(() => undefined)),
  );
  return head?.isDirectory() === false && objects?.isDirectory() === true && refs?.isDirectory() === true;
}

/** Returns whether the path exists, even as a broken link. Any error counts as missing, because git would fail too. */
export async function exists(path: string): Promise<boolean> {
  return (await linkStatus(path)) !== undefined;
}

/** Returns whether the folder that would contain the path exists and contains anything. */
export async function hasNeighbours(path: string): Promise<boolean> {
  const beside = await readdir(dirname(resolve(path))).catch(() => []);
  return beside.length > 0;
}

/** Returns whether the path is a link. A path that exists only in the commit is not. */
async function isLink(path: string): Promise<boolean> {
  return (await linkStatus(path))?.isSymbolicLink() === true;
}

function linkStatus(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function posix(path: string): string {
  return path.split(sep).join('/');
}
