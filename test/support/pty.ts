import { spawn } from '@lydell/node-pty';
import { onTestFinished } from 'vitest';
import { until } from '../cli/scene.ts';

/** A program on a pseudo-terminal: what it writes is shown, what is typed it reads. */
export interface OnTerminal {
  /** Types keys; `\r` is the return key, `\u0003` is Ctrl-C, `\u0004` is Ctrl-D. */
  type(keys: string): void;
  /** All that was shown so far, output and errors as they came, with `\r\n` for the end of a line. */
  shown(): string;
  /** Waits until a text is shown behind what was waited for last. */
  expect(text: string): Promise<void>;
  readonly ended: Promise<{ readonly code: number; readonly shown: string }>;
}

/** Starts a program on a terminal of its own; it ends with the test at the latest. */
export function startOnTerminal(
  file: string,
  args: readonly string[],
  settings: {
    readonly columns?: number;
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): OnTerminal {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(file, [...args], {
    name: 'xterm',
    cols: settings.columns ?? 80,
    rows: 40,
    cwd: settings.cwd ?? process.cwd(),
    env: { PATH, HOME, TERM: 'xterm', ...settings.env },
  });
  let shown = '';
  let seen = 0;
  let isRunning = true;
  child.onData((text) => {
    shown += text;
  });
  const ended = new Promise<{ readonly code: number; readonly shown: string }>((resolve) =>
    child.onExit(({ exitCode }) => {
      isRunning = false;
      resolve({ code: exitCode, shown });
    }),
  );
  onTestFinished(() => {
    if (isRunning) child.kill('SIGKILL');
  });
  return {
    type: (keys) => child.write(keys),
    shown: () => shown,
    async expect(text) {
      await until(() => shown.includes(text, seen) || !isRunning);
      const at = shown.indexOf(text, seen);
      if (at === -1) throw new Error(`it ended without showing ${JSON.stringify(text)}; it showed:\n${shown}`);
      seen = at + text.length;
    },
    ended,
  };
}
