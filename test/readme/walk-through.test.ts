import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { builtProgram } from '../support/program.ts';

const root = resolve(import.meta.dirname, '../..');
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'src/README.md'];
/** As the README has it; where somebody listens on it already, another one takes its place. */
const SANDBOX_PORT = 7070;
const DAEMON_PORT = 7780;
const SECTION = '## Walk-through';

let folder: string | undefined;

afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** What a reader types, and what the page says that comes of it. */
interface Step {
  readonly commands: string;
  /** Pieces of the output in their order; between two may stand anything where the page has an ellipsis. */
  readonly expected: readonly string[];
}

function stepsOf(page: string): readonly Step[] {
  const from = page.indexOf(SECTION);
  const section = page.slice(from, page.indexOf('\n## ', from + SECTION.length));
  const blocks = [...section.matchAll(/^```(sh|text)\n([^]*?)^```$/gm)];
  const steps: { commands: string; expected: string[] }[] = [];
  for (const [, language, text = ''] of blocks) {
    if (language === 'sh') steps.push({ commands: text, expected: [] });
    else steps.at(-1)?.expected.push(...text.split('\n').filter((line) => line !== '' && line !== '…'));
  }
  return steps;
}

test('the walk-through of the README does what the page says, word for word', async () => {
  folder = mkdtempSync(join(tmpdir(), 'portolan-walk-'));
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'portolan'), `#!/bin/sh\nexec "${process.execPath}" "${builtProgram()}" "$@"\n`);
  chmodSync(join(programs, 'portolan'), 0o755);
  const [sandboxPort, daemonPort] = [await freePort(SANDBOX_PORT), await freePort(DAEMON_PORT)];
  const steps = stepsOf(readFileSync(join(root, 'README.md'), 'utf8'));
  expect(steps.length).toBeGreaterThanOrEqual(5);
  const script = steps.map(({ commands }, at) => `echo "step ${at}"\n${commands}`).join('\n');
  writeFileSync(
    join(folder, 'examples/portolan.yaml'),
    readFileSync(join(folder, 'examples/portolan.yaml'), 'utf8').replaceAll(`:${SANDBOX_PORT}`, `:${sandboxPort}`),
  );
  const output = await bash(script.replaceAll(`:${SANDBOX_PORT}`, `:${sandboxPort}`), folder, {
    PATH: [programs, dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: folder,
    PORTOLAN_SANDBOX_PORT: String(sandboxPort),
    PORTOLAN_RUN_LISTEN: `127.0.0.1:${daemonPort}`,
  });
  const saidBy = output.split(/^step \d+\n/m).slice(1);
  for (const [at, { expected }] of steps.entries()) {
    const said = saidBy[at] ?? '';
    let from = 0;
    for (const line of expected) {
      const found = said.indexOf(line, from);
      expect(found, `step ${at} was to say, behind what came before: ${line}\n\nIt said:\n${said}`).not.toBe(-1);
      from = found + line.length;
    }
  }
});

/** @throws when a command of it fails: the reader would stop there. */
function bash(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((done, failed) => {
    const shell = spawn('bash', ['-e', '-u', '-o', 'pipefail', '-c', script], { cwd, env, detached: true });
    let output = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => void (output += text));
    shell.on('error', failed);
    shell.on('close', (code) => {
      if (code === 0) return done(output);
      // What it left running would hold its port.
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
      failed(new Error(`the walk-through ended with ${code}:\n${output}`));
    });
  });
}

function freePort(wanted: number): Promise<number> {
  return new Promise((done) => {
    const server = createServer();
    const listening = (): void => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : wanted));
    };
    server.once('error', () => void server.once('listening', listening).listen(0, '127.0.0.1'));
    server.listen(wanted, '127.0.0.1', listening);
  });
}

test.for(pages)('every link of %s leads somewhere', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  expect(targets.length).toBeGreaterThanOrEqual(page === 'README.md' ? 10 : 0);
  const missing = targets.filter(
    (target) => !/^[a-z]+:/.test(target) && !existsSync(resolve(root, dirname(page), target.replace(/#.*$/, ''))),
  );
  expect(missing).toEqual([]);
});
