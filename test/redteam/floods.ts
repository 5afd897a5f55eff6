import { execFileSync } from 'node:child_process';

/** Bytes of one file of the flood: just below the limit of a file. */
const FILE_BYTES = 240 * 1024;

/** Files that each have as many faults as fit: 48 MB that compress to almost nothing. */
export function faultyFlood(files = 200): ReadonlyMap<string, string> {
  // Few enough words and signs that each file is read to its end.
  const line = `a: {b: [${'x'.repeat(60)}\n- ]: "\n`;
  const broken = line.repeat(Math.floor(FILE_BYTES / line.length));
  const field = (at: number): string => `  field-${String(at).padStart(40, '0')}: [ ${at} ]\n`;
  const fields = Array.from({ length: 4_000 }, (_, at) => field(at)).join('');
  const unknown = `apiVersion: portolan/v1\nkind: Component\nmetadata: { name: x }\nspec:\n${fields}`;
  return new Map(
    Array.from({ length: files }, (_, at) => [
      `flood/${String(at).padStart(3, '0')}.yaml`,
      at % 2 === 0 ? `# ${at}\n${unknown}` : `# ${at}\n${broken}`,
    ]),
  );
}

/** Writes a tree of these lines of `git ls-tree`. @returns its id. */
export function treeOf(root: string, entries: readonly string[]): string {
  return execFileSync('git', ['-C', root, 'mktree'], { input: entries.join('\n'), encoding: 'utf8' }).trim();
}

/** A tree whose entries all name the tree of the level below, at the lowest level a blob. @returns its id. */
export function nestedTrees(root: string, levels: number, width: number, leaf: string): string {
  const blob = execFileSync('git', ['-C', root, 'hash-object', '-w', '--stdin'], {
    input: '',
    encoding: 'utf8',
  }).trim();
  let id = blob;
  for (let level = 0; level < levels; level += 1) {
    const [mode, type, name] = level === 0 ? ['100644', 'blob', leaf] : ['040000', 'tree', 'f'];
    id = treeOf(
      root,
      Array.from({ length: width }, (_, at) => `${mode} ${type} ${id}\t${String(at).padStart(6, '0')}-${name}`),
    );
  }
  return id;
}

/** Within these limits half a million folders are read, which take some hundred MiB. */
export const LENIENT = { folders: 1_000_000, entries: 10_000_000 } as const;

/** A commit of a few hundred bytes that unfolds to half a million folders. @returns its id. */
export function memoryBomb(root: string): string {
  return treeBomb(root, 19, 2, 'a.txt');
}

/** A commit of levels of trees, after the one that is checked out. @returns its id. */
export function treeBomb(root: string, levels = 9, width = 20, leaf = 'a.yaml'): string {
  const identity = ['-c', 'user.name=mallory', '-c', 'user.email=mallory@example.com', '-c', 'commit.gpgsign=false'];
  const id = nestedTrees(root, levels, width, leaf);
  const args = ['-C', root, ...identity, 'commit-tree', '-p', 'HEAD', '-m', 'bomb', id];
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

/** Files of valid documents that take far more memory than they have bytes. */
export function largeFiles(files: number): Readonly<Record<string, string>> {
  const rule = (file: number, at: number): string =>
    `apiVersion: portolan/v1\nkind: Application\nmetadata: { name: a${file}-${at} }\nspec: { team: t, region: r, appId: ${file * 1_000 + at + 1} }\n---\n`;
  return Object.fromEntries(
    Array.from({ length: files }, (_, file) => [
      `large/${file}.yaml`,
      Array.from({ length: 1_000 }, (__, at) => rule(file, at)).join(''),
    ]),
  );
}
