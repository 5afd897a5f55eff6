import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { readRevision } from '../../src/cli/session/revision.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Git } from '../../src/source/git.ts';
import { type ObjectName, ObjectReader, type ObjectType } from '../../src/source/objects.ts';
import { descentFrom } from '../../src/source/revision.ts';
import { commit, git, repository, temporaryFolder, trap, write } from './repositories.ts';

const policy = { signatures: { by: 'nobody' }, limits: defaultSettings().source.limits } as const;
const around = { clock: systemClock, env: { PATH: process.env.PATH }, signal: new AbortController().signal };
const gitOf = (root: string, changes: { clock?: Clock; path?: string; signal?: AbortSignal } = {}): Git =>
  new Git(root, { clock: systemClock, path: process.env.PATH, signal: around.signal, ...changes });

/** Everything that a command does with a repository. */
async function use(root: string, ref = 'HEAD'): Promise<string[]> {
  const { sources, commit: at } = await readRevision(ref, [root], [], policy, around);
  await at.descentFrom(git(root, 'rev-list', '--max-parents=0', ref).split('\n')[0] ?? '');
  return sources.files.map(({ content }) => Buffer.from(content as Uint8Array).toString());
}

test('nothing that the configuration of a repository names is run', async () => {
  const root = repository({ 'a.yaml': 'one' });
  commit(root, { 'a.yaml': 'two' });
  const { program, sprung } = trap();
  for (const key of [
    'core.fsmonitor',
    'core.pager',
    'core.editor',
    'core.sshCommand',
    'core.askPass',
    'core.gitProxy',
    'core.alternateRefsCommand',
    'diff.external',
    'diff.x.textconv',
    'filter.x.smudge',
    'filter.x.clean',
    'filter.x.process',
    'credential.helper',
    'gpg.program',
    'alias.rev-parse',
    'alias.cat-file',
  ])
    git(root, 'config', key, key.startsWith('alias.') ? `!${program}` : program);
  git(root, 'config', 'core.hooksPath', join(root, 'hooks'));
  for (const hook of ['post-index-change', 'post-checkout', 'reference-transaction', 'fsmonitor-watchman']) {
    write(root, `hooks/${hook}`, readFileSync(program));
    write(root, `.git/hooks/${hook}`, readFileSync(program));
  }
  write(root, '.gitattributes', '*.yaml filter=x diff=x\n');
  expect(await use(root)).toEqual(['two']);
  expect(existsSync(sprung)).toBe(false);
});

test.for<readonly [string, (program: string) => Record<string, string>]>([
  ['ext protocol', (program: string) => ({ url: `ext::${program}`, 'x.uploadpack': program })],
  ['upload-pack of a local path', (program: string) => ({ url: '/nowhere', uploadpack: program })],
  ['ssh', () => ({ url: 'ssh://host/x' })],
])('what a commit lacks is not fetched with a program of the configuration: %s', async ([, remote]) => {
  const root = repository({ 'a.yaml': 'one', 'b.yaml': 'two' });
  const { program, sprung } = trap();
  for (const [key, value] of Object.entries(remote(program))) git(root, 'config', `remote.origin.${key}`, value);
  for (const [key, value] of [
    ['remote.origin.promisor', 'true'],
    ['remote.origin.partialclonefilter', 'blob:none'],
    ['extensions.partialClone', 'origin'],
    ['core.repositoryFormatVersion', '1'],
    ['core.sshCommand', program],
    ['protocol.allow', 'always'],
    ['protocol.ext.allow', 'always'],
  ] as const)
    git(root, 'config', key, value);
  const id = git(root, 'rev-parse', 'HEAD:a.yaml');
  rmSync(join(root, '.git', 'objects', id.slice(0, 2), id.slice(2)));
  await expect(use(root)).rejects.toMatchObject({ code: 'source/incomplete-clone' });
  expect(existsSync(sprung)).toBe(false);
});

test('git itself is not taken from the checkout', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const { program, sprung } = trap();
  write(root, 'git', readFileSync(program));
  chmodSync(join(root, 'git'), 0o755);
  const former = process.cwd();
  onTestFinished(() => process.chdir(former));
  process.chdir(root);
  const env = { PATH: `.::${process.env.PATH}` };
  await readRevision('HEAD', ['.'], [], policy, { ...around, env });
  expect(existsSync(sprung)).toBe(false);
});

test('what stands in for objects and ancestors is not believed', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const first = git(root, 'rev-parse', 'HEAD');
  commit(root, { 'a.yaml': 'evil' });
  git(root, 'replace', git(root, 'rev-parse', `${first}:a.yaml`), git(root, 'rev-parse', 'HEAD:a.yaml'));
  expect(await use(root, first)).toEqual(['one']);
  git(root, 'checkout', '--quiet', '--orphan', 'other');
  const other = commit(root, { 'a.yaml': 'other' });
  write(root, '.git/info/grafts', `${other} ${first}\n`);
  git(root, 'replace', '--graft', other, first);
  expect(git(root, 'merge-base', first, other)).toBe(first);
  expect(await descentFrom(gitOf(root), other, first)).toBe('does-not-descend');
});

test('objects of other repositories are read as far as their ids say so, and forged ones are not', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const clone = join(temporaryFolder(), 'clone');
  git(root, 'clone', '--quiet', '--shared', root, clone);
  expect(await use(clone)).toEqual(['one']);
  const id = git(root, 'rev-parse', 'HEAD:a.yaml');
  const file = join(root, '.git', 'objects', id.slice(0, 2), id.slice(2));
  rmSync(file);
  writeFileSync(file, deflateSync('blob 3\0two'));
  await expect(use(clone)).rejects.toMatchObject({ message: expect.stringContaining('does not match its id') });
});

