import { spawn } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { builtProgram } from '../support/program.ts';
import { commandPaths, named } from './command-tree.ts';
import { configurationFor, folderOf, temporaryFolder } from './platform.ts';
import { collectingTerminal, type Run, runHere } from './running.ts';
import { PushedClock, shop, web } from './scene.ts';

/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:1';

const opening = { clock: systemClock, random: systemRandom, actor: 'a test' };

/** A working folder whose platform and controller are away. */
async function workingFolder(): Promise<string> {
  const folder = folderOf({
    'portolan.yaml': configurationFor(NOWHERE),
    'shop.yaml': shop(web('ports: []')),
    file: '',
  });
  const ledger = await openSqliteLedger(join(folder, 'portolan.db'), opening);
  await ledger.close();
  return folder;
}

/** What the arguments of commands are given, by their names in the usage; one that may be left out is, unless it stands here. */
const ARGUMENTS: Readonly<Record<string, (folder: string) => string>> = {
  folder: (folder) => join(folder, 'new'),
  'paths...': (folder) => join(folder, 'shop.yaml'),
  name: () => 'shop',
  app: () => 'shop',
  application: () => 'shop',
  digest: () => 'a'.repeat(64),
  intent: () => 'nothing',
  scope: () => 'default/team-a/region-1/42',
  'scope...': () => 'default/team-a/region-1/42',
  platform: () => 'default',
  shell: () => 'bash',
  file: (folder) => join(folder, 'backup.db'),
  from: (folder) => join(folder, 'portolan.db'),
  to: (folder) => join(folder, 'copy.db'),
};

const IF_OPTIONAL: ReadonlySet<string> = new Set(['folder', 'paths...', 'name']);

/** The same for options. */
const OPTIONS: Readonly<Record<string, (folder: string) => readonly string[]>> = {
  '--filename': (folder) => [join(folder, 'shop.yaml')],
  '--config': (folder) => [join(folder, 'portolan.yaml')],
  '--ledger': (folder) => [join(folder, 'portolan.db')],
  '--reason': () => ['because'],
  '--port': () => ['0'],
  '--listen': () => ['127.0.0.1:0'],
};

interface Call {
  readonly words: readonly string[];
  readonly args: readonly string[];
  /** Long names of its options. */
  readonly options: ReadonlySet<string>;
  readonly exitCodes: readonly number[];
}

/** A command line that is whole, made from the help of the command. */
async function callOf(words: readonly string[], folder: string): Promise<Call> {
  const { out } = await runHere([...words, '--help']);
  const usage = /^Usage: [^]*?\n\n/.exec(out)?.[0] ?? '';
  const given = [...usage.matchAll(/([<[])([a-z.[\]]+?)([>\]])(?=\s)/g)].flatMap(([, open, name = '']) => {
    if (name === 'options') return [];
    const value = ARGUMENTS[name];
    if (value === undefined && open === '<')
      throw new Error(`say in ARGUMENTS what <${name}> of ${words.join(' ')} is`);
    return value === undefined || (open === '[' && !IF_OPTIONAL.has(name)) ? [] : [value(folder)];
  });
  const options = new Set([...out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag]) => flag ?? ''));
  const flags = Object.entries(OPTIONS).flatMap(([flag, values]) =>
    options.has(flag) ? values(folder).flatMap((value) => [flag, value]) : [],
  );
  const decision = options.has('--not-applied') ? ['--not-applied'] : [];
  // Commands that can do without a controller are tried without.
  const hasOther = options.has('--filename') || options.has('--config') || options.has('--ledger');
  const asksBoth = words.join() === 'replicas';
  const server = options.has('--server') && (asksBoth || !hasOther) ? ['--server', NOWHERE] : [];
  const codes = /^Exit codes:\n((?: .*\n)+)/m.exec(out)?.[1] ?? '';
  return {
    words,
    args: [...words, ...given, ...flags, ...decision, ...server],
    options,
    exitCodes: [...codes.matchAll(/^ {2}(\d+) /gm)].map(([, code]) => Number(code)),
  };
}

const ENV = { PORTOLAN_TOKEN: 'a-token-of-a-test', PORTOLAN_SERVER_TOKEN: 'a-token-of-a-test' };
/** They go on until they are told to end. */
const ENDLESS: ReadonlySet<string> = new Set(['run', 'sandbox', 'demo']);

async function runCall(
  { words, args }: Call,
  terminal = collectingTerminal(),
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const isEndless = ENDLESS.has(words.join(' '));
  const code = (
    await runHere(args, {
      terminal: terminal.terminal,
      env: { ...ENV, ...env },
      temporaryFolder: temporaryFolder(),
      clock: isEndless ? systemClock : new PushedClock(),
      ...(isEndless ? { signal: AbortSignal.timeout(300) } : {}),
    })
  ).code;
  return { code, ...terminal.text };
}

