import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { PortolanError } from '../model/errors.ts';

/** A path that was named, as a commit knows it. */
export interface PathInCommit {
  /** As the user wrote it: what messages show. */
  readonly named: string;
  /** From the top of the tree, with `/`; empty for all of it. */
  readonly within: string;
}

interface LocatedPaths {
  /** Real path of the one checkout, worktree or bare repository that all paths belong to. */
  readonly root: string;
  readonly paths: readonly PathInCommit[];
}

/**
 * Finds the git repository that paths belong to. Nothing but the place of `.git` is taken from the files: a path need
 * not exist on disk, and links below the repository's top are left to the commit.
 * @throws PortolanError `invalid` when a path is in no repository, or paths are in several.
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
    throw new PortolanError({
      code: 'source/several-checkouts',
      disposition: 'invalid',
      message: `The paths given with -f belong to different git repositories: ${roots.join(', ')}. A revision is one commit of one of them, so nothing was read.`,
      remedy: 'Name paths of one repository only, and give each repository a --source of its own.',
    });
  }
  return { root, paths: located.map(({ path }) => path) };
}

/** Where a file of the disk would be in the commit; undefined when it lies elsewhere, or its folder is not there. */
export async function placeInCheckout(root: string, file: string): Promise<string | undefined> {
  // Whoever needs the file says better what is wrong with it.
  const folder = await realpath(dirname(resolve(file))).catch(() => undefined);
  if (folder === undefined) return undefined;
  return isWithin(root, folder) ? posix(relative(root, join(folder, basename(file)))) : undefined;
}

/** The innermost folder above with a `.git`, else one that is a bare repository. */
async function findTop(path: string): Promise<string> {
  let top: string | undefined;
  let bare: string | undefined;
  let link: string | undefined;
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if (await isThere(join(folder, '.git'))) {
      if (link !== undefined && top !== undefined) await refuseLinkOut(path, folder, top, link);
      top ??= folder;
    }
    // One that lies in a checkout came with a commit, from whoever may commit.
    if (await isBare(folder)) bare ??= folder;
    if (top !== undefined && (await isLink(folder))) link = folder;
    if (dirname(folder) === folder) break;
  }
  const found = top ?? bare;
  if (found !== undefined) return found;
  throw new PortolanError({
    code: 'source/no-repository',
    disposition: 'invalid',
    message: `${path} is not in a git repository, so it has no revisions. Nothing was read.`,
    remedy: 'Name a path in a checkout or a bare repository, or leave --revision out to read the files as they are.',
  });
}

/** A commit may hold a link; it must not choose which repository is read. */
async function refuseLinkOut(path: string, outer: string, top: string, link: string): Promise<void> {
  const real = await realpath(top);
  if (isWithin(await realpath(outer), real)) return;
  throw new PortolanError({
    code: 'source/link-out',
    disposition: 'invalid',
    message: `${path} goes through the link ${link}, which leads out of the checkout ${outer} into another. Nothing was read.`,
    remedy: `Pass -f ${real} if that is the repository you mean.`,
  });
}

async function isBare(folder: string): Promise<boolean> {
  const [head, objects, refs] = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => stat(join(folder, name)).catch(() => undefined)),
  );
  return head?.isDirectory() === false && objects?.isDirectory() === true && refs?.isDirectory() === true;
}

/** Whether there is anything, be it a link that leads nowhere. Whatever the reason, git could not use it either. */
export async function isThere(path: string): Promise<boolean> {
  return (await linkStatus(path)) !== undefined;
}

/** A path that is not on the disk may be in the commit alone. */
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
