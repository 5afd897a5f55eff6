import { invalidInput, type PortolanError } from '../model/errors.ts';
import type { Git } from './git.ts';
import type { ObjectReader } from './objects.ts';

/** The relation of a commit to another: `unknown` when the local history is too short. */
export type Descent = 'descends' | 'does-not-descend' | 'unknown';

const REF_LENGTH_MAX = 250;
/** A ref name or an id, with steps back. Excludes options, ranges, searches, reflogs and paths. */
const REF = /^(?![-./])(?!.*(?:\.\.|\/\/|\/\.|@\{))[^\p{Cc}\s~^:?*[\\]+(?:~[0-9]{0,6}|\^[0-9]?)*$/u;
const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Resolves a branch, a tag, a full or short id, or `HEAD~1`.
 * @returns the full id of the commit.
 * @throws PortolanError `invalid` when it is not a revision, does not exist, or is ambiguous.
 */
export async function resolveRevision(git: Git, objects: ObjectReader, ref: string): Promise<string> {
  if (ref.length > REF_LENGTH_MAX || !REF.test(ref)) {
    throw invalidInput(
      'source/bad-revision',
      `"${ref.slice(0, REF_LENGTH_MAX)}" is not a valid revision. Nothing was read.`,
      'Name a branch, a tag or a commit id. HEAD~1 and main^ work too.',
    );
  }
  const commit = await commitOf(git, objects, ref);
  if (commit !== undefined) return commit;
  throw invalidInput(
    'source/unknown-revision',
    `${git.root} has no commit "${ref}". Nothing was read.`,
    'Fetch it, or correct the name. A branch that exists only at the remote is called origin/NAME.',
  );
}

/** Prefixes of a short name, as in git. A tag and a branch can have the same name. */
const PLACES = ['refs/tags/', 'refs/heads/', 'refs/remotes/'];

async function commitOf(git: Git, objects: ObjectReader, ref: string): Promise<string | undefined> {
  const [name = ref] = /^[^~^]+/.exec(ref) ?? [];
  const steps = ref.slice(name.length);
  const isWhole = name === 'HEAD' || name.startsWith('refs/') || COMMIT_ID.test(name);
  const refs = isWhole ? [] : PLACES.map((place) => `${place}${name}`);
  const found = await objects.facts(refs);
  const meant = refs.filter((_, index) => found[index]?.found === 'one');
  // Git would only warn and use the tag, so a user who can push tags could replace a branch.
  if (meant.length > 1) throw ambiguous(git.root, ref);
  const [facts] = await objects.facts([`${meant[0] ?? name}${steps}^{commit}`]);
  if (facts?.found === 'several') throw ambiguous(git.root, ref);
  if (facts?.found !== 'one') return undefined;
  if (facts.size > COMMIT_BYTES_MAX)
    throw invalidInput(
      'source/too-large',
      `The commit ${facts.id.slice(0, 12)} has a message of ${facts.size} bytes. It was not read.`,
      `Commit with a message of at most ${COMMIT_BYTES_MAX} bytes.`,
    );
  return facts.id;
}

/** Maximum size of a commit object. Git can compress a message of a gigabyte to almost nothing. */
const COMMIT_BYTES_MAX = 4 * 1024 * 1024;

function ambiguous(root: string, ref: string): PortolanError {
  return invalidInput(
    'source/ambiguous-revision',
    `"${ref}" is ambiguous in ${root}. Nothing was read.`,
    `Write refs/heads/${ref} for a branch, refs/tags/${ref} for a tag, or more of a commit id.`,
  );
}

/** Returns the name of a revision in plans: `main@sha1:<40 digits>`. */
export function revisionName(ref: string, commit: string): string {
  return `${ref}@${commit.length === 64 ? 'sha256' : 'sha1'}:${commit}`;
}

/** Returns whether `commit` is `ancestor` or descends from it. A shallow clone can prove that it does, but not that it does not. */
export async function descentFrom(git: Git, commit: string, ancestor: string): Promise<Descent> {
  if (commit === ancestor) return 'descends';
  const found = COMMIT_ID.test(ancestor) ? await ancestry(git, ancestor, commit) : 'unknown';
  // A full clone has all ancestors of its commits, so a missing one is not an ancestor.
  return found === 'ancestor' ? 'descends' : found === 'unknown' ? 'unknown' : 'does-not-descend';
}

/** The age of a checkout's commit, compared with another commit: `unknown` when the local history is too short. */
export type Age = 'older' | 'not-older' | 'unknown';

/**
 * Returns whether the commit of a checkout is older than one that was read elsewhere. A full clone that lacks that commit counts as
 * older: it was not updated since, or the history was rewritten, which only a person can know.
 */
export async function ageOf(git: Git, commit: string, other: string): Promise<Age> {
  if (commit === other) return 'not-older';
  const found = COMMIT_ID.test(other) ? await ancestry(git, commit, other) : 'unknown';
  return found === 'unknown' ? 'unknown' : found === 'none' ? 'not-older' : 'older';
}

/** Returns whether one commit is an ancestor of another. `missing`: a full clone lacks one of them; `unknown`: a shallow clone may. */
async function ancestry(
  git: Git,
  ancestor: string,
  commit: string,
): Promise<'ancestor' | 'none' | 'missing' | 'unknown'> {
  const { exitCode } = await git.run(['merge-base', '--is-ancestor', '--end-of-options', ancestor, commit]);
  if (exitCode === 0) return 'ancestor';
  const shallow = await git.run(['rev-parse', '--is-shallow-repository']);
  if (shallow.stdout.trim() !== 'false') return 'unknown';
  return exitCode === 1 ? 'none' : 'missing';
}
