import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { type CommandEntry, type CommandGroup, COMMANDS } from '../../src/cli/program.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { commandPaths } from '../cli/command-tree.ts';
import { collectingTerminal, type Run, runHere } from '../cli/running.ts';
import { HANG_MS } from '../support/hang.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from '../cli/scene.ts';

// Names of files and whatever a platform says may hold anything. No output passes on what a terminal, a log viewer or a
// pipeline obeys: every command in every format, the log of the daemon, its API shown by commands, and files of --out.

const ESCAPES = '\u001b[31m\u001b]0;taken\u0007\u009b2J\u0085\u007f\u202e\u2066\u200f\u061c\u2028\ufeff\r';
const COMMANDS_OF_GITHUB = '\n::error title=taken::taken\n##[add-mask]taken%0A::warning::taken';
const HOSTILE = `x${ESCAPES}${COMMANDS_OF_GITHUB}`;

/** What no output may hold: all but line feed, tab, and a carriage return before a line feed. */
const OBEYED =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\r(?!\n)/u;

async function hostileScene(): Promise<Scene> {
  const scene = await setScene({
    manifests: { [`${HOSTILE.replaceAll('/', '')}.yaml`]: shop(web(PORTS), rule('www', 'www.example.com')) },
  });
  scene.sandbox.alter((state) => {
    for (const row of state.regions.all()) state.regions.put({ ...row, alias: HOSTILE, description: HOSTILE });
    for (const row of state.applications.all()) state.applications.put({ ...row, name: HOSTILE, note: HOSTILE });
    for (const row of state.components.all())
      state.components.put({ ...row, alias: HOSTILE, name: HOSTILE, k8sName: HOSTILE, image: HOSTILE });
    for (const row of state.ports.all()) state.ports.put({ ...row, alias: HOSTILE, serviceName: HOSTILE });
    for (const row of state.rules.all()) state.rules.put({ ...row, domain: HOSTILE, path: HOSTILE, header: HOSTILE });
  });
  return scene;
}

/** Formats that the option `-o` of a command takes. */
async function formatsOf(path: readonly string[]): Promise<readonly string[]> {
  const find = (
    entries: readonly (CommandEntry | CommandGroup)[],
    [word, ...rest]: readonly string[],
  ): CommandEntry => {
    const entry = entries.find(({ name }) => name === word);
    if (entry === undefined) throw new Error(`no command ${word}`);
    return 'commands' in entry ? find(entry.commands, rest) : entry;
  };
  const definition = await find(COMMANDS, path).load();
  const command = new Command();
  definition.define(command, async () => {}, { build: async () => command as never, run: async () => 0 });
  return command.options.find(({ long }) => long === '--output')?.argChoices ?? ['text'];
}

const SCOPE = `default/${demo.team}/${demo.region}/${demo.appId}`;
const RULE = 'HttpGatewayRule/www';

