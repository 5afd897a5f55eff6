import { spawn } from 'node:child_process';
import { delimiter, dirname, isAbsolute } from 'node:path';
import { invalidInput, PortolanError } from '../model/errors.ts';
import { after, type Clock, NOT_NEEDED } from '../runtime/clock.ts';

/** Surroundings in which git runs. */
export interface GitSurroundings {
  readonly clock: Clock;
  /** The PATH of the process, where `git` is searched. */
  readonly path: string | undefined;
  /** Aborting it kills git and fails pending calls. */
  readonly signal: AbortSignal;
}

export interface GitAnswer {
  /** -1 if git was killed. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Further settings of one command. */
export interface GitExtras {
  /** `name=value` of its configuration, which take precedence over those of the repository. */
  readonly settings?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A running git that answers questions until it is ended. */
export type GitProcess = ReturnType<Git['start']>;

/** Time limit of one command, or of one batch of objects. */
const GIT_TIME_LIMIT_MS = 60_000;
const OUTPUT_LENGTH_MAX = 16 * 1024 * 1024;
const COMPLAINT_LENGTH_MAX = 2_000;

/**
 * Runs the system's git on one checkout or bare repository, which is not trusted: whatever its configuration says, no hook,
 * monitor or helper is started, nothing is fetched, and grafts and replacements are ignored.
 * Use it only for commands that read objects.
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
   * Runs one command to its end. Returns the answer for any exit code.
   * @throws PortolanError `give-up` when git is missing, is too slow, writes too much, or was killed.
   */
  async run(args: readonly string[], { settings, environment }: GitExtras = {}): Promise<GitAnswer> {
    const { end, exitCode, stdout, stderr } = await runGit([...this.#before(settings), ...args], {
      ...this.#around,
      environment: { ...this.#environment(), ...environment },
      timeLimitMs: GIT_TIME_LIMIT_MS,
    });
    const complaint = stderr.slice(0, COMPLAINT_LENGTH_MAX).trim();
    if (end === 'interrupted') throw interrupted();
    if (end === 'too-slow') throw tooSlow(this.root);
    if (end === 'not-started' && complaint.includes('ENOENT'))
      throw new PortolanError({
        code: 'source/no-git',
        disposition: 'give-up',
        message: 'The program git, which reads commits, is not on the PATH. Nothing was done.',
        remedy: 'Install git, or omit --revision to read the files on disk.',
      });
    if (exitCode < 0) throw gitFailed(this.root, 'be run', complaint);
    return { exitCode, stdout, stderr: complaint };
  }

  /** Starts a command that answers questions. If it cannot be started, it ends at once. */
  start(args: readonly string[]) {
    const child = spawn('git', [...this.#before(), ...args], {
      env: this.#environment(),
      stdio: 'pipe',
      signal: this.#around.signal,
      killSignal: 'SIGKILL',
    });
    let errorOutput = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errorOutput = (errorOutput + chunk.toString('utf8')).slice(0, COMPLAINT_LENGTH_MAX);
    });
    const ended = new Promise<void>((resolve) => {
      child.on('exit', () => resolve());
      child.on('error', (error) => {
        errorOutput ||= error.message;
        child.stdout.destroy();
        // A process that did not start sends no exit event.
        if (child.pid === undefined) resolve();
      });
    });
    // A failed write shows as a missing answer.
    child.stdin.on('error', () => {});
    return {
      write: (text: string): void => void child.stdin.write(text),
      /** Its output, which ends with the process. */
      output: child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>,
      /** Returns its error output so far, or why it could not be started. */
      errorOutput: (): string => errorOutput.trim(),
      end: (): void => void child.kill('SIGKILL'),
      /** Resolves when the process has ended. */
      ended,
    };
  }

