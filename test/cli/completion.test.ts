import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shop, web } from './scene.ts';
import { configurationFor, folderOf } from './platform.ts';
import { runHere } from './running.ts';
import { type ShellName, startShell, whyNot } from './shells.ts';

const MANIFESTS = {
  'shop.yaml': shop(web('ports: []')),
  'portolan.yaml': configurationFor('http://127.0.0.1:1', 'west'),
  'broken.yaml': 'kind: Component\nmetadata: { name: half-written\n  spec: [',
  'evil.yaml': 'kind: Component\nmetadata:\n  name: $(touch hacked)\n',
};

/** Words of a completion, and what the shell is told to do with them. */
async function completed(words: readonly string[], folder: string, more: Record<string, string> = {}) {
  const env = { PORTOLAN_FILENAME: folder, PORTOLAN_CONFIG: join(folder, 'portolan.yaml'), ...more };
  const run = await runHere(['__complete', '--', ...words], { env });
  expect(run).toMatchObject({ code: 0, err: '' });
  const lines = run.out.split('\n').slice(0, -1);
  return { words: lines.slice(0, -1).map((line) => line.split('\t')[0]), type: lines.at(-1) };
}

test.for([
  ['commands', ['pl'], ['plan']],
  ['commands behind help', ['help', 'val'], ['validate']],
  ['commands of a group', ['ledger', 're'], ['resolve', 'rebind', 'retry', 'restore']],
  ['flags', ['plan', '--allow'], ['--allow-empty', '--allow-shrunk', '--allow-rewind']],
  ['no flag that is there already', ['plan', '--prune', '--pr'], []],
  ['a flag that may be repeated', ['plan', '--target', 'A/b', '--targ'], ['--target']],
  ['choices', ['version', '-o', 'j'], ['json']],
  ['choices behind an equals sign', ['version', '--output=j'], ['--output=json']],
  ['choices of an argument', ['completion', ''], ['bash', 'zsh', 'fish']],
  ['kinds', ['schema', 'St'], ['StoreInstall', 'Store']],
  ['resources of the folder', ['plan', '--target', 'Component/s'], ['Component/shop-web']],
  [
    'resources of the manifests named',
    ['plan', '-f', 'examples/blog', '--adopt', 'Component/'],
    ['Component/blog-cache'],
  ],
  ['applications', ['sync', ''], ['shop']],
  ['resources of a ledger', ['ledger', 'retry', ''], ['Component/half-written', 'Component/shop-web']],
  ['applications of a flag', ['events', '--application=s'], ['--application=shop']],
  ['platforms', ['regions', '--platform', ''], ['west']],
  ['nothing where nobody knows', ['plan', '--parallelism', ''], []],
  ['nothing behind the last argument', ['sync', 'shop', ''], []],
  ['no flag behind --', ['status', '--', '--al'], []],
  ['nothing for a command that is not there', ['nothing', ''], []],
] as const)('completes %s', async ([, words, expected]) => {
  const cwd = folderOf(MANIFESTS);
  expect(await completed(words, cwd)).toEqual({ words: expected, type: ':words' });
});

test.for([[['plan', '-f', '']], [['validate', '--config=po']], [['ledger', 'restore', '']]] as const)(
  'leaves paths to the shell: %j',
  async ([words]) => {
    expect(await completed(words, folderOf({}))).toEqual({ words: [], type: ':files' });
  },
);

test('what manifests hold is no word of a command line unless it is a name', async () => {
  const { words } = await completed(['plan', '--target', ''], folderOf(MANIFESTS));
  expect(words).toEqual(['Component/half-written', 'Component/shop-web']);
});

test('a variable names the manifests, as it does for the command', async () => {
  const cwd = folderOf({ ...MANIFESTS, 'other.yaml': shop().replace('name: shop', 'name: other') });
  expect((await completed(['sync', ''], cwd, { PORTOLAN_FILENAME: join(cwd, 'other.yaml') })).words).toEqual(['other']);
});

test('whatever is wrong, a completion says nothing of it, makes no ledger and asks nobody', async () => {
  const cwd = folderOf({ 'portolan.yaml': 'kind: [', 'vars.yaml': '\u0000' });
  const env = { PORTOLAN_SERVER: 'http://127.0.0.1:1', PORTOLAN_OUTPUT: 'nonsense', PORTOLAN_SET_NOTHING: '1' };
  for (const words of [
    ['plan', '--target', ''],
    ['regions', '--platform', ''],
    ['ledger', 'show', ''],
    ['-x', '='],
    [],
  ])
    expect((await completed(words, cwd, env)).type).toBe(':words');
  const { out } = await runHere(['help']);
  expect(out).not.toContain('__complete');
});

test('an unknown shell is refused, and the nearest named', async () => {
  const run = await runHere(['completion', 'bsh']);
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain('Did you mean bash?');
});

/** What is typed, and what the line is when the keys before it have done their work. */
const TYPED: readonly (readonly [what: string, typed: string, line: string])[] = [
  ['a command', 'portolan vali', 'portolan validate '],
  ['a command of a group', 'portolan ledger comp', 'portolan ledger compact '],
  ['a flag', 'portolan plan --detai', 'portolan plan --detailed-exitcode '],
  ['a choice', 'portolan version -o js', 'portolan version -o json '],
  ['a choice behind an equals sign', 'portolan version --output=js', 'portolan version --output=json '],
  ['a resource', 'portolan plan --target Component/sho', 'portolan plan --target Component/shop-web '],
  ['an application', 'portolan suspend sh', 'portolan suspend shop '],
  ['a file', 'portolan validate -f sho', 'portolan validate -f shop.yaml '],
  ['a file with a space in its name', 'portolan validate -f a\\ f', 'portolan validate -f a\\ file '],
];

/** Loads the completion, and binds a key that writes the line as it stands to a file and empties it. */
const LOADS: Readonly<Record<ShellName, string>> = {
  bash: String.raw`source <(portolan completion bash); show() { printf %s "$READLINE_LINE" > line.new; mv line.new line; READLINE_LINE=; }; bind -x '"\C-xd": show'`,
  zsh: String.raw`autoload -Uz compinit; compinit -u -D; source <(portolan completion zsh); show() { print -rn -- "$BUFFER" > line.new; mv line.new line; BUFFER=; }; zle -N show; bindkey '^Xd' show`,
  fish: String.raw`portolan completion fish | source; function show; commandline | string collect > line.new; mv line.new line; commandline ''; end; bind \cxd show`,
};

describe.for(['bash', 'zsh', 'fish'] as const)('in %s', (shell) => {
  const reason = whyNot(shell);
  if (reason !== undefined) console.warn(`completion in ${shell} is not tried: ${reason}`);
  test.skipIf(reason !== undefined)('Tab completes on a terminal, and shows no error', async () => {
    const cwd = folderOf({ ...MANIFESTS, 'a file': '' });
    const session = startShell(shell, cwd);
    session.type(`${LOADS[shell]}; echo > loaded\n`);
    await session.file(join(cwd, 'loaded'));
    const lines: string[] = [];
    for (const [, typed] of TYPED) {
      session.type(`${typed}\t\u0018d`);
      lines.push(await session.file(join(cwd, 'line')));
    }
    expect(lines.map((line) => line.replace(/\n$/, ''))).toEqual(TYPED.map(([, , line]) => line));
    expect(await session.shows('')).not.toMatch(/error|not found|No such/i);
  });
});