/** The arguments with which each command shows what is hostile. A new command has to be here. */
const ARGUMENTS: Readonly<Record<string, (scene: Scene) => readonly string[] | undefined>> = {
  init: ({ folder }) => ['--help', join(folder, HOSTILE)],
  validate: ({ options }) => [...options, '--var', HOSTILE],
  plan: ({ options, ledgerFile }) => [...options, '--ledger', ledgerFile],
  apply: ({ options, ledgerFile }) => [...options, '--ledger', ledgerFile, '--yes'],
  run: ({ folder }) => ['--config', join(folder, HOSTILE)],
  status: ({ options, ledgerFile }) => [...options, '--ledger', ledgerFile],
  tree: ({ options, ledgerFile }) => [...options, '--ledger', ledgerFile],
  history: ({ options, ledgerFile }) => [HOSTILE, ...options, '--ledger', ledgerFile],
  'orphans list': ({ options, ledgerFile }) => [...options, '--ledger', ledgerFile],
  'orphans prune': ({ options, ledgerFile }) => [HOSTILE, ...options, '--ledger', ledgerFile],
  events: () => ['--server', `http://127.0.0.1:1/${HOSTILE}`],
  sync: () => [HOSTILE, '--server', 'http://127.0.0.1:1'],
  suspend: () => [HOSTILE, '--reason', HOSTILE, '--server', 'http://127.0.0.1:1'],
  resume: () => [HOSTILE, '--server', 'http://127.0.0.1:1'],
  attention: () => ['--server', `http://127.0.0.1:1/${HOSTILE}`],
  commits: () => [HOSTILE, '--server', 'http://127.0.0.1:1'],
  whoami: () => ['--server', `http://127.0.0.1:1/${HOSTILE}`],
  replicas: () => ['--server', `http://127.0.0.1:1/${HOSTILE}`],
  approve: () => [HOSTILE, HOSTILE, '--server', 'http://127.0.0.1:1'],
  regions: ({ options: [, , ...config] }) => config,
  monitor: ({ options: [, , ...config] }) => [SCOPE, ...config],
  export: ({ options: [, , ...config] }) => [SCOPE, ...config],
  adopt: ({ options, ledgerFile }) => [...options, '--ledger', ledgerFile, '--yes'],
  schema: () => [HOSTILE],
  docs: () => [HOSTILE],
  explain: () => [HOSTILE],
  fmt: ({ options: [, manifests = ''] }) => ['--check', manifests],
  'ledger list': ({ ledgerFile }) => ['--ledger', ledgerFile],
  'ledger show': ({ ledgerFile }) => [RULE, '--ledger', ledgerFile],
  'ledger history': ({ ledgerFile }) => ['--ledger', ledgerFile],
  'ledger resolve': ({ ledgerFile }) => [HOSTILE, '--applied', '--reason', HOSTILE, '--ledger', ledgerFile],
  'ledger confirm': ({ ledgerFile }) => [SCOPE, '--reason', HOSTILE, '--ledger', ledgerFile],
  'ledger rebind': ({ ledgerFile, options: [, , ...config] }) => [
    'default',
    '--reason',
    HOSTILE,
    '--ledger',
    ledgerFile,
    ...config,
  ],
  'ledger retry': ({ ledgerFile }) => [RULE, '--reason', HOSTILE, '--ledger', ledgerFile],
  'ledger adopt': ({ ledgerFile }) => [RULE, '--id', HOSTILE, '--reason', HOSTILE, '--ledger', ledgerFile],
  'ledger verify': ({ ledgerFile }) => ['--ledger', ledgerFile],
  'ledger backup': ({ ledgerFile, folder }) => [join(folder, `no\u001b[31mfolder`, 'b'), '--ledger', ledgerFile],
  'ledger copy': ({ ledgerFile, folder }) => [ledgerFile, join(folder, HOSTILE, 'copy.db')],
  'ledger migrate': ({ ledgerFile }) => ['--ledger', ledgerFile],
  'ledger restore': ({ ledgerFile, folder }) => [join(folder, HOSTILE), '--ledger', ledgerFile],
  'ledger compact': ({ ledgerFile }) => ['--ledger', ledgerFile],
  'ledger export': ({ ledgerFile }) => ['--ledger', ledgerFile],
  'ledger forget': ({ ledgerFile }) => [RULE, '--reason', HOSTILE, '--ledger', ledgerFile],
  sandbox: ({ folder }) => ['--seed', join(folder, HOSTILE)],
  conformance: ({ folder }) => ['--url', 'http://127.0.0.1:1', '--team', HOSTILE, '--region', HOSTILE, '--app', folder],
  demo: () => undefined,
  config: ({ folder }) => ['--config', join(folder, HOSTILE)],
  completion: () => [HOSTILE],
  version: () => [HOSTILE],
};

/** Their output is for programs, as it is: lines of JSON, names of files. */
const OF_DATA = ['fmt', 'ledger export'];