/** An answer is right when its exit code is one that the help names, and short when a person reads it at a glance. */
function expectAnswer({ code, err }: Run, { exitCodes, args, words }: Call): void {
  const about = `${args.join(' ')}\n${err}`;
  expect(exitCodes, about).toContain(code);
  expect(err, about).not.toContain('because of a bug');
  // Those that go on tell of what they do.
  if (!ENDLESS.has(words.join(' '))) expect(err.split('\n').length, about).toBeLessThan(16);
  expect(err, about).not.toContain('a-token-of-a-test');
}

/** What is wrong with a command line, as what to add to it; undefined where the command has nothing of the kind. */
const WRONG: readonly (readonly [what: string, added: (folder: string) => readonly string[], says: RegExp])[] = [
  ['a flag that is not there', () => ['--no-such-flag'], /unknown option '--no-such-flag'/],
  [
    'a configuration that is not there',
    () => ['--config', '/nowhere/portolan.yaml'],
    /\/nowhere\/portolan\.yaml.*no such file/,
  ],
  ['a folder in place of the configuration', (folder) => ['--config', folder], /it is a folder/],
  ['manifests that are not there', () => ['--filename', '/nowhere/manifests'], /\/nowhere\/manifests/],
  [
    'a variables file that is not there',
    () => ['--var-file', '/nowhere/variables'],
    /\/nowhere\/variables.*no such file/,
  ],
  [
    'a token file that is not there',
    () => ['--server', NOWHERE, '--token-file', '/nowhere/token'],
    /\/nowhere\/token.*no such file/,
  ],
  [
    'a setting that is not there',
    () => ['--set', 'prune.maxShair=1'],
    /is not a setting.*\n.*Did you mean prune\.maxShare\?/,
  ],
  ['a format that is not there', () => ['--output', 'txet'], /Allowed choices are[^]*Did you mean text\?/],
];

const CASES = commandPaths();

test.for(CASES.map(named))(
  '%s: with a platform that is away and no terminal it ends with a code that its help names',
  async ([, words]) => {
    const folder = await workingFolder();
    const call = await callOf(words, folder);
    const run = await runCall(call);
    expectAnswer(run, call);
    expect(`${run.out}${run.err}`).not.toContain('\u001b');
  },
);

test.for(CASES.map(named))(
  '%s: on 40 columns without colours it shows no colours, and ends as it does elsewhere',
  async ([, words]) => {
    const call = await callOf(words, await workingFolder());
    const run = await runCall(call, collectingTerminal({ columns: 40, isTerminal: true }), { NO_COLOR: '1' });
    expectAnswer(run, call);
    expect(`${run.out}${run.err}`).not.toMatch(/\u001b\[[0-9;]*m/);
  },
);

test.for(CASES.map(named))(
  '%s: where the locale is not UTF-8, it says all in ASCII, its help too',
  async ([, words]) => {
    const call = await callOf(words, await workingFolder());
    for (const locale of [{ LC_ALL: 'C' }, { LANG: 'de_DE.ISO-8859-1' }]) {
      const run = await runCall(call, undefined, locale);
      expectAnswer(run, call);
      expect(run.out + run.err).toMatch(/^[\u0000-\u007f]*$/);
      const help = await runHere([...words, '--help'], { env: locale });
      expect(help.out).toMatch(/^[\u0000-\u007f]*$/);
    }
  },
);

test.for(CASES.map(named))(
  '%s: whatever is wrong with its command line is refused with 3 before anything is done',
  async ([, words]) => {
    const folder = await workingFolder();
    const call = await callOf(words, folder);
    for (const [what, added, says] of WRONG) {
      const more = added(folder);
      const flags = more.filter((word) => word.startsWith('--'));
      if (what !== 'a flag that is not there' && !flags.every((flag) => call.options.has(flag))) continue;
      if (what === 'a format that is not there' && (await isFree(words))) continue;
      // The daemon waits for a folder that another program may still fetch.
      if (what === 'manifests that are not there' && words.join() === 'run') continue;
      // With a ledger, or an application that is named by its place, no controller is asked.
      if (what === 'a token file that is not there' && /^(?:monitor$|ledger,|orphans,)/.test(words.join())) continue;
      // Only --revert reads a checkout.
      if (/manifests|configuration|variables/.test(what) && words.join() === 'history') continue;
      const wrong = { ...call, args: [...(flags.includes('--server') ? withoutLedger(call) : call.args), ...more] };
      const run = await runCall(wrong);
      // To say what is wrong is what validate is for.
      const said = words.join() === 'validate' ? run.out + run.err : run.err;
      expect({ what, code: run.code, said }).toEqual({ what, code: 3, said: expect.stringMatching(says) });
      if (said === run.err) expect(run.out).toBe('');
      expectAnswer(run, wrong);
    }
  },
);

/** A command line that names a server must not name a ledger too. */
function withoutLedger({ args }: Call): readonly string[] {
  const at = args.indexOf('--ledger');
  return at < 0 ? args : args.toSpliced(at, 2);
}

/** An output without choices. */
async function isFree(words: readonly string[]): Promise<boolean> {
  const { out } = await runHere([...words, '--help']);
  return !/--output <[^>]*>(?:(?!\n {2}-)[^])*?choices:[^)]*"text"/.test(out);
}

