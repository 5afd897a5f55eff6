import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRevision } from '../../src/cli/session/revision.ts';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { commit, git, repository, temporaryFolder, write } from './repositories.ts';

const policy = { signatures: { by: 'nobody' }, limits: defaultSettings().source.limits } as const;
const around = { clock: systemClock, env: { PATH: process.env.PATH }, signal: new AbortController().signal };

/** What a revision of the paths says: path below `root` → content, problems as `code path`. */
async function read(root: string, ref: string, paths: readonly string[] = [root], exclude: readonly string[] = []) {
  const { sources, commit: at } = await readRevision(ref, paths, exclude, policy, around);
  const shown = (path: string): string => path.replace(`${root}/`, '');
  return {
    files: Object.fromEntries(
      sources.files.map(({ path, content }) => [shown(path), Buffer.from(content as Uint8Array).toString()]),
    ),
    problems: sources.problems.map(({ code, position }) => `${code} ${shown(position.file)}`),
    ids: Object.fromEntries(sources.files.map(({ path, contentId }) => [shown(path), contentId])),
    at: at.id,
    name: at.name,
  };
}

/** A commit of exactly these entries, without a work tree: `mode` and the object they name. */
function commitTree(root: string, entries: readonly (readonly [mode: string, id: string, path: string])[]): string {
  const index = entries.map(([mode, id, path]) => `${mode} ${id}\t${path}\0`).join('');
  rmSync(join(root, '.git', 'index'), { force: true });
  execFileSync('git', ['-C', root, 'update-index', '-z', '--index-info'], { input: index });
  return git(root, 'commit-tree', '-m', 'entries', git(root, 'write-tree'));
}

function blob(root: string, content: string | Uint8Array): string {
  return execFileSync('git', ['-C', root, 'hash-object', '-w', '--stdin'], { input: content, encoding: 'utf8' }).trim();
}

test('a commit is read, whatever has become of the files since', async () => {
  const root = repository({ 'a.yaml': 'a: 1\nb: 2\n', 'b/c.yml': 'c', 'gone.json': '{}' });
  const id = git(root, 'rev-parse', 'HEAD');
  write(root, 'a.yaml', 'a: 1\n');
  write(root, 'new.yaml', 'new');
  git(root, 'add', 'new.yaml');
  rmSync(join(root, 'gone.json'));
  expect(await read(root, 'HEAD')).toEqual({
    files: { 'a.yaml': 'a: 1\nb: 2\n', 'b/c.yml': 'c', 'gone.json': '{}' },
    problems: [],
    ids: Object.fromEntries(
      ['a.yaml', 'b/c.yml', 'gone.json'].map((path) => [path, git(root, 'rev-parse', `HEAD:${path}`)]),
    ),
    at: id,
    name: `HEAD@sha1:${id}`,
  });
});

test('the same names count as in a folder: manifests only, and nothing hidden', async () => {
  const root = repository({
    'a.yaml': '',
    'deep/er/b.yml': 'b',
    'c.json': 'c',
    'README.md': 'x',
    'd.yaml.txt': 'x',
    '.e.yaml': 'x',
    '.github/f.yaml': 'x',
    'deep/.g/h.yaml': 'x',
  });
  expect((await read(root, 'main')).files).toEqual({ 'a.yaml': '', 'c.json': 'c', 'deep/er/b.yml': 'b' });
  expect((await read(root, 'main', [join(root, '.github')])).files).toEqual({ '.github/f.yaml': 'x' });
});

test('a folder with a skip marker is left out as in a folder of the disk', async () => {
  const root = repository({
    'a.yaml': '',
    'deploy/.portolan-skip': 'x',
    'deploy/chart.yaml': 'c',
    'deploy/deep/b.yaml': 'b',
    'on/c.yaml': 'on',
  });
  expect((await read(root, 'main')).files).toEqual({ 'a.yaml': '', 'on/c.yaml': 'on' });
  expect((await read(root, 'main', [join(root, 'deploy')])).files).toEqual({
    'deploy/chart.yaml': 'c',
    'deploy/deep/b.yaml': 'b',
  });
});

