import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { builtProgram } from '../support/program.ts';
import { root, textOf } from './markdown.ts';

/** Ports of the sandbox and of the controller in the pages. Another one takes its place where it is in use. */
const PORTS = [7070, 7780];

/** A block of commands, and the output that the page shows for it. */
interface Step {
  readonly commands: string;
  /** Lines in their order; any other text may be between two. */
  readonly expected: readonly string[];
}

/** A block that is not run, and why. */
interface Unrun {
  readonly commands: string;
  readonly reason: string;
}

const FENCE = /(?:^<!-- not run: (.+?) -->\n)?^```(sh|text)\n([^]*?)^```$/gm;

/** Returns the blocks of a page: those to run, and those that a comment before them excludes. */
export function blocksOf(text: string): { readonly steps: readonly Step[]; readonly unrun: readonly Unrun[] } {
  const steps: { commands: string; expected: string[] }[] = [];
  const unrun: Unrun[] = [];
  let isUnrun = false;
  for (const [, reason, language, block = ''] of text.matchAll(FENCE)) {
    if (language === 'sh') {
      isUnrun = reason !== undefined;
      if (isUnrun) unrun.push({ commands: block, reason: reason ?? '' });
      else steps.push({ commands: block, expected: [] });
    } else if (!isUnrun && reason === undefined) {
      steps.at(-1)?.expected.push(...block.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '…'));
    }
  }
  return { steps, unrun };
}

/** Commands that a test runs around those of a page, in the same shell. */
interface Scene {
  /** Creates the situation that the page describes. */
  readonly before?: string;
  /** Fails if the page did not lead where it says. */
  readonly after?: string;
}

/** Returns the scene of a page from `scenes/NAME.sh`: the part before a line `# --- page`, and the part behind it. */
export function sceneOf(page: string): Scene {
  const file = join(
    root,
    'test/docs/scenes',
    `${page
      .replace(/^docs\//, '')
      .replaceAll('/', '-')
      .replace(/\.md$/, '')}.sh`,
  );
  if (!existsSync(file)) return {};
  const [before = '', after = ''] = readFileSync(file, 'utf8').split(/^# --- page.*$/m);
  return { before, after };
}

/**
 * Runs the blocks of a page in one shell, in an empty folder beside `examples`.
 * @throws Error when a command fails, or when the output lacks a line that the page shows.
 */
export async function runPage(page: string): Promise<void> {
  const { steps } = blocksOf(textOf(page));
  if (steps.length === 0) throw new Error(`${page} has no commands to run`);
  const { before = '', after = '' } = sceneOf(page);
  const folder = mkdtempSync(join(tmpdir(), 'portolan-page-'));
  try {
    const output = await inFolder(folder, (isFree) =>
      isFree(
        [
          readFileSync(join(root, 'test/docs/scenes/prelude.sh'), 'utf8'),
          before,
          ...steps.map(({ commands }, at) => `echo "step ${at}"\n${commands}`),
          'echo "step after"',
          after,
        ].join('\n'),
      ),
    );
    check(page, steps, output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function check(page: string, steps: readonly Step[], output: string): void {
  const parts = output.split(/^step (?:\d+|after)\n/m).slice(1);
  for (const [at, { expected }] of steps.entries()) {
    const shown = parts[at] ?? '';
    let from = 0;
    for (const line of expected) {
      const found = shown.indexOf(line.trim(), from);
      if (found === -1) throw new Error(`${page}, block ${at + 1} does not show: ${line}\n\nIt shows:\n${shown}`);
      from = found + line.trim().length;
    }
  }
}

async function inFolder(folder: string, scriptOf: (adapt: (text: string) => string) => string): Promise<string> {
  const ports = await Promise.all(PORTS.map(async (port) => [port, await freePort()] as const));
  const adapt = (text: string): string =>
    ports.reduce((all, [port, free]) => all.replaceAll(`:${port}`, `:${free}`), text);
  const programs = join(folder, '.programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'portolan'), `#!/bin/sh\nexec "${process.execPath}" "${builtProgram()}" "$@"\n`);
  chmodSync(join(programs, 'portolan'), 0o755);
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
  const configuration = join(folder, 'examples/portolan.yaml');
  writeFileSync(configuration, adapt(readFileSync(configuration, 'utf8')));
  return bash(scriptOf(adapt), folder, {
    PATH: [programs, dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: folder,
    GIT_AUTHOR_NAME: 'me',
    GIT_AUTHOR_EMAIL: 'me@example.com',
    GIT_COMMITTER_NAME: 'me',
    GIT_COMMITTER_EMAIL: 'me@example.com',
    PORTOLAN_SANDBOX_PORT: String(ports[0]?.[1]),
    PORTOLAN_RUN_LISTEN: `127.0.0.1:${ports[1]?.[1]}`,
  });
}

/** @throws Error when a command of it fails: a reader would stop there. Ends everything that the script started. */
function bash(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((done, failed) => {
    const shell = spawn('bash', ['-e', '-u', '-o', 'pipefail', '-c', script], { cwd, env, detached: true });
    let output = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => void (output += text));
    shell.on('error', failed);
    // The jobs that it left hold its output open, so its exit comes before the end of its streams.
    shell.on('exit', (code) => {
      const { pid } = shell;
      setImmediate(() => {
        try {
          if (pid !== undefined) process.kill(-pid, 'SIGKILL');
        } catch {
          // Nothing is left of it.
        }
      });
      shell.on('close', () => {
        if (code === 0) done(output);
        else failed(new Error(`the page ended with ${code}:\n${output}`));
      });
    });
  });
}