test.for(CASES.map(named))(
  '%s: a ledger that cannot be one is told in a sentence, and nothing is made',
  async ([, words]) => {
    const folder = await workingFolder();
    const call = await callOf(words, folder);
    if (!call.options.has('--ledger')) return;
    writeFileSync(
      join(folder, 'broken.db'),
      'this is no database, and long enough to be told from an empty one'.repeat(100),
    );
    // Root may read everything, so what is in the way is a file where a folder should be.
    for (const ledger of [join(folder, 'file', 'portolan.db'), join(folder, 'broken.db')]) {
      const broken = { ...call, args: [...call.args, '--ledger', ledger] };
      const run = await runCall(broken);
      expectAnswer(run, broken);
    }
  },
);

test.for(CASES.map(named))('%s: a ledger that cannot be looked at is not taken for absent', async ([, words]) => {
  const folder = await workingFolder();
  const call = await callOf(words, folder);
  // Replicas share a database, so a file is refused before it is looked at.
  if (!call.options.has('--ledger') || words.join() === 'replicas') return;
  // As in a folder that is closed to the user, which root cannot have: whether the file exists is unknown.
  const ledger = join(folder, 'unknown.db');
  symlinkSync('unknown.db', ledger);
  const run = await runCall({ ...call, args: [...call.args, '--ledger', ledger] });
  expectAnswer(run, call);
  expect(run.err).toContain(`${ledger} could not be read or written (ELOOP`);
  expect(run.out).toBe('');
});

/** The real program, its standard output sent somewhere by a shell. */
function inShell(redirection: string, args: readonly string[], folder: string): Promise<Run> {
  const words = [process.execPath, builtProgram(), ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('bash', ['-o', 'pipefail', '-c', redirection.replace('PROGRAM', words)], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (part: Buffer) => (out += part.toString()));
  child.stderr.on('data', (part: Buffer) => (err += part.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code: code ?? -1, out, err })));
}

const SHOWING = [
  ['explain', 'Component', '--recursive'],
  ['schema', 'Component'],
  ['validate', '-f', 'shop.yaml'],
  ['config', '-o', 'json'],
  ['ledger', 'list'],
  ['plan', '--help'],
] as const;

test.for(SHOWING.map(named))('%s: a reader who goes away is no error', async ([, args]) => {
  const folder = await workingFolder();
  // It is gone before the first line is written.
  const unread = await inShell('PROGRAM | true', args, folder);
  expect(unread).toEqual({ code: 0, out: '', err: '' });
});

test.for(SHOWING.map(named))(
  '%s: a result that cannot be written is an error, said in a sentence',
  async ([, args]) => {
    const folder = await workingFolder();
    const full = await inShell('PROGRAM > /dev/full', args, folder);
    expect(full.code).toBe(1);
    expect(full.err).toMatch(
      /error: The result could not be written to standard output: no space is left\. .*\n.*\n {2}\[cli\/output-lost\] {2}\(portolan docs cli\/output-lost\)\n$/,
    );
    // Whoever reads a ledger that nobody has open makes a file beside it, and the limit is on that file too.
    const open = await openSqliteLedger(join(folder, 'portolan.db'), opening);
    const limited = await inShell('ulimit -f 0; PROGRAM > result', args, folder);
    await open.close();
    expect(limited.code).toBe(1);
    expect(limited.err).toMatch(/standard output: the file may not grow further\./);
  },
);

test('what only shows ends when nobody reads it any more, whatever it waits for', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const unread = AbortSignal.timeout(100);
  const run = await runHere(['events', '--follow', '--server', url], { env: ENV, unread });
  expect(run).toEqual({ code: 0, out: '', err: '' });
  // To ask for a look is more than to show something: it is not broken off.
  const ended = AbortSignal.timeout(300);
  const asked = await runHere(['sync', 'shop', '--server', url], { env: ENV, unread, signal: ended });
  expect(asked).toMatchObject({ code: 130, out: '' });
});