test('the place of the work tree in the configuration is not believed', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const elsewhere = repository({ 'a.yaml': 'elsewhere' });
  git(root, 'config', 'core.worktree', elsewhere);
  const { sources } = await readRevision('HEAD', [root], [], policy, around);
  expect(sources.files.map(({ path }) => path)).toEqual([join(root, 'a.yaml')]);
});

test('a checkout of another user is read, because it is named', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const answer = await gitOf(root).run(['config', '--get-all', 'safe.directory']);
  expect(answer.stdout.toString().trim()).toBe(root);
});

test('git is told nothing of the process but its PATH', async () => {
  const folder = temporaryFolder();
  write(folder, 'git', '#!/bin/sh\nexec /usr/bin/env\n');
  chmodSync(join(folder, 'git'), 0o755);
  process.env.PORTOLAN_TOKEN = 'secret-token';
  process.env.GIT_DIR = '/elsewhere';
  onTestFinished(() => {
    delete process.env.PORTOLAN_TOKEN;
    delete process.env.GIT_DIR;
  });
  const { stdout } = await gitOf(folder, { path: folder }).run(['x']);
  const names = stdout
    .toString()
    .split('\n')
    .map((line) => line.split('=')[0]);
  expect(names.filter((name) => !/^(?:GIT_[A-Z_]+|LC_ALL|PATH|PWD|SHLVL|_|)$/.test(name ?? ''))).toEqual([]);
  expect(names).not.toContain('GIT_DIR');
});

test('a huge blob is not taken apart', async () => {
  const root = repository();
  const huge = Buffer.alloc(64 * 1024 * 1024);
  write(root, 'huge.yaml', huge);
  commit(root, { 'a.yaml': 'a' });
  const read: string[] = [];
  const objects = ObjectReader.prototype.read;
  onTestFinished(() => {
    ObjectReader.prototype.read = objects;
  });
  ObjectReader.prototype.read = function (names) {
    read.push(...names.filter(({ type }) => type === 'blob').map(({ id }) => id));
    return objects.call(this, names);
  };
  const { sources } = await readRevision('HEAD', [root], [], policy, around);
  expect(sources.problems.map(({ code }) => code)).toEqual(['limit/file-size']);
  expect(read).toEqual([git(root, 'rev-parse', 'HEAD:a.yaml')]);
});

/** A git that starts and says nothing. */
function silentGit(): string {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'git'), `#!${process.execPath}\nsetInterval(() => {}, 1000);\n`, { mode: 0o755 });
  return folder;
}

/** No time at all passes until a limit is over. */
const hasty: Clock = { ...systemClock, sleep: async () => {} };

test('a git that does not answer is ended', async () => {
  const slow = gitOf('/', { path: silentGit(), clock: hasty });
  await expect(slow.run(['rev-parse'])).rejects.toMatchObject({ code: 'source/git-slow' });
  await expect(new ObjectReader(slow).read([{ id: '0'.repeat(40), type: 'blob' }])).rejects.toMatchObject({
    code: 'source/git-slow',
  });
});

test('a git that is interrupted is ended', async () => {
  const signal = AbortSignal.timeout(50);
  const interrupted = gitOf('/', { path: silentGit(), signal });
  const objects = new ObjectReader(interrupted);
  const both = [interrupted.run(['rev-parse']), objects.read([{ id: '0'.repeat(40), type: 'blob' }])];
  await Promise.all(both.map((one) => expect(one).rejects.toMatchObject({ code: 'source/interrupted' })));
});

test('without git, that is what is said', async () => {
  const none = gitOf('/', { path: temporaryFolder() });
  await expect(none.run(['rev-parse'])).rejects.toMatchObject({ code: 'source/no-git' });
  await expect(new ObjectReader(none).read([{ id: '0'.repeat(40), type: 'blob' }])).rejects.toMatchObject({
    code: 'source/git-failed',
  });
});

test('one process answers question after question, and a new one follows one that failed', async () => {
  const root = repository({ 'a.yaml': 'one', 'b.yaml': 'zwei\n' });
  const objects = new ObjectReader(gitOf(root));
  onTestFinished(() => objects.close());
  const name = (path: string, type: ObjectType = 'blob') => ({ id: git(root, 'rev-parse', `HEAD:${path}`), type });
  const text = async (...names: ObjectName[]) =>
    (await objects.read(names)).map((content) => Buffer.from(content).toString());
  const [a, b] = [name('a.yaml'), name('b.yaml')];
  expect(await Promise.all([text(a, b), text(b), text()])).toEqual([['one', 'zwei\n'], ['zwei\n'], []]);
  const children = () =>
    readdirSync('/proc/self/task').flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
    );
  const before = children();
  await text(a, a, b);
  const second = commit(root, { 'a.yaml': 'two' });
  expect(await objects.facts(['HEAD', 'nosuch', 'HEAD:b.yaml'])).toEqual([
    { found: 'one', id: second, type: 'commit', size: expect.any(Number) },
    { found: 'none' },
    { found: 'one', id: b.id, type: 'blob', size: 5 },
  ]);
  expect(children()).toEqual(before);
  await expect(text({ id: '0'.repeat(40), type: 'blob' })).rejects.toMatchObject({
    code: 'source/incomplete-clone',
  });
  await expect(text(name('a.yaml', 'tree'))).rejects.toMatchObject({ code: 'source/git-failed' });
  await expect(text({ id: git(root, 'rev-parse', 'HEAD'), type: 'blob' })).rejects.toMatchObject({
    code: 'source/git-failed',
  });
  expect(await text(b)).toEqual(['zwei\n']);
  await objects.close();
  expect(children()).not.toEqual(before);
});
