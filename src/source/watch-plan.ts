import { lstat, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';

/** Where changes of a source show on the disk. Two that are equal listen to the same. */
export interface WatchPlan {
  /** Folders that are listened at, with all that is below those of `trees`. */
  readonly folders: readonly string[];
  /** Files and links that matter by themselves. */
  readonly names: readonly string[];
  /** Everything below them matters, but locks and hidden names where `isPlain`. */
  readonly trees: readonly string[];
  /** Plain files: hidden names do not count. */
  readonly isPlain: boolean;
  /** Which files and folders of the disk these are: one that was replaced needs to be listened at anew. */
  readonly identity: string;
}

/** Links within links; systems give up after about as many. */
const LINKS_MAX = 40;

/** For a checkout, worktree or bare repository, reached by these paths: its refs, and the links on the way to it. */
export async function watchPlanOfRepository(root: string, paths: readonly string[]): Promise<WatchPlan> {
  const { gitFolder, commonFolder } = await gitFolders(root);
  const links = await linksOnTheWay(paths);
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

/** For plain files and folders: everything below them, and the links on the way. */
export async function watchPlanOfFiles(paths: readonly string[]): Promise<WatchPlan> {
  const links = await linksOnTheWay(paths);
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

/** Device and inode, which another one in its place does not have; `-` where there is none. */
export async function identityOf(path: string): Promise<string> {
  try {
    const { dev, ino } = await stat(path);
    return `${dev}:${ino}`;
  } catch {
    return '-'; // Whoever needs it says better what is wrong with it.
  }
}

/** What `.git` of a checkout leads to; a bare repository is its own. Only for watching: git itself decides what it reads. */
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

/** Every link that is followed on the way to these paths, in no particular order. */
async function linksOnTheWay(paths: readonly string[]): Promise<readonly string[]> {
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
      return undefined; // It ends here, for now.
    }
  }
  return undefined;
}
