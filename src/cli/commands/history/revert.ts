import { join, relative, resolve, sep } from 'node:path';
import { groupByApplication } from '../../../manifest/group.ts';
import { invalidInput, PortolanError } from '../../../model/errors.ts';
import { safeLine } from '../../../model/text.ts';
import { locatePaths, type PathInCommit } from '../../../source/checkout.ts';
import { Git } from '../../../source/git.ts';
import { ObjectReader } from '../../../source/objects.ts';
import { changeOfCommit, patchBetween, type Reversal, takesPatch } from '../../../source/revert.ts';
import { resolveRevision } from '../../../source/revision.ts';
import type { Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { makeFolder, removeFolder, writeTextFile } from '../../session/files.ts';
import { type InputOptions, loadInput } from '../../session/input.ts';
import { safeOutput } from '../../terminal/guarded.ts';
import { shellWord } from '../../terminal/text.ts';

/** The files of a patch: those of the application, and the other applications with documents in them. */
interface Selection {
  readonly files: readonly string[];
  readonly others: readonly string[];
}

/**
 * Writes the patch that undoes what one commit changed in the manifests of an application. Writes no file.
 * @throws PortolanError `invalid` when the commit changes nothing of it; `ask-human` when later commits changed the same lines.
 */
export async function writeRevert(
  application: string,
  revision: string,
  options: InputOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { clock, env, signal, terminal } = surroundings;
  const { paths: named } = await loadInput(options, surroundings);
  if (named.includes('-'))
    throw invalidInput(
      'history/revert-of-input',
      'Standard input has no commits, and --revert was given with -f -. Nothing was written.',
      'Pass -f with a folder of the checkout.',
    );
  const { root, paths } = await locatePaths(named);
  const git = new Git(root, { clock, path: env.PATH, signal });
  const objects = new ObjectReader(git);
  try {
    const commit = await resolveRevision(git, objects, revision);
    const change = await changeOfCommit(git, objects, commit);
    const at = (id: string) => documentsAt(id, paths, { ...options, filename: named }, surroundings);
    const [after, before] = [await at(commit), await at(change.parent)];
    const selection = select(application, commit, change, [...after, ...before]);
    const patch = await patchBetween(git, commit, change.parent, selection.files);
    await refuseUnusable(patch, commit, git, surroundings);
    terminal.out.write(patch);
    for (const line of remarks(root, selection)) terminal.err.write(`note: ${safeLine(line)}\n`);
    return EXIT.ok;
  } finally {
    await objects.close();
  }
}

interface Document {
  /** Name of the application it belongs to. */
  readonly application: string;
  /** Path from the top of the tree. */
  readonly file: string;
}

/** Returns the documents of a commit by file. @throws PortolanError `invalid` when its manifests have faults. */
async function documentsAt(
  id: string,
  paths: readonly PathInCommit[],
  options: InputOptions,
  surroundings: Surroundings,
): Promise<readonly Document[]> {
  const { desired, problems } = await loadInput({ ...options, revision: id }, surroundings);
  const [problem] = problems.filter(({ code }) => code !== 'source/not-found');
  if (problem !== undefined)
    throw invalidInput(
      'history/faulty-commit',
      `The manifests of commit ${id.slice(0, 12)} have a fault, so its applications are unknown: ${problem.position.file}:${problem.position.line}: ${problem.message}. Nothing was written.`,
      'Run git revert instead, which does not read manifests.',
    );
  return groupByApplication(desired).flatMap(({ application, resources }) =>
    [application, ...resources].map(({ position }) => ({
      application: application.name,
      file: placeOf(position.file, paths),
    })),
  );
}

/** Returns the path in the tree of a file as messages show it. */
function placeOf(shown: string, paths: readonly PathInCommit[]): string {
  for (const { named, within } of paths) {
    const rest = relative(resolve(named), resolve(shown));
    if (rest === '..' || rest.startsWith(`..${sep}`)) continue;
    return [within, ...rest.split(sep)].filter((part) => part !== '').join('/');
  }
  throw new Error(`${shown} is in none of the paths`);
}

function select(
  application: string,
  commit: string,
  { files: changed }: Reversal,
  documents: readonly Document[],
): Selection {
  const own = new Set(documents.filter((one) => one.application === application).map(({ file }) => file));
  const files = changed.filter((file) => own.has(file));
  if (files.length === 0) {
    const inChanged = documents.filter(({ file }) => changed.includes(file)).map((one) => one.application);
    const names = [...new Set(inChanged)].sort();
    throw invalidInput(
      'history/nothing-to-revert',
      `The commit ${commit.slice(0, 12)} changes no manifest of Application/${application}. Nothing was written.`,
      names.length === 0
        ? 'portolan history shows the commits of an application.'
        : `It changes manifests of: ${names.join(', ')}. portolan history shows the commits of an application.`,
    );
  }
  const beside = documents.filter((one) => files.includes(one.file) && one.application !== application);
  return { files, others: [...new Set(beside.map((one) => one.application))].sort() };
}

/** Refuses a patch that the index does not take, or that the output would change. */
async function refuseUnusable(patch: string, commit: string, git: Git, surroundings: Surroundings): Promise<void> {
  const refused = (code: string, why: string): PortolanError =>
    new PortolanError({
      code,
      disposition: 'ask-human',
      message: `The change of ${commit.slice(0, 12)} cannot be undone by a patch: ${why}. Nothing was written.`,
      remedy: `Run git -C ${shellWord(git.root)} revert ${commit.slice(0, 12)}, and resolve the conflicts.`,
    });
  if (safeOutput(patch) !== patch || patch.includes('\ufffd'))
    throw refused('history/revert-unprintable', 'its files contain characters that cannot be printed');
  const folder = makeFolder(join(surroundings.temporaryFolder, 'portolan-revert-'));
  try {
    const file = join(folder, 'revert.patch');
    writeTextFile(file, patch);
    if (await takesPatch(git, file)) return;
  } finally {
    removeFolder(folder);
  }
  throw refused('history/revert-conflict', 'later changes touch the same lines, or the repository has no index');
}

function remarks(root: string, { files, others }: Selection): readonly string[] {
  return [
    `this patch is for ${files.join(', ')}; to apply it, pipe it into git -C ${shellWord(root)} apply, and commit`,
    ...(others.length === 0
      ? []
      : [`the same files also have documents of ${others.map((name) => `Application/${name}`).join(', ')}`]),
  ];
}
