import { lstat, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';

/** The places on disk where changes of a source show. Equal plans watch the same places. */
export interface WatchPlan {
  /** Watched folders. For those in `trees`, everything below is watched as well. */
  readonly folders: readonly string[];
  /** Files and links whose changes count. */
  readonly names: readonly string[];
  /** Folders in which all changes count, except locks, and hidden names if `isPlain`. */
  readonly trees: readonly string[];
  /** The source is plain files: hidden names do not count. */
  readonly isPlain: boolean;
  /** Identifies the files and folders. A replaced one needs a new watcher. */
  readonly identity: string;
}

/** Maximum number of nested links. Operating systems have a similar limit. */
const LINKS_MAX = 40;

/** Returns the plan for a checkout, worktree or bare repository: its refs, and the links in the paths to it. */
export async function watchPlanOfRepository(root: string, paths: readonly string[]): Promise<WatchPlan> {
  const { gitFolder, commonFolder } = await gitFolders(root);
  const links = await linksIn(paths);
  const pointers = gitFolder === root ? [] : [join(root, '.git')];
  const ownRefs = ['HEAD', 'packed-refs', 'commondir', 'gitdir'].map((name) => join(gitFolder, name));
  const commonRefs = ['HEAD', 'packed-refs'].map((name) => join(commonFolder, name));
  const trees = [gitFolder, commonFolder].flatMap((folder) => [join(folder, 'refs'), join(folder, 'reftable')]);
  return planOf({
    folders: [gitFolder, commonFolder, ...(pointers.length > 0 ? [root] : [])],
    names: [...ownRefs, ...commonRefs, ...pointers],
    trees,
    links,
    isPlain: false,
  });
}

/** Returns the plan for plain files and folders: everything below them, and the links in the paths to them. */
export async function watchPlanOfFiles(paths: readonly string[]): Promise<WatchPlan> {
  const links = await linksIn(paths);
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => resolve(path))));
  return planOf({ folders: [], names: [], trees: real, links, isPlain: true });
}

type Places = Omit<WatchPlan, 'identity'> & { readonly links: readonly string[] };

async function planOf({ folders, names, trees, links, isPlain }: Places): Promise<WatchPlan> {
  const there = await existing([...new Set(trees)]);
  const all = [...new Set([...folders, ...there, ...links.map((link) => dirname(link))])];
  const identities = await Promise.all(all.map(identityOf));
  return {
    folders: all,
    names: [...new Set([...names, ...links])],
    trees: there,
    isPlain,
    identity: identities.join(' '),
  };
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const identities = await Promise.all(paths.map(identityOf));
  return paths.filter((_, index) => identities[index] !== '-');
}

/** Returns device and inode, which differ when a file is replaced; `-` when it does not exist. */
export async function identityOf(path: string): Promise<string> {
  try {
    const { dev, ino } = await stat(path);
    return `${dev}:${ino}`;
  } catch {
    return '-'; // The reader of the file reports the error in more detail.
  }
}

/** Returns the git folders of a checkout or bare repository. Used only for watching: git itself decides what it reads. */
export async function gitFolders(root: string): Promise<{ readonly gitFolder: string; readonly commonFolder: string }> {
  const gitFolder = await gitFolderOf(root);
  const common = await firstLine(join(gitFolder, 'commondir'));
  return { gitFolder, commonFolder: common === undefined ? gitFolder : resolve(gitFolder, common) };
}

async function gitFolderOf(root: string): Promise<string> {
  const pointer = join(root, '.git');
  try {
    if ((await stat(pointer)).isDirectory()) return await realpath(pointer);
  } catch {
    return root;
  }
  const [, place] = /^gitdir: (.+)$/.exec((await firstLine(pointer)) ?? '') ?? [];
  return place === undefined ? pointer : resolve(root, place);
}

async function firstLine(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text?.split('\n')[0]?.trim();
}

/** Returns all links in the paths, sorted. */
async function linksIn(paths: readonly string[]): Promise<readonly string[]> {
  const links = new Set<string>();
  for (const path of paths) await followLinks(resolve(path), links);
  return [...links].sort();
}

async function followLinks(path: string, links: Set<string>): Promise<void> {
  let left = path;
  for (let followed = 0; followed <= LINKS_MAX; followed += 1) {
    const found = await firstLink(left);
    if (found === undefined) return;
    links.add(found.link);
    left = isAbsolute(found.target)
      ? join(found.target, found.rest)
      : join(dirname(found.link), found.target, found.rest);
  }
}

async function firstLink(
  path: string,
): Promise<{ readonly link: string; readonly target: string; readonly rest: string } | undefined> {
  const names = path.slice(parse(path).root.length).split(sep);
  let at = parse(path).root;
  for (const [index, name] of names.entries()) {
    at = join(at, name);
    try {
      if (!(await lstat(at)).isSymbolicLink()) continue;
      return { link: at, target: await readlink(at), rest: names.slice(index + 1).join(sep) };
    } catch {
      return undefined; // The path ends here for now.
    }
  }
  return undefined;
}
