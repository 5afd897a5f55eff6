import type { SourceSettings } from '../../configuration/settings/source-spec.ts';
import type { ReadSources } from '../../manifest/read.ts';
import { invalidInput } from '../../model/errors.ts';
import type { EpochMs } from '../../model/time.ts';
import { locatePaths, placeInCheckout } from '../../source/checkout.ts';
import { readCommit } from '../../source/commit-source.ts';
import { Git } from '../../source/git.ts';
import { ObjectReader } from '../../source/objects.ts';
import { type Descent, descentFrom, resolveRevision, revisionName } from '../../source/revision.ts';
import { requireSignature } from '../../source/signatures.ts';
import type { Surroundings } from './command.ts';

/** The operator's rules for a commit. */
export type RevisionPolicy = Pick<SourceSettings, 'signatures' | 'limits'>;

/** Describes the commit that a command works on. */
export interface LoadedCommit {
  /** Full id. */
  readonly id: string;
  /** Name in plans: `main@sha1:<id>`. */
  readonly name: string;
  /** Absent for the commit of a saved plan. */
  readonly author?: string;
  readonly committedMs?: EpochMs;
  descentFrom(ancestor: string): Promise<Descent>;
}

/**
 * Reads the manifests of `--revision`.
 * @param exclude files on disk that are not manifests; they are excluded from the commit too.
 * @throws PortolanError `invalid` when there is no such commit, or the paths are in no repository or in several;
 * `ask-human` when the commit lacks a signature that the operator requires.
 */
export async function readRevision(
  ref: string,
  paths: readonly string[],
  exclude: readonly string[],
  { signatures, limits }: RevisionPolicy,
  { clock, env, signal }: Pick<Surroundings, 'clock' | 'env' | 'signal'>,
): Promise<{ readonly sources: ReadSources; readonly commit: LoadedCommit }> {
  if (paths.includes('-'))
    throw invalidInput(
      'cli/revision-of-input',
      'Standard input has no revisions, and --revision was given with -f -. Nothing was read.',
      'Leave out one of the two.',
    );
  const { root, paths: inCommit } = await locatePaths(paths);
  const git = new Git(root, { clock, path: env.PATH, signal });
  const objects = new ObjectReader(git);
  try {
    const id = await resolveRevision(git, objects, ref);
    await requireSignature(git, id, signatures);
    const places = await Promise.all(exclude.map((file) => placeInCheckout(root, file)));
    const sources = await readCommit({
      git,
      objects,
      commit: id,
      paths: inCommit,
      exclude: places.filter((place) => place !== undefined),
      limits,
    });
    const commit = {
      id,
      name: revisionName(ref, id),
      author: sources.object.author,
      committedMs: sources.object.committedMs,
      descentFrom: (ancestor: string) => descentFrom(git, id, ancestor),
    };
    return { sources, commit };
  } finally {
    await objects.close();
  }
}