test('branches, tags, short ids and steps back all name a commit', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const first = git(root, 'rev-parse', 'HEAD');
  git(root, 'tag', '--annotate', 'v1', '--message', 'first');
  git(root, 'branch', 'fix/größe');
  const second = commit(root, { 'a.yaml': 'two' });
  for (const [ref, id] of [
    ['HEAD', second],
    ['main', second],
    ['refs/heads/main', second],
    [second, second],
    [second.slice(0, 9), second],
    ['HEAD~1', first],
    ['main^', first],
    ['v1', first],
    ['refs/tags/v1', first],
    ['fix/größe', first],
  ] as const)
    expect(await read(root, ref), ref).toMatchObject({ at: id, files: { 'a.yaml': id === first ? 'one' : 'two' } });
});

test.for([
  ['nosuch', 'source/unknown-revision'],
  ['0123456789012345678901234567890123456789', 'source/unknown-revision'],
  ['HEAD~5', 'source/unknown-revision'],
  ['blob-tag', 'source/unknown-revision'],
  ['twice', 'source/ambiguous-revision'],
  ['', 'source/bad-revision'],
  ['-h', 'source/bad-revision'],
  ['--upload-pack=touch x', 'source/bad-revision'],
  ['--upload-pack=x', 'source/bad-revision'],
  ['HEAD:a.yaml', 'source/bad-revision'],
  ['HEAD..main', 'source/bad-revision'],
  ['^main', 'source/bad-revision'],
  [':/change', 'source/bad-revision'],
  ['@{-1}', 'source/bad-revision'],
  ['main@{yesterday}', 'source/bad-revision'],
  ['main\nHEAD', 'source/bad-revision'],
  ['main\0', 'source/bad-revision'],
  ['../HEAD', 'source/bad-revision'],
  ['x'.repeat(251), 'source/bad-revision'],
] as const)('the revision "%s" is refused: %s', async ([ref, code]) => {
  const root = repository({ 'a.yaml': 'one' });
  git(root, 'tag', 'blob-tag', 'HEAD:a.yaml');
  git(root, 'branch', 'twice');
  git(root, 'tag', 'twice');
  await expect(read(root, ref)).rejects.toMatchObject({ code, disposition: 'invalid' });
});

test('a repository without a commit has no revision', async () => {
  await expect(read(repository(), 'HEAD')).rejects.toMatchObject({ code: 'source/unknown-revision' });
});

test('paths below the top: folders, files by any name, those that are only in the commit, and each file once', async () => {
  const root = repository({ 'one/a.yaml': 'a', 'one/b.yaml': 'b', 'two/c.txt': 'c', 'three/d.yaml': 'd' });
  rmSync(join(root, 'one'), { recursive: true });
  const paths = ['one/a.yaml', 'one', 'two/c.txt', 'one/', 'two/../three/d.yaml'].map((path) => join(root, path));
  const found = await read(root, 'HEAD', paths);
  expect(found.files).toEqual({ 'one/a.yaml': 'a', 'one/b.yaml': 'b', 'two/c.txt': 'c', 'three/d.yaml': 'd' });
  expect(
    await read(root, 'HEAD', [join(root, 'on'), join(root, 'one/c.yaml'), join(root, 'one/a.yaml/x')]),
  ).toMatchObject({
    files: {},
    problems: ['source/not-found on', 'source/not-found one/c.yaml', 'source/not-found one/a.yaml/x'],
  });
});

test('files are shown as the path was written', async () => {
  const root = repository({ 'm/a.yaml': 'a' });
  const { sources } = await readRevision('HEAD', [`${root}/../${root.split('/').at(-1)}/m`], [], policy, around);
  expect(sources.files.map(({ path }) => path)).toEqual([`${root}/m/a.yaml`]);
});

