import { execFile, spawn } from 'node:child_process';
import { delimiter, dirname, isAbsolute } from 'node:path';
import { PortolanError } from '../model/errors.ts';
import { after, type Clock } from '../runtime/clock.ts';

/** What git is run with. */
export interface GitSurroundings {
  readonly clock: Clock;
  /** The process's PATH: where `git` is looked for. */
  readonly path: string | undefined;
  /** Aborted: git is killed, and what waits for it fails. */
  readonly signal: AbortSignal;
}

export interface GitAnswer {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** What one command gets beside its arguments. */
export interface GitExtras {
  /** What it is told on its standard input. */
  readonly input?: string;
  /** `name=value` of its configuration; they go before the repository's. */
  readonly settings?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A git that was started and talks until it is ended. */
export type GitConversation = ReturnType<Git['start']>;

/** How long one command, or one batch of blobs, may take. */
export const GIT_TIME_LIMIT_MS = 60_000;
/** The list of all files of a repository is the longest answer there is. */
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;
const COMPLAINT_LENGTH_MAX = 2_000;

/**
 * The system's git on one checkout or bare repository, which is not trusted: whatever its configuration says, no hook,
 * monitor or helper is started, nothing is fetched, and neither grafts nor replacements stand in for what a commit names.
 * Only commands that read objects are meant to be run.
 */
export class Git {
  /** Real path of the checkout or bare repository. */
  readonly root: string;
  readonly #around: GitSurroundings;

  constructor(root: string, around: GitSurroundings) {
    this.root = root;
    this.#around = around;
  }

  /**
   * Runs one command to its end; any exit code is an answer.
   * @throws PortolanError `give-up` when git is not there, is too slow, says too much, or was killed.
   */
  async run(
    args: readonly string[],
    { input = '', settings = [], environment = {} }: GitExtras = {},
  ): Promise<GitAnswer> {
    const { signal } = this.#around;
    const late = new AbortController();
    const done = new AbortController();
    const either = AbortSignal.any([signal, late.signal]);
    this.limitTime(done.signal, () => late.abort());
    return new Promise<GitAnswer>((resolve, reject) => {
      const child = execFile(
        'git',
        [...this.#before(settings), ...args],
        {
          env: { ...this.#environment(), ...environment },
          encoding: 'buffer',
          maxBuffer: OUTPUT_BYTES_MAX,
          signal: either,
          killSignal: 'SIGKILL',
        },
        (error, stdout, stderr) => {
          done.abort();
          const complaint = stderr.toString('utf8').slice(0, COMPLAINT_LENGTH_MAX).trim();
          if (error === null) resolve({ exitCode: 0, stdout, stderr: complaint });
          else if (signal.aborted) reject(interrupted());
          else if (late.signal.aborted) reject(tooSlow(this.root));
          else if (typeof error.code === 'number') resolve({ exitCode: error.code, stdout, stderr: complaint });
          else reject(notRun(this.root, error));
        },
      );
      // One that ends before it has heard everything says why with its exit code.
      child.stdin?.on('error', () => {});
      child.stdin?.end(input);
    });
  }

  /** Starts a command that is talked to; one that cannot be started ends at once. */
  start(args: readonly string[]) {
    const child = spawn('git', [...this.#before(), ...args], {
      env: this.#environment(),
      stdio: 'pipe',
      signal: this.#around.signal,
      killSignal: 'SIGKILL',
    });
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaints = (complaints + chunk.toString('utf8')).slice(0, COMPLAINT_LENGTH_MAX);
    });
    const ended = new Promise<void>((resolve) => {
      child.on('exit', () => resolve());
      child.on('error', (error) => {
        complaints ||= error.message;
        child.stdout.destroy();
        // One that could not be started has nothing to close.
        if (child.pid === undefined) resolve();
      });
    });
    // What it can no longer be told shows as an answer that does not come.
    child.stdin.on('error', () => {});
    return {
      say: (text: string): void => void child.stdin.write(text),
      /** What it says; ends when it ends. */
      heard: child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>,
      /** Its complaints so far, or why it could not be started. */
      complaints: (): string => complaints.trim(),
      end: (): void => void child.kill('SIGKILL'),
      /** Settles when the process is gone. */
      ended,
    };
  }

