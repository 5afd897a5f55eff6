import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { builtProgram } from '../support/program.ts';
import { root, textOf } from './markdown.ts';

/** Ports of the sandbox and of the controller in the pages. Another one takes its place where it is in use. */
const PORTS = [7070, 7780];

/** Runs a program where it may mount a small disk, which ends with it. Not every kernel permits that. */
const UNSHARE = ['unshare', '--map-root-user', '--mount'];
const HAS_MOUNTS = spawnSync('unshare', [...UNSHARE.slice(1), 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

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

interface Blocks {
  readonly steps: readonly Step[];
  /** Blocks for another situation than the rest of the page, with the comment `<!-- otherwise: SITUATION -->`. */
  readonly others: readonly Step[];
  /** Blocks with the comment `<!-- not run: REASON -->`. */
  readonly unrun: readonly Unrun[];
}

const FENCE = /(?:^<!-- (not run|otherwise): (.+?) -->\n)?^```(sh|text)\n([^]*?)^```$/gm;

/** Returns the blocks of a page: those to run, those for another situation, and those that a comment before them excludes. */
export function blocksOf(text: string): Blocks {
  const steps: { commands: string; expected: string[] }[] = [];
  const others: typeof steps = [];
  const unrun: Unrun[] = [];
  let current: (typeof steps)[number] | undefined;
  for (const [, mark, reason = '', language, block = ''] of text.matchAll(FENCE)) {
    if (language === 'sh') {
      current = mark === 'not run' ? undefined : { commands: block, expected: [] };
      if (current === undefined) unrun.push({ commands: block, reason });
      else (mark === 'otherwise' ? others : steps).push(current);
    } else if (mark === undefined) {
      current?.expected.push(...block.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '…'));
    }
  }
  return { steps, others, unrun };
}

/**
 * Returns the script of a page: its blocks and the scene around them, `scenes/NAME.sh`. There, a line `# --- page` stands for the
 * blocks of the page, and each line `# --- otherwise` for the next block of another situation. Without the first, they come last.
 */
function scriptOf(page: string, { steps, others }: Blocks): string {
  const name = page.replace(/^docs\//, '').replaceAll('/', '-');
  const file = join(root, 'test/docs/scenes', name.replace(/\.md$/, '.sh'));
  const scene = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const parts = scene.split(/^(?=# --- )/m);
  if (!parts.some((part) => part.startsWith('# --- page'))) parts.push('# --- page');
  const open = [...others.entries()];
  const stepped = parts.flatMap((part) => {
    if (part.startsWith('# --- page'))
      return [...steps.map((step, at) => marked(String(at), step)), 'echo "step -"', part];
    if (!part.startsWith('# --- otherwise')) return [part];
    const [at, step] = open.shift() ?? [];
    if (step === undefined) throw new Error(`${file} has more situations than ${page}`);
    return [marked(`other-${at}`, step), 'echo "step -"', part];
  });
  if (open.length > 0) throw new Error(`${file} lacks the situation of ${open.length} blocks of ${page}`);
  return [readFileSync(join(root, 'test/docs/scenes/prelude.sh'), 'utf8'), ...stepped].join('\n');
}

function marked(name: string, { commands }: Step): string {
  return `echo "step ${name}"\n${withExitCodes(commands)}`;
}

/**
 * Runs the blocks of a page in one shell, in an empty folder beside `examples`.
 * @throws Error when a command fails, or when the output lacks a line that the page shows.
 */
export async function runPage(page: string): Promise<void> {
  const blocks = blocksOf(textOf(page));
  if (blocks.steps.length === 0) throw new Error(`${page} has no commands to run`);
  const script = scriptOf(page, blocks);
  const folder = mkdtempSync(join(tmpdir(), 'portolan-page-'));
  try {
    const output = await inFolder(folder, (adapt) => adapt(script));
    const shown = new Map(
      output.split(/^(?=step \S+$)/m).map((part) => {
        const [first = '', ...rest] = part.split('\n');
        return [first, rest.join('\n')];
      }),
    );
    for (const [at, step] of blocks.steps.entries()) check(page, step, shown.get(`step ${at}`) ?? '');
    for (const [at, step] of blocks.others.entries()) check(page, step, shown.get(`step other-${at}`) ?? '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the commands with each line `COMMAND # … exit code N` as a check of that code. */
export function withExitCodes(commands: string): string {
  return commands.replaceAll(/^(.*\S) +# .*\bexit code (\d+)\b.*$/gm, 'ends_with $2 $1');
}

function check(page: string, { commands, expected }: Step, shown: string): void {
  let from = 0;
  for (const line of expected) {
    const found = patternOf(line).exec(shown.slice(from));
    if (found === null) throw new Error(`${page} does not show: ${line}\nafter:\n${commands}\nIt shows:\n${shown}`);
    from += found.index + found[0].length;
  }
}

/** Returns the pattern of a line of a page: an ellipsis is any text, and columns may be wider. */
export function patternOf(line: string): RegExp {
  const parts = line.trim().split('…');
  return new RegExp(parts.map((part) => RegExp.escape(part).replaceAll(/(?:\\x20| )+/g, ' +')).join('[^\\n]*'));
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
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    GIT_AUTHOR_NAME: 'me',
    GIT_AUTHOR_EMAIL: 'me@example.com',
    GIT_COMMITTER_NAME: 'me',
    GIT_COMMITTER_EMAIL: 'me@example.com',
    HAS_MOUNTS: HAS_MOUNTS ? 'yes' : 'no',
    PORTOLAN_SANDBOX_PORT: String(ports[0]?.[1]),
    PORTOLAN_RUN_LISTEN: `127.0.0.1:${ports[1]?.[1]}`,
  });
}

/** @throws Error when a command of it fails: a reader would stop there. Ends everything that the script started. */
function bash(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((done, failed) => {
    // One pipe for all output, as on a terminal: that of two pipes may arrive in any order.
    const merged = `exec 2>&1\n${script}`;
    const [program, ...args] = [...(HAS_MOUNTS ? UNSHARE : []), 'bash', '-euo', 'pipefail', '-c', merged];
    const shell = spawn(program, args, { cwd, env, detached: true });
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
