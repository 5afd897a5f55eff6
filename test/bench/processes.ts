import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
let built: string | undefined;

/** The program as it is shipped, built when it is first needed. */
export function program(): string {
  if (built !== undefined) return built;
  const folder = mkdtempSync(join(tmpdir(), 'portolan-built-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  execFileSync(process.execPath, [join(root, '.config', 'build.ts'), join(folder, 'dist')], { stdio: 'ignore' });
  built = join(folder, 'dist', 'portolan.js');
  return built;
}

export const TOKEN = 'bench-token';

/** A Portolan process of the benchmark. */
export class Running {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  err = '';
  out = '';

  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    nodeOptions: readonly string[] = [],
  ) {
    this.child = spawn(process.execPath, [...nodeOptions, program(), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PORTOLAN_TOKEN: TOKEN, ...env },
    });
    const killed = (): void => void this.child.kill('SIGKILL');
    process.once('exit', killed);
    this.child.once('exit', () => process.off('exit', killed));
    this.child.stdout?.on('data', (data: Buffer) => (this.out += data.toString()));
    this.child.stderr?.on('data', (data: Buffer) => (this.err += data.toString()));
    this.exited = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)));
  }

  get pid(): number {
    const { pid } = this.child;
    if (pid === undefined) throw new Error('the process did not start');
    return pid;
  }

  /** Waits until it has said something that matches. */
  async says(pattern: RegExp, timeoutMs = 60_000): Promise<RegExpExecArray> {
    const until = performance.now() + timeoutMs;
    for (;;) {
      const found = pattern.exec(this.out) ?? pattern.exec(this.err);
      if (found !== null) return found;
      if (this.child.exitCode !== null || performance.now() > until)
        throw new Error(`it never said ${pattern}:\n${this.out}\n${this.err}`);
      await sleep(5);
    }
  }

  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return this.exited;
  }
}

/** Runs a command to its end. @throws Error unless its exit code is one of `accepted`. */
export async function portolan(args: readonly string[], accepted: readonly number[] = [0]): Promise<Running> {
  const running = new Running(args);
  const code = await running.exited;
  if (code === null || !accepted.includes(code))
    throw new Error(`portolan ${args.join(' ')} ended with ${code}:\n${running.out}\n${running.err}`);
  return running;
}

export interface SandboxProcess {
  readonly url: string;
  readonly running: Running;
  /** Requests since the last call, oldest first. */
  requests(): Promise<readonly SandboxRequest[]>;
}

export interface SandboxRequest {
  readonly seq: number;
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly isWrite: boolean;
  readonly effectApplied: boolean;
  /** Type of the fault that struck. */
  readonly fault: string | null;
}

export async function startSandboxProcess(
  folder: string,
  seed: object,
  more: readonly string[] = [],
): Promise<SandboxProcess> {
  const file = join(folder, 'seed.json');
  writeFileSync(file, JSON.stringify(seed));
  const running = new Running(['sandbox', '--port', '0', '--seed', file, '--token', TOKEN, ...more]);
  const [, url] = await running.says(/(http:\/\/127\.0\.0\.1:\d+)/);
  if (url === undefined) throw new Error('the sandbox did not say where it is');
  let seen = 0;
  return {
    url,
    running,
    async requests() {
      const response = await fetch(`${url}/_sandbox/requests?after=${seen}`);
      const { requests } = (await response.json()) as { readonly requests: readonly SandboxRequest[] };

      seen = requests.at(-1)?.seq ?? seen;
      return requests;
    },
  };
}

/** Resident memory of a process. */
export function residentBytes(pid: number): number {
  return residentParts(pid).bytes;
}

/** Resident memory, and of it the pages of files (the program's text): the system may drop these at any time. */
export function residentParts(pid: number): { readonly bytes: number; readonly fileBytes: number } {
  const [, pages, filePages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return { bytes: Number(pages) * 4096, fileBytes: Number(filePages) * 4096 };
}

/** Processor time that a process has used, in milliseconds. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime and stime, in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The same to the nanosecond, of all threads that are there. */
export function threadsProcessorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]));
  return times.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

export function openHandles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

export function git(folder: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' });
}