  /** Calls `late` after the time limit of one answer, unless `done` is aborted before. */
  limitTime(done: AbortSignal, late: () => void): void {
    after(this.#around.clock, GIT_TIME_LIMIT_MS, done, late);
  }

  isInterrupted(): boolean {
    return this.#around.signal.aborted;
  }

  /** Returns the arguments before the name of the command. */
  #before(more: readonly string[] = []): readonly string[] {
    const settings = [
      // The checkout often belongs to the user of a sidecar. The operator names it, and git runs nothing from it.
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
    return {
      ...gitEnvironment(this.#around.path, this.root),
      GIT_OPTIONAL_LOCKS: '0',
      GIT_LITERAL_PATHSPECS: '1',
      // A clone that lacks objects would fetch them with whatever program its configuration names.
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: '',
      GIT_NO_REPLACE_OBJECTS: '1',
      // A file that does not exist: git warns about an empty one.
      GIT_GRAFT_FILE: '/dev/null/none',
    };
  }
}

/** Returns an environment that ignores the settings of the user and the system, for a git that works in `folder`. */
export function gitEnvironment(path = '', folder: string): Record<string, string> {
  // Git changes to the checkout, so a relative folder would be inside it.
  const folders = path.split(delimiter).filter((one) => isAbsolute(one));
  return {
    ...(folders.length === 0 ? {} : { PATH: folders.join(delimiter) }),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    // Git must not use a repository above this one.
    GIT_CEILING_DIRECTORIES: dirname(folder),
  };
}

export interface GitEnd extends GitAnswer {
  readonly end: 'exited' | 'too-slow' | 'interrupted' | 'not-started';
}

/**
 * Runs one command of git to its end. If it takes too long, writes too much, or `signal` is aborted, it is killed with all
 * processes that it started.
 */
export function runGit(
  args: readonly string[],
  around: Omit<GitSurroundings, 'path'> & {
    readonly environment: Readonly<Record<string, string>>;
    readonly timeLimitMs: number;
  },
): Promise<GitEnd> {
  const { clock, signal, environment, timeLimitMs } = around;
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ end: 'interrupted', exitCode: -1, stdout: '', stderr: '' });
    // In a process group of its own, because git starts network programs that would outlive it.
    const child = spawn('git', args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let end: GitEnd['end'] = 'exited';
    const texts = { stdout: '', stderr: '' };
    const kill = (why: GitEnd['end']): void => {
      end = why;
      killGroup(child.pid);
    };
    const interrupt = (): void => kill('interrupted');
    const done = new AbortController();
    signal.addEventListener('abort', interrupt, { once: true });
    after(clock, timeLimitMs, done.signal, () => kill('too-slow'));
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (texts[name].length + text.length > OUTPUT_LENGTH_MAX) kill('exited');
        else texts[name] += text;
      });
    const finish = (exitCode: number): void => {
      done.abort(NOT_NEEDED);
      signal.removeEventListener('abort', interrupt);
      resolve({ end, exitCode, ...texts });
    };
    child.on('error', (error) => {
      end = 'not-started';
      texts.stderr += error.message;
      finish(-1);
    });
    child.on('close', (exitCode) => finish(exitCode ?? -1));
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** Returns the error for a git that failed. @param what the failed step: `list the files of the commit`. */
export function gitFailed(root: string, what: string, complaint: string): PortolanError {
  const [first = ''] = complaint.split('\n');
  if (/from promisor remote/.test(complaint)) return incompleteClone(root);
  if (/not a git repository/.test(complaint)) {
    return invalidInput(
      'source/no-repository',
      `${root} looks like a git repository, but git rejects it: ${first}. Nothing was done.`,
      'Clone it again. The cause can be a worktree whose main repository was moved or removed.',
    );
  }
  return new PortolanError({
    code: 'source/git-failed',
    disposition: 'give-up',
    message: `Git cannot ${what} in ${root}: ${complaint === '' ? 'it gave no reason' : complaint}. Nothing was done.`,
    remedy: `Run git -C ${root} fsck. Fetch an incomplete or damaged clone again.`,
  });
}

/** Returns the error for objects that were never fetched. */
export function incompleteClone(root: string): PortolanError {
  return new PortolanError({
    code: 'source/incomplete-clone',
    disposition: 'give-up',
    message: `${root} lacks objects of this commit: it is a partial clone, or is still being written. Nothing was done.`,
    remedy: 'Clone it without --filter, or fetch the missing objects: git fetch --refetch --no-filter.',
  });
}

/** Returns the error for a git that took too long and was killed. */
export function tooSlow(root: string): PortolanError {
  return new PortolanError({
    code: 'source/git-slow',
    disposition: 'give-up',
    message: `Git did not answer within ${GIT_TIME_LIMIT_MS / 1000} s in ${root} and was killed. Nothing was done.`,
    remedy: 'Check that the disk answers and git works there, then retry.',
  });
}

export function interrupted(): PortolanError {
  return new PortolanError({
    code: 'source/interrupted',
    disposition: 'give-up',
    message: 'Reading the commit was interrupted.',
    remedy: 'Retry the command.',
  });
}
