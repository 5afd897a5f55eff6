/**
 * Starts the process: arguments, standard streams, signals, clock and randomness become the surroundings of one command,
 * and its exit code becomes that of the process. No other file uses the process.
 */
import { hostname, tmpdir, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { runProgram } from './cli/program.ts';
import type { Output, Terminal } from './cli/terminal/terminal.ts';
import { systemClock } from './runtime/clock.ts';
import { keepSmall } from './runtime/heap.ts';
import { systemRandom } from './runtime/random.ts';
import type { Thread, ThreadLimits } from './runtime/thread.ts';

/** Time within which a second Ctrl-C is an echo: it may arrive from the terminal and from npm. */
const ECHO_MS = 500;

// A daemon runs for months beside other programs. Other commands set no flag before their code is loaded: V8 rejects cached
// code that was compiled under other flags, so commands would discard each other's cache.
const isDaemon = process.argv[2] === 'run';
if (isDaemon) void keepSmall({ oldBytes, setFlag }, systemClock);

/** A daemon may wait for its database for hours: a reload that is requested meanwhile must not end it, and counts afterwards. */
let isReloadRequested = false;
if (isDaemon) process.on('SIGHUP', () => void (isReloadRequested = true));

const interruption = new AbortController();
/** Aborted when the reader of standard output is gone. `lost` holds any other error of writing it. */
const unread = new AbortController();
let lost: NodeJS.ErrnoException | undefined;
const exitCode = await runProgram(process.argv.slice(2), {
  terminal: terminalOfProcess(),
  env: process.env,
  // Works from `src/main.ts` and from `dist/main.js`.
  packageRoot: fileURLToPath(new URL('..', import.meta.url)),
  hostName: hostname(),
  who: `${userName()} on ${hostname()}, pid ${process.pid}`,
  temporaryFolder: tmpdir(),
  kinds: {
    declared: async () => (await import('./configuration/declarations.ts')).kindDeclarations,
    reconciled: async () => (await import('./kinds/registry.ts')).reconciledKinds,
  },
  clock: systemClock,
  random: systemRandom,
  signal: signalOfProcess(),
  unread: unread.signal,
  onHangup: (listener) => {
    process.on('SIGHUP', listener);
    if (isReloadRequested) listener();
    return () => process.off('SIGHUP', listener);
  },
  // By default, V8 lets the old part of the heap grow by up to 300 % before the next collection.
  spareMemory: () => setFlag('--heap-growing-percent=100'),
  openThread: openSourceThread,
  runtimeVersions: { node: process.versions.node, platform: `${process.platform}-${process.arch}` },
  usage: () => {
    const { used_heap_size: heapBytes, heap_size_limit: heapLimitBytes } = process
      .getBuiltinModule('node:v8')
      .getHeapStatistics();
    return { rssBytes: process.memoryUsage.rss(), heapBytes, heapLimitBytes };
  },
});
// Exits explicitly, because a kept-alive socket would hold the process; text on its way into a pipe is written first.
await Promise.all([drained(process.stdout), drained(process.stderr)]);
process.exit(withLostOutput(exitCode));

/** Only the daemon has threads, so only it loads this code. */
async function openSourceThread(limits: ThreadLimits): Promise<Thread> {
  // A commit creates little garbage, in two heaps: to start V8's helper threads for it costs more than to collect it.
  setFlag('--no-parallel-scavenge');
  const { threadsOf } = await import('./runtime/thread.ts');
  // The worker is beside this file, in `src` and in `dist`.
  const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
  return threadsOf(new URL(file, import.meta.url), { path: process.env.PATH })(limits);
}

function oldBytes(): number {
  const spaces = process.getBuiltinModule('node:v8').getHeapSpaceStatistics();
  const old = spaces.filter(({ space_name: name }) => !name.startsWith('new_'));
  return old.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}

/** Sets a flag of V8. The module is loaded here because that takes some milliseconds, and most commands need no flag. */
function setFlag(flag: string): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(flag);
}

/** Reports output that could not be written: a result on a full disk must not look complete. */
function withLostOutput(code: number): number {
  if (lost === undefined) return code;
  const whys: Readonly<Record<string, string>> = { ENOSPC: 'no space is left', EFBIG: 'the file may not grow further' };
  const why = whys[lost.code ?? ''] ?? lost.message;
  process.stderr.write(
    `error: The result could not be written to standard output: ${why}. Other effects of the command remain.\n` +
      '  Free space or redirect the output elsewhere, then run the command again.\n  [cli/output-lost]  (portolan docs cli/output-lost)\n',
  );
  return code === 0 || code === 2 ? 1 : code;
}

/** Returns the name of the user, who may have none in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function terminalOfProcess(): Terminal {
  const canAsk = process.stdin.isTTY && process.stderr.isTTY;
  return {
    out: outputOf(process.stdout, (error) => {
      // The reader has closed the pipe, as in `portolan ... | head`: it has all that it wants.
      if (error.code === 'EPIPE') unread.abort(new Error('standard output has no reader any more'));
      else lost ??= error;
    }),
    // An error of standard error cannot be reported anywhere.
    err: outputOf(process.stderr, () => {}),
    input: () => process.stdin,
    mark: [1, 2, 3].map(() => 1000 + (Number.parseInt(systemRandom.hex(4), 16) % 9000)).join(';'),
    ...(canAsk ? { ask } : {}),
  };
}

function outputOf(stream: NodeJS.WriteStream, onError: (error: NodeJS.ErrnoException) => void): Output {
  stream.on('error', onError);
  // A dumb terminal cannot move the cursor, so it is treated as a pipe.
  const isTerminal = stream.isTTY === true && process.env.TERM !== 'dumb';
  return {
    write: (content) => void stream.write(content),
    isTerminal,
    // A window that is not drawn yet has no size.
    get columns() {
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
    color: isTerminal,
  };
}

/**
 * Asks a question. At a question, Ctrl-C is a key and not a signal, and Ctrl-D ends it without an answer: both cancel the
 * command.
 */
async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const breakOff = (): void => interruption.abort(new Error('ended at a question'));
  reader.once('close', breakOff);
  try {
    return await reader.question(question, { signal: interruption.signal });
  } finally {
    reader.off('close', breakOff);
    reader.close();
  }
}

/**
 * Returns a signal that is aborted by the first SIGINT or SIGTERM, so that the command ends in order. A second one ends
 * the process at once.
 */
function signalOfProcess(): AbortSignal {
  // When a file has reached its size limit, the write fails; the process must not die in the middle of its work.
  process.on('SIGXFSZ', () => {});
  let firstMs: number | undefined;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      const nowMs = systemClock.monotonic();
      if (firstMs !== undefined && nowMs - firstMs > ECHO_MS) process.exit(130);
      firstMs ??= nowMs;
      interruption.abort(new Error(`ended by ${name}`));
    });
  }
  return interruption.signal;
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    // An error is reported only in the next turn.
    if (stream.destroyed) process.nextTick(resolve);
    else stream.write('', () => resolve());
  });
}
