import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { builtProgram } from '../support/program.ts';
import { temporaryFolder } from './platform.ts';

export type ShellName = 'bash' | 'zsh' | 'fish';

/** Why a shell cannot be tried on this machine; undefined where it can. */
export function whyNot(shell: ShellName): string | undefined {
  const found = (program: string): boolean =>
    spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
  if (!found(shell)) return `${shell} is not installed`;
  // `script` of util-linux gives a pseudo-terminal to whoever has no package for it; that of macOS takes other options.
  const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  return (stdout ?? '').includes('util-linux')
    ? undefined
    : 'there is no script of util-linux to give a pseudo-terminal';
}

/** An interactive shell on a pseudo-terminal, with our program on its path. */
export interface ShellSession {
  type(keys: string): void;
  /** Waits until it has shown this since the last wait. @returns what it has shown. */
  shows(text: string): Promise<string>;
  /** Waits until it has written a file. @returns the text; the file is gone then. */
  file(path: string): Promise<string>;
}

const STARTS: Readonly<Record<ShellName, string>> = {
  bash: 'bash --noprofile --norc -i',
  zsh: 'zsh -f -i',
  fish: 'fish --no-config -i',
};

export function startShell(shell: ShellName, cwd: string): ShellSession {
  const bin = temporaryFolder();
  const program = join(bin, 'portolan');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${builtProgram()}' "$@"\n`);
  chmodSync(program, 0o755);
  const child = spawn('script', ['--quiet', '--return', '--command', STARTS[shell], '/dev/null'], {
    cwd,
    env: {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      HOME: temporaryFolder(),
      TERM: 'xterm',
      LC_ALL: 'C.UTF-8',
      PS1: 'ready> ',
    },
    stdio: 'pipe',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let shown = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (shown += part.toString()));
  const until = async (what: string, isSo: () => boolean): Promise<void> => {
    const untilMs = performance.now() + 30_000;
    while (!isSo()) {
      if (performance.now() > untilMs) throw new Error(`${shell} did not come to ${what}:\n${shown}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  return {
    type: (keys) => void child.stdin.write(keys),
    async shows(text) {
      await until(`show ${text}`, () => shown.includes(text));
      const before = shown;
      shown = '';
      return before;
    },
    async file(path) {
      await until(`write ${path}`, () => existsSync(path));
      const text = readFileSync(path, 'utf8');
      rmSync(path);
      return text;
    },
  };
}
