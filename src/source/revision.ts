import { PortolanError } from '../model/errors.ts';
import { type Git, gitFailed } from './git.ts';

/** How a commit stands to another: `unknown` where the history at hand does not reach far enough. */
export type Descent = 'descends' | 'does-not-descend' | 'unknown';

const REF_LENGTH_MAX = 250;
/** A name as git allows one, or an id, and steps back from it; no options, ranges, searches, reflogs or paths. */
const REF = /^(?![-./])(?!.*(?:\.\.|\/\/|\/\.|@\{))[^\p{Cc}\s~^:?*[\\]+(?:~[0-9]{0,6}|\^[0-9]?)*$/u;
const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * The commit that a branch, tag, (short) id, or `HEAD~1` means now.
 * @returns its whole id.
 * @throws PortolanError `invalid` for what is no reference, means nothing, or means several things.
 */
export async function resolveRevision(git: Git, ref: string): Promise<string> {
  if (ref.length > REF_LENGTH_MAX || !REF.test(ref)) {
    throw new PortolanError({
      code: 'source/bad-revision',
      disposition: 'invalid',
      message: `"${ref.slice(0, REF_LENGTH_MAX)}" cannot be a revision. Nothing was read.`,
      remedy: 'Name a branch, a tag or a commit id; HEAD~1 and main^ work too.',
    });
  }
  const { exitCode, stdout, stderr } = await git.run(['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`]);
  // "refname … is ambiguous" is only a warning: a tag then goes before a branch, and whoever may push one may choose.
  if (/ is ambiguous/.test(stderr)) throw ambiguous(git.root, ref);
  const commit = stdout.toString('utf8').trim();
  if (exitCode === 0 && COMMIT_ID.test(commit)) return commit;
  if (!/Needed a single revision/.test(stderr)) throw gitFailed(git.root, `find revision ${ref}`, stderr);
  throw new PortolanError({
    code: 'source/unknown-revision',
    disposition: 'invalid',
    message: `There is no commit "${ref}" in ${git.root}. Nothing was read.`,
    remedy: 'Fetch it, or correct the name; a branch that is only at the remote is called origin/NAME.',
  });
}

function ambiguous(root: string, ref: string): PortolanError {
  return new PortolanError({
    code: 'source/ambiguous-revision',
    disposition: 'invalid',
    message: `"${ref}" means more than one thing in ${root}. Nothing was read.`,
    remedy: `Write refs/heads/${ref} for a branch, refs/tags/${ref} for a tag, or more of a commit id.`,
  });
}

/** A revision as plans show it: `main@sha1:<40 digits>`. */
export function revisionName(ref: string, commit: string): string {
  return `${ref}@${commit.length === 64 ? 'sha256' : 'sha1'}:${commit}`;
}

/** Whether `commit` is `ancestor`, or came after it. A clone that was cut short proves that it did, and never that it did not. */
export async function descentFrom(git: Git, commit: string, ancestor: string): Promise<Descent> {
  if (commit === ancestor) return 'descends';
  if (!COMMIT_ID.test(ancestor)) return 'unknown';
  const { exitCode } = await git.run(['merge-base', '--is-ancestor', '--end-of-options', ancestor, commit]);
  if (exitCode === 0) return 'descends';
  const shallow = await git.run(['rev-parse', '--is-shallow-repository']);
  // A whole clone has every ancestor of what it has: one that is missing (128) is none.
  return shallow.stdout.toString('utf8').trim() === 'false' ? 'does-not-descend' : 'unknown';
}