function expectHarmless({ out, err }: Pick<Run, 'out' | 'err'>, format: string): void {
  expect(OBEYED.exec(out)?.[0], `out: ${JSON.stringify(out.slice(0, 4_000))}`).toBeUndefined();
  expect(OBEYED.exec(err)?.[0], `err: ${JSON.stringify(err.slice(0, 4_000))}`).toBeUndefined();
  const commands = (text: string) => text.split('\n').filter((line) => /^\s*::|##\[/.test(line));
  expect(commands(err)).toEqual([]);
  if (format === 'text') expect(commands(out)).toEqual([]);
  if (format !== 'github') return;
  // An annotation names a file of the source, and stands on one line.
  for (const line of commands(out))
    expect(line).toMatch(/^::(error|warning|notice) (file=[^:]*,line=\d+,col=\d+,)?title=/);
  for (const line of commands(out)) expect(line).not.toMatch(/^::\w+ title=taken/);
}

test('every command has its arguments here', () => {
  expect(Object.keys(ARGUMENTS).sort()).toEqual(
    commandPaths()
      .map((path) => path.join(' '))
      .sort(),
  );
});

test.for(Object.keys(ARGUMENTS))('%s passes on nothing that a terminal obeys, in any format', async (name) => {
  const path = name.split(' ');
  for (const format of await formatsOf(path)) {
    const scene = await hostileScene();
    const args = ARGUMENTS[name]?.(scene);
    if (args === undefined) return;
    if (name.startsWith('ledger') || name === 'status') {
      const applied = await scene.run('apply');
      expect(applied.code, applied.err).not.toBe(3);
      await runHere(['ledger', 'confirm', SCOPE, '--reason', HOSTILE, '--ledger', scene.ledgerFile], {
        env: scene.env,
      });
    }
    const output = format === 'text' ? [] : ['-o', format];
    const env = { ...scene.env, GITHUB_ACTIONS: 'true' };
    const run = await runHere([...path, ...args, ...output], { env, clock: scene.clock });
    expect(run.out + run.err, name).not.toBe('');
    expectHarmless(run, OF_DATA.includes(name) ? 'data' : format);
    if (format === 'json' && run.out !== '') JSON.parse(run.out);
    if (format === 'yaml') parse(run.out);
  }
});

test('JSON keeps the values that it escapes', async () => {
  const scene = await hostileScene();
  const config = scene.options.slice(2);
  const run = await runHere(['regions', ...config, '-o', 'json'], { env: scene.env });
  expect(run.out).toContain('\\u202e');
  const [region] = JSON.parse(run.out) as { alias: string }[];
  expect(region?.alias).toBe(HOSTILE);
  const plan = await scene.run('plan', ['-o', 'yaml']);
  expectHarmless(plan, 'yaml');
  const scopes = (parse(plan.out) as { scopes: unknown[] }).scopes;
  expect(JSON.stringify(scopes)).toContain(JSON.stringify(HOSTILE).slice(1, -1));
});

test('a faulty file with a hostile name is reported in every format', async () => {
  const scene = await setScene({ manifests: { [`${HOSTILE.replaceAll('/', '')}.yaml`]: 'kind: \u202eNothing\n' } });
  for (const format of await formatsOf(['validate'])) {
    const run = await runHere(['validate', ...scene.options, '-o', format], { env: { GITHUB_ACTIONS: 'true' } });
    expect(run.code).toBe(3);
    expectHarmless(run, format);
  }
});

test('files of --out hold nothing of it either', async () => {
  const scene = await hostileScene();
  const names = ['p.txt', 'p.json', 'p.jsonl', 'p.yaml', 'p.md', 'p.sarif', 'p.xml', 'p.html', 'github=p.github'];
  const outs = names.flatMap((name) => ['--out', name.replace('p.', `${scene.folder}/p.`)]);
  const run = await scene.run('plan', outs);
  expect(run.code, run.err).not.toBe(3);
  for (const name of names) {
    const text = readFileSync(join(scene.folder, name.replace('github=', '')), 'utf8');
    expect(OBEYED.exec(text)?.[0], name).toBeUndefined();
  }
});

test('colours and frames of our own reach a terminal, and nothing else does', async () => {
  const scene = await hostileScene();
  const { terminal, text } = collectingTerminal({ isTerminal: true, color: true, columns: 200 });
  await scene.run('plan', [], { terminal });
  const shown = text.out + text.err;
  expect(shown).toContain('\u001b[1m');
  const rest = shown.replaceAll(/\u001b\[(?:[0-9;]*m|\d+A|J)|\r(?=\u001b)/g, '');
  expect(OBEYED.exec(rest)?.[0], JSON.stringify(rest.slice(0, 4_000))).toBeUndefined();
  // What the file name says is text.
  expect(shown).not.toContain('\u001b[31m\u001b]');
  expect(shown).toContain('\\u001b]0;taken\\u0007');
});

test.for(['text', 'json'])('the log of the daemon, and what commands show of its API: %s', async (format) => {
  const scene = await hostileScene();
  writeFileSync(
    join(scene.folder, 'portolan.yaml'),
    readFileSync(join(scene.folder, 'portolan.yaml'), 'utf8').replace(
      'spec: {}',
      'spec:\n  server: { listen: "127.0.0.1:0", tokens: [{ name: ops, role: admin, value: { env: OPS } }] }',
    ),
  );
  const stop = new AbortController();
  const { terminal, text } = collectingTerminal();
  const OPS = 'ops-ops-ops-ops-ops-ops';
  const env = { ...scene.env, OPS, GITHUB_ACTIONS: 'true' };
  const args = ['run', ...scene.options, '--ledger', scene.ledgerFile, '--log-format', format, '--log-level', 'debug'];
  const ended = runHere(args, { terminal, env, clock: systemClock, signal: stop.signal });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  await expect.poll(() => text.err, { timeout: HANG_MS }).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+(?=["\s])/.exec(/listening.*/.exec(text.err)?.[0] ?? '') ?? [];
  const client = { env: { PORTOLAN_SERVER_TOKEN: OPS, GITHUB_ACTIONS: 'true' } };
  for (const command of [
    ['status'],
    ['events'],
    ['suspend', SCOPE, '--reason', HOSTILE],
    ['status'],
    ['events'],
    ['sync', HOSTILE],
  ]) {
    for (const output of ['text', 'json']) {
      const run = await runHere([...command, '--server', url, '-o', output], client);
      expectHarmless(run, output);
    }
  }
  expectHarmless(text, 'text');
});
