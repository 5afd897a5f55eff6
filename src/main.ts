/**
 * The process: arguments, standard streams, signals, clock and chance become the surroundings of one command, and its
 * exit code becomes ours. Nothing else in the program knows that there is a process.
 */
import { hostname, tmpdir, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { runProgram } from './cli/program.ts';
import type { Output, Terminal } from './cli/terminal/terminal.ts';
import { systemClock } from './runtime/clock.ts';
import { systemRandom } from './runtime/random.ts';
import type { Thread, ThreadLimits } from './runtime/thread.ts';

/** A terminal's Ctrl-C may arrive twice, from it and from npm; only a second one after this is meant as such. */
const ECHO_MS = 500;

// A daemon stays for months beside others: it collects its heap early rather than let it grow to what it once needed. Sizes of
// spaces are settled by now; this is asked at every collection. Commands set no flag before their code is loaded: V8 refuses code
// that was compiled and kept under other flags, so they would throw away each other's.
if (process.argv[2] === 'run') setFlag('--optimize-for-size');

const interruption = new AbortController();
/** Of standard output: its reader is gone; what else keeps it from being written. */
const unread = new AbortController();
let lost: NodeJS.ErrnoException | undefined;
const exitCode = await runProgram(process.argv.slice(2), {
  terminal: terminalOfProcess(),
  env: process.env,
  // From `src/main.ts` and from `dist/main.js` alike.
  packageRoot: fileURLToPath(new URL('..', import.meta.url)),
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
    return () => process.off('SIGHUP', listener);
  },
  // Where V8 would let the old part of the heap grow by up to 300 % before it is looked at again.
  spareMemory: () => setFlag('--heap-growing-percent=100'),
  openThread: openSourceThread,
  runtimeVersions: { node: process.versions.node, platform: `${process.platform}-${process.arch}` },
});
// A socket that is kept alive would hold the process; text on its way into a pipe must not be cut off.
await Promise.all([drained(process.stdout), drained(process.stderr)]);
process.exit(withLostOutput(exitCode));

/** Only the daemon has threads, and others should not load what makes them. */
async function openSourceThread(limits: ThreadLimits): Promise<Thread> {
  const { threadsOf } = await import('./runtime/thread.ts');
  // Beside this file in `src` and in `dist`.
  const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
  return threadsOf(new URL(file, import.meta.url), { path: process.env.PATH })(limits);
}

/** Of V8. Most commands need none, and it takes some milliseconds to load what sets them. */
function setFlag(flag: string): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(flag);
}

/** Who redirects a result into a file on a full disk must not take half of it for the whole. */
function withLostOutput(code: number): number {
  if (lost === undefined) return code;
  const whys: Readonly<Record<string, string>> = { ENOSPC: 'no space is left', EFBIG: 'the file may not grow further' };
  const why = whys[lost.code ?? ''] ?? lost.message;
  process.stderr.write(
    `error: The result could not be written to standard output: ${why}. What the command did otherwise stands.\n` +
      '  Make room, or write it elsewhere, and run the command again.\n  [cli/output-lost]\n',
  );
  return code === 0 || code === 2 ? 1 : code;
}

/** In a container the user may have no name. */
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
      // The reader went away (`portolan ... | head`): it has what it wanted.
      if (error.code === 'EPIPE') unread.abort(new Error('nobody reads standard output any more'));
      else lost ??= error;
    }),
    // There is nobody left to tell.
    err: outputOf(process.stderr, () => {}),
    input: () => process.stdin,
    mark: [1, 2, 3].map(() => 1000 + (Number.parseInt(systemRandom.hex(4), 16) % 9000)).join(';'),
    ...(canAsk ? { ask } : {}),
  };
}

function outputOf(stream: NodeJS.WriteStream, onError: (error: NodeJS.ErrnoException) => void): Output {
  stream.on('error', onError);
  // A dumb terminal shows text and moves no cursor: it is written to as a pipe is.
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

/** Ctrl-C at a question is a key and no signal, and Ctrl-D leaves it without an answer: both break the command off. */
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

/** The first signal asks the command to end in good order; a second one ends it at once. */
function signalOfProcess(): AbortSignal {
  // A file that may not grow further is an error of the write, and no reason to die in the middle of something.
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
    // Told of an error only in the next turn.
    if (stream.destroyed) process.nextTick(resolve);
    else stream.write('', () => resolve());
  });
}