test('odd names of files and folders are read like others', async () => {
  const names = [
    'größe.yaml',
    'zwei\nZeilen.yaml',
    '"quoted".yaml',
    "it's.yaml",
    '-rf.yaml',
    ':(top)x.yaml',
    'tab\t.yaml',
    '日本/語.yaml',
    ' .yaml',
    '*.yaml',
    '--/x.yaml',
  ];
  const root = repository(Object.fromEntries(names.map((name) => [`m/${name}`, name])));
  const expected = Object.fromEntries(names.map((name) => [`m/${name}`, name]));
  expect((await read(root, 'HEAD', [join(root, 'm')])).files).toEqual(expected);
  const named = names.map((name) => join(root, 'm', name));
  expect((await read(root, 'HEAD', named)).files).toEqual(expected);
  expect((await read(root, 'HEAD', [join(root, 'm', '--')])).files).toEqual({ 'm/--/x.yaml': '--/x.yaml' });
});

test('a name that is no UTF-8 can be read too', async () => {
  const root = repository({ 'x.txt': '' });
  const id = blob(root, 'latin');
  const index = Buffer.concat([Buffer.from(`100644 ${id}\t`), Buffer.from('caf\xe9.yaml', 'latin1'), Buffer.from([0])]);
  execFileSync('git', ['-C', root, 'update-index', '-z', '--index-info'], { input: index });
  const at = git(root, 'commit-tree', '-m', 'x', git(root, 'write-tree'));
  expect((await read(root, at)).files).toEqual({ 'caf\ufffd.yaml': 'latin' });
});

