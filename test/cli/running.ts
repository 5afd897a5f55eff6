import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { reconciledKinds } from '../../src/kinds/registry.ts';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import type { ProcessSurroundings } from '../../src/cli/session/command.ts';
import { runProgram } from '../../src/cli/program.ts';
import type { Output, Terminal } from '../../src/cli/terminal/terminal.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { builtProgram } from '../support/program.ts';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** What one run of the program left behind. */
export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A terminal that collects text, and answers questions with `answers` in turn where there are any. */
export function collectingTerminal(
  settings: {
    isTerminal?: boolean;
    columns?: number;
    rows?: number;
    color?: boolean;
    answers?: string[];
    input?: string;
  } = {},
) {
  const text = { out: '', err: '' };
  const output = (name: 'out' | 'err'): Output => ({
    write: (part) => {
      text[name] += part;
    },
    isTerminal: settings.isTerminal ?? false,
    rows: settings.rows ?? 24,
    columns: settings.columns ?? 80,
    color: settings.color ?? false,
  });
  const answers = settings.answers;
  const terminal: Terminal = {
    out: output('out'),
    err: output('err'),
    async *input() {
      yield Buffer.from(settings.input ?? '');
    },
    ...(answers === undefined
      ? {}
      : {
          ask: async (question: string) => {
            text.err += question;
            return answers.shift() ?? '';
          },
        }),
  };
  return { terminal, text };
}

/** Runs a command line in this process. */
export async function runHere(args: readonly string[], changes: Partial<ProcessSurroundings> = {}): Promise<Run> {
  const { terminal, text } = collectingTerminal();
  const code = await runProgram(args, surroundingsFor(terminal, changes));
  return { code, ...text };
}

/** What is around a program that writes to the given terminal. */
export function surroundingsFor(terminal: Terminal, changes: Partial<ProcessSurroundings> = {}): ProcessSurroundings {
  return {
    terminal,
    env: {},
    packageRoot: projectRoot,
    who: 'somebody on a test, pid 1',
    temporaryFolder: tmpdir(),
    kinds: { declared: async () => kindDeclarations, reconciled: async () => reconciledKinds },
    clock: systemClock,
    random: systemRandom,
    signal: new AbortController().signal,
    runtimeVersions: { node: process.versions.node, platform: 'test' },
    usage: () => {
      const { used_heap_size: heapBytes, heap_size_limit: heapLimitBytes } = getHeapStatistics();
      return { rssBytes: process.memoryUsage.rss(), heapBytes, heapLimitBytes };
    },
    ...changes,
  };
}

export interface SpawnSettings {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Program file; by default the program as it is shipped. */
  readonly program?: string;
}

/** Starts the real program, with an environment that holds nothing of ours. */
export function startProgram(args: readonly string[], settings: SpawnSettings = {}) {
  const { PATH = '', HOME = '', TMPDIR, NODE_COMPILE_CACHE } = process.env;
  // The installed program makes one itself: without it, a fifth of the time of a short command goes into compiling.
  const hasNoCache = settings.program === undefined && NODE_COMPILE_CACHE !== undefined;
  const cache = hasNoCache ? { NODE_COMPILE_CACHE } : {};
  const child = spawn(process.execPath, [settings.program ?? builtProgram(), ...args], {
    cwd: settings.cwd ?? projectRoot,
    env: { PATH, HOME, ...cache, ...(TMPDIR === undefined ? {} : { TMPDIR }), ...settings.env },
    stdio: 'pipe',
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString('utf8');
  });
  child.stdin.end(settings.input ?? '');
  const ended = new Promise<Run>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code: code ?? (signal === null ? -1 : 128), out, err }));
  });
  return { child, ended, outputSoFar: () => ({ out, err }) };
}

/** Runs the real program to its end. */
export function runProcess(args: readonly string[], settings: SpawnSettings = {}): Promise<Run> {
  return startProgram(args, settings).ended;
}
