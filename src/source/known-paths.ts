import { invalidInput, PortolanError } from '../model/errors.ts';
import { exists, hasNeighbours, locatePaths } from './checkout.ts';
import { Git, type GitSurroundings } from './git.ts';

/**
 * Refuses a mistyped path: it exists neither on disk nor in the history of its repository. A path in a missing or empty
 * folder passes, because another program may still fetch the checkout.
 * @param ref the branch, tag or commit that the daemon follows.
 * @throws PortolanError `source/not-found`, disposition `invalid`.
 */
export async function requireKnownPaths(
  paths: readonly string[],
  ref: string,
  surroundings: GitSurroundings,
): Promise<void> {
  for (const path of paths) {
    if (path === '-' || (await exists(path))) continue;
    if (!(await hasNeighbours(path)) || (await wasCommitted(path, ref, surroundings))) continue;
    throw invalidInput(
      'source/not-found',
      `${path} exists neither on disk nor in the history of its repository. Nothing was started.`,
      'Correct -f or spec.source.paths. A new folder must exist before the first start.',
    );
  }
}

/** Returns whether a commit has or had the path. An error of git counts as yes, because the first reading reports it. */
async function wasCommitted(path: string, ref: string, surroundings: GitSurroundings): Promise<boolean> {
  try {
    const { root, paths } = await locatePaths([path]);
    const git = new Git(root, surroundings);
    const within = paths.map((one) => one.within);
    const answer = await git.run(['rev-list', '--max-count=1', '--end-of-options', ref, '--', ...within]);
    return answer.exitCode !== 0 || answer.stdout.trim() !== '';
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return error.code !== 'source/no-repository';
  }
}
