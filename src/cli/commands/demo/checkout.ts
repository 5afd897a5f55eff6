import { join } from 'node:path';
import { PortolanError } from '../../../model/errors.ts';
import { gitEnvironment, runGit } from '../../../source/git.ts';
import type { Surroundings } from '../../session/command.ts';
import { makeFolder, writeTextFile } from '../../session/files.ts';

const TIME_LIMIT_MS = 60_000;

/** A git checkout that the demo commits to. */
export interface Checkout {
  readonly folder: string;
  /** Writes files and commits them. @returns the first characters of the commit. */
  commit(author: string, subject: string, files: Readonly<Record<string, string>>): Promise<string>;
}

/** Creates an empty repository in a new folder. @throws PortolanError `demo/no-git` when git does not work here. */
export async function createCheckout(inside: string, { clock, env, signal }: Surroundings): Promise<Checkout> {
  const folder = makeFolder(join(inside, 'checkout-'));
  const git = async (args: readonly string[], author = 'Portolan demo'): Promise<string> => {
    const email = `${author.toLowerCase().replaceAll(' ', '.')}@example.com`;
    const environment = {
      ...gitEnvironment(env['PATH'], folder),
      GIT_AUTHOR_NAME: author,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: author,
      GIT_COMMITTER_EMAIL: email,
    };
    const around = { clock, signal, environment, timeLimitMs: TIME_LIMIT_MS };
    const { end, exitCode, stdout, stderr } = await runGit(['-C', folder, ...args], around);
    if (end === 'interrupted') throw signal.reason;
    if (exitCode === 0) return stdout.trim();
    throw new PortolanError({
      code: 'demo/no-git',
      disposition: 'give-up',
      message: `Git cannot run ${args[0]} for the demo: ${stderr.trim() || 'it gave no reason'}.`,
      remedy: 'Install git, and check that it works: git --version.',
    });
  };
  await git(['init', '--quiet', '--initial-branch=main']);
  return {
    folder,
    commit: async (author, subject, files) => {
      for (const [name, text] of Object.entries(files)) writeTextFile(join(folder, name), text);
      await git(['add', '--all']);
      await git(['commit', '--quiet', '--no-gpg-sign', '--message', subject], author);
      return await git(['rev-parse', '--short=8', 'HEAD']);
    },
  };
}