test('links, submodules and pointers to large files are problems with their place; the rest is read', async () => {
  const root = repository({ 'x.txt': '' });
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`;
  const target = blob(root, '/etc/passwd');
  const at = commitTree(root, [
    ['100644', blob(root, 'good'), 'm/good.yaml'],
    ['100755', blob(root, 'also good'), 'm/executable.yaml'],
    ['120000', target, 'm/link.yaml'],
    ['120000', target, 'm/folder-link'],
    ['160000', '1'.repeat(40), 'm/vendor'],
    ['160000', '1'.repeat(40), 'm/.hidden'],
    ['100644', blob(root, pointer), 'm/large.yaml'],
    ['100644', blob(root, Buffer.alloc(256 * 1024 + 1, 'x')), 'm/huge.yaml'],
    ['100644', blob(root, Buffer.alloc(256 * 1024 + 1, 'x')), 'm/huge.bin'],
    ['100644', blob(root, Buffer.alloc(256 * 1024, 'y')), 'm/full.yaml'],
  ]);
  const found = await read(root, at, [join(root, 'm')]);
  expect(Object.keys(found.files)).toEqual(['m/executable.yaml', 'm/full.yaml', 'm/good.yaml']);
  expect(found.problems.toSorted()).toEqual([
    'limit/file-size m/huge.yaml',
    'source/lfs-pointer m/large.yaml',
    'source/link m/link.yaml',
    'source/submodule m/vendor',
  ]);
  const named = await read(
    root,
    at,
    ['m/link.yaml', 'm/folder-link', 'm/folder-link/x.yaml', 'm/vendor'].map((path) => join(root, path)),
  );
  expect(named).toMatchObject({
    files: {},
    problems: [
      'source/link m/link.yaml',
      'source/link m/folder-link',
      'source/not-found m/folder-link/x.yaml',
      'source/submodule m/vendor',
    ],
  });
});

test('a bare repository, and a path below it', async () => {
  const root = repository({ 'm/a.yaml': 'a' });
  const bare = join(temporaryFolder(), 'x.git');
  git(root, 'clone', '--quiet', '--bare', root, bare);
  expect((await read(bare, 'main')).files).toEqual({ 'm/a.yaml': 'a' });
  expect((await read(bare, 'main', [join(bare, 'm')])).files).toEqual({ 'm/a.yaml': 'a' });
});

test('a worktree beside its repository, reached through a link that is flipped', async () => {
  const root = repository({ 'a.yaml': 'one' });
  git(root, 'worktree', 'add', '--quiet', '--detach', join(root, '.worktrees', 'one'));
  symlinkSync('.worktrees/one', join(root, 'current'));
  const current = join(root, 'current');
  expect((await read(current, 'HEAD')).files).toEqual({ 'a.yaml': 'one' });
  commit(root, { 'a.yaml': 'two', '.gitignore': '/current\n/.worktrees\n' });
  git(root, 'worktree', 'add', '--quiet', '--detach', join(root, '.worktrees', 'two'));
  rmSync(current);
  symlinkSync('.worktrees/two', current);
  expect((await read(current, 'HEAD')).files).toEqual({ 'a.yaml': 'two' });
  git(root, 'worktree', 'prune');
  rmSync(join(root, '.git', 'worktrees', 'two'), { recursive: true });
  await expect(read(current, 'HEAD')).rejects.toMatchObject({ code: 'source/no-repository' });
});

test('a link in a checkout does not choose another repository, and one from outside does', async () => {
  const mine = repository({ 'a.yaml': 'mine' });
  const theirs = repository({ 'a.yaml': 'theirs' });
  symlinkSync(theirs, join(mine, 'manifests'));
  await expect(read(mine, 'HEAD', [join(mine, 'manifests')])).rejects.toMatchObject({
    code: 'source/link-out',
    remedy: expect.stringContaining(theirs),
  });
  const outside = join(temporaryFolder(), 'link');
  symlinkSync(theirs, outside);
  expect((await read(outside, 'HEAD')).files).toEqual({ 'a.yaml': 'theirs' });
});

test('what looks like a bare repository within a checkout is only a folder of it', async () => {
  const root = repository({ 'm/HEAD': 'ref: refs/heads/main\n', 'm/objects/x': '', 'm/refs/x': '', 'm/a.yaml': 'a' });
  expect((await read(root, 'HEAD', [join(root, 'm')])).files).toEqual({ 'm/a.yaml': 'a' });
});

test('paths of several repositories, of none, and standard input are refused', async () => {
  const [one, two] = [repository({ 'a.yaml': 'a' }), repository({ 'a.yaml': 'a' })];
  await expect(read(one, 'HEAD', [one, two])).rejects.toMatchObject({ code: 'source/several-checkouts' });
  await expect(read(one, 'HEAD', [temporaryFolder()])).rejects.toMatchObject({ code: 'source/no-repository' });
  await expect(read(one, 'HEAD', [one, '-'])).rejects.toMatchObject({ code: 'cli/revision-of-input' });
});

test('the configuration may lie among the manifests, and one elsewhere leaves out nothing', async () => {
  const root = repository({ 'portolan.yaml': 'operator', 'm/portolan.yaml': 'manifest' });
  expect((await read(root, 'HEAD', [root], [join(root, 'portolan.yaml')])).files).toEqual({
    'm/portolan.yaml': 'manifest',
  });
  const elsewhere = temporaryFolder();
  write(elsewhere, 'portolan.yaml', '');
  expect(Object.keys((await read(root, 'HEAD', [root], [join(elsewhere, 'portolan.yaml')])).files)).toHaveLength(2);
});

test('objects may be named by SHA-256', async () => {
  const root = repository({ 'a.yaml': 'a' }, '--object-format=sha256');
  const found = await read(root, 'HEAD');
  expect(found.files).toEqual({ 'a.yaml': 'a' });
  expect(found.name).toMatch(/^HEAD@sha256:[0-9a-f]{64}$/);
});

test('a partial clone is not filled: what it lacks matters only among the manifests', async () => {
  const root = repository({ 'm/a.yaml': 'a', 'n/b.yaml': 'b'.repeat(5000), 'm/c.bin': 'c'.repeat(5000) });
  git(root, 'config', 'uploadpack.allowFilter', 'true');
  const clone = join(temporaryFolder(), 'clone');
  git(root, 'clone', '--quiet', '--no-checkout', '--filter=blob:limit=1k', `file://${root}`, clone);
  expect((await read(clone, 'HEAD', [join(clone, 'm')])).files).toEqual({ 'm/a.yaml': 'a' });
  await expect(read(clone, 'HEAD')).rejects.toMatchObject({ code: 'source/incomplete-clone' });
});