  /** Calls `late` when one answer takes longer than it may, unless `done` is aborted before. */
  limitTime(done: AbortSignal, late: () => void): void {
    after(this.#around.clock, GIT_TIME_LIMIT_MS, done, late);
  }

  isInterrupted(): boolean {
    return this.#around.signal.aborted;
  }

  /** What stands before a command's name. */
  #before(more: readonly string[] = []): readonly string[] {
    const settings = [
      // The checkout often belongs to the user of a sidecar. It is named by the operator, and nothing of it is run.
      `safe.directory=${this.root}`,
      'core.hooksPath=/dev/null',
      'core.fsmonitor=false',
      'protocol.ext.allow=never',
      'protocol.file.allow=user',
      ...more,
    ];
    return ['--no-pager', '-C', this.root, ...settings.flatMap((setting) => ['-c', setting])];
  }

  #environment(): Record<string, string> {
    const { path = '' } = this.#around;
    // A relative folder would be one of the checkout's: git changes to it.
    const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
    return {
      ...(folders.length === 0 ? {} : { PATH: folders.join(delimiter) }),
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_LITERAL_PATHSPECS: '1',
      // No repository above the one that was found.
      GIT_CEILING_DIRECTORIES: dirname(this.root),
      // A clone that lacks objects would fetch them with whatever program its configuration names.
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: '',
      GIT_NO_REPLACE_OBJECTS: '1',
      // None: an empty file is answered with a warning.
      GIT_GRAFT_FILE: '/dev/null/none',
    };
  }
}

/** Git refused, with its own words. @param what was to be done: `list the files of the commit`. */
export function gitFailed(root: string, what: string, complaint: string): PortolanError {
  const [first = ''] = complaint.split('\n');
  if (/from promisor remote/.test(complaint)) return incompleteClone(root);
  if (/not a git repository/.test(complaint)) {
    return new PortolanError({
      code: 'source/no-repository',
      disposition: 'invalid',
      message: `${root} looks like a git repository, and git does not take it for one: ${first}. Nothing was done.`,
      remedy: 'Clone it again; a worktree whose main repository was moved or removed looks like this too.',
    });
  }
  return new PortolanError({
    code: 'source/git-failed',
    disposition: 'give-up',
    message: `Git cannot ${what} in ${root}: ${complaint === '' ? 'it gave no reason' : complaint}. Nothing was done.`,
    remedy: `Run git -C ${root} fsck there; a clone that is incomplete or damaged must be fetched again.`,
  });
}

/** Objects that are needed were never fetched. */
export function incompleteClone(root: string): PortolanError {
  return new PortolanError({
    code: 'source/incomplete-clone',
    disposition: 'give-up',
    message: `${root} lacks objects of this commit: it is a partial clone, or is still being written, and nothing is fetched while it is read. Nothing was done.`,
    remedy: 'Clone it without --filter, or fetch what is missing: git fetch --refetch --no-filter.',
  });
}

/** What took too long is killed. */
export function tooSlow(root: string): PortolanError {
  return new PortolanError({
    code: 'source/git-slow',
    disposition: 'give-up',
    message: `Git did not answer within ${GIT_TIME_LIMIT_MS / 1000} s in ${root} and was ended. Nothing was done.`,
    remedy: 'Look whether that disk answers and git works there, then run this again.',
  });
}

export function interrupted(): PortolanError {
  return new PortolanError({
    code: 'source/interrupted',
    disposition: 'give-up',
    message: 'reading the commit was broken off',
    remedy: 'Run this again.',
  });
}

function notRun(
  root: string,
  error: NodeJS.ErrnoException | (Error & { code?: unknown; signal?: unknown }),
): PortolanError {
  if (error.code === 'ENOENT') return noGit(error);
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return new PortolanError({
      code: 'source/git-output',
      disposition: 'give-up',
      message: `Git lists more than ${OUTPUT_BYTES_MAX / 1024 / 1024} MiB of names in ${root}. Nothing was done.`,
      remedy: 'Name the folder of the manifests with -f, not the whole repository.',
    });
  return gitFailed(root, 'be run', error.message);
}

function noGit(cause: unknown): PortolanError {
  return new PortolanError({
    code: 'source/no-git',
    disposition: 'give-up',
    message: 'The program git is not on the PATH, and commits are read with it. Nothing was done.',
    remedy: 'Install git, or leave --revision out to read the files as they are.',
    cause,
  });
}
