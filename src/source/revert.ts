import { PortolanError } from '../model/errors.ts';
import { type Git, gitFailed } from './git.ts';
import { type ObjectReader, parseCommit } from './objects.ts';

/** The change of one commit, backwards. */
export interface Reversal {
  /** Full id of the first parent. */
  readonly parent: string;
  /** Paths of all files that the commit changes, from the top of the tree. */
  readonly files: readonly string[];
}

/**
 * Returns the files that a commit changes, compared with its first parent.
 * @throws PortolanError `invalid` for the first commit of a history.
 */
export async function changeOfCommit(git: Git, objects: ObjectReader, commit: string): Promise<Reversal> {
  const [content] = await objects.read([{ id: commit, type: 'commit' }]);
  const [parent] = (content && parseCommit(content))?.parents ?? [];
  if (parent === undefined)
    throw new PortolanError({
      code: 'source/no-parent',
      disposition: 'invalid',
      message: `The commit ${commit.slice(0, 12)} has no parent in ${git.root}, so there is no former state of its files. Nothing was written.`,
      remedy: 'Name a later commit, or fetch the whole history if the clone is shallow: git fetch --unshallow.',
    });
  const names = await git.run([...DIFF, '--name-only', '-z', '-r', parent, commit]);
  if (names.exitCode !== 0) throw gitFailed(git.root, 'list the files of the commit', names.stderr);
  return { parent, files: names.stdout.split('\0').filter((name) => name !== '') };
}

/** A comparison of two trees that depends neither on attributes nor on settings, and starts no program. */
const DIFF = ['diff-tree', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'];

/** Returns the patch from one commit to another in some files, as `git apply` reads it from the top of the tree. */
export async function patchBetween(git: Git, from: string, to: string, files: readonly string[]): Promise<string> {
  const form = ['-p', '--text', '--full-index', '--unified=3', '--src-prefix=a/', '--dst-prefix=b/', '-r'];
  const { exitCode, stdout, stderr } = await git.run([...DIFF, ...form, from, to, '--', ...files]);
  if (exitCode !== 0) throw gitFailed(git.root, 'compare two commits', stderr);
  return stdout;
}

/**
 * Returns whether the index of the checkout takes a patch. Reads the index only: the files on disk may need a program of the
 * repository to be compared.
 */
export async function takesPatch(git: Git, patchFile: string): Promise<boolean> {
  const { exitCode } = await git.run(['apply', '--check', '--cached', '--', patchFile]);
  return exitCode === 0;
}
