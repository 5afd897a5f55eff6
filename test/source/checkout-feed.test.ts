import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentsRead, listen, openFeed, shown } from './feeds.ts';
import { commit, git, repository, temporaryFolder, write } from './repositories.ts';

test('a checkout is told at once and after each commit, and not for what is not committed', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const first = git(root, 'rev-parse', 'HEAD');
  const { next, isQuiet, told } = listen([root]);
  expect(await next()).toBe(`read HEAD@sha1:${first} a.yaml=one`);
  write(root, 'a.yaml', 'half written');
  write(root, 'b.yaml', 'untracked');
  write(root, '.git/index.lock', '');
  expect(await isQuiet(300)).toBe(true);
  rmSync(join(root, '.git/index.lock'));
  const second = commit(root, { 'a.yaml': 'two' });
  expect(await next()).toBe(`read HEAD@sha1:${second} a.yaml=two b.yaml=untracked`);
  expect(told.map((state) => state.type === 'read' && state.reading.commit?.committedMs)).toEqual([
    Number(git(root, 'log', '-1', '--format=%ct', first)) * 1000,
    Number(git(root, 'log', '-1', '--format=%ct', second)) * 1000,
  ]);
  expect(told).toHaveLength(2);
  expect(
    await Promise.all(told.map(async (state) => state.type === 'read' && (await state.reading.olderThan?.(second)))),
  ).toEqual(['older', 'not-older']);
  expect(contentsRead(told)).toBe(3);
});

test('whatever moves the ref is seen: reset, another branch, packed refs, a tag, a rewritten history', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const first = git(root, 'rev-parse', 'HEAD');
  git(root, 'tag', 'v1');
  const head = listen([root]);
  const tag = listen([root], { ref: 'v1' });
  expect(await head.next()).toBe(`read HEAD@sha1:${first} a.yaml=one`);
  expect(await tag.next()).toBe(`read v1@sha1:${first} a.yaml=one`);
  const second = commit(root, { 'a.yaml': 'two' });
  expect(await head.next()).toBe(`read HEAD@sha1:${second} a.yaml=two`);
  git(root, 'pack-refs', '--all');
  git(root, 'gc', '--quiet', '--prune=now');
  expect(await head.isQuiet(200)).toBe(true);
  git(root, 'reset', '--quiet', '--hard', first);
  expect(await head.next()).toBe(`read HEAD@sha1:${first} a.yaml=one`);
  git(root, 'checkout', '--quiet', '-b', 'feature/x', second);
  expect(await head.next()).toBe(`read HEAD@sha1:${second} a.yaml=two`);
  git(root, 'checkout', '--quiet', '--orphan', 'fresh');
  const other = commit(root, { 'a.yaml': 'three' });
  // In between HEAD names a branch that is not there yet.
  let state = await head.next();
  if (state === 'failed source/unknown-revision') state = await head.next();
  expect(state).toBe(`read HEAD@sha1:${other} a.yaml=three`);
  expect(await tag.isQuiet(0)).toBe(true);
  git(root, 'tag', '--force', 'v1', other);
  expect(await tag.next()).toBe(`read v1@sha1:${other} a.yaml=three`);
});

test('a branch that is deleted fails, once, and is read again when it is back', async () => {
  const root = repository({ 'a.yaml': 'one' });
  git(root, 'branch', 'live');
  const id = git(root, 'rev-parse', 'HEAD');
  const { next, isQuiet, told } = listen([root], { ref: 'live' });
  expect(await next()).toBe(`read live@sha1:${id} a.yaml=one`);
  git(root, 'branch', '-D', 'live');
  expect(await next()).toBe('failed source/unknown-revision');
  const failed = told.at(-1);
  expect(failed?.type === 'failed' && failed.error).toMatchObject({
    message: expect.stringContaining('has no commit "live"'),
    remedy: expect.stringContaining('Fetch it'),
  });
  commit(root, { 'a.yaml': 'two' });
  expect(await isQuiet(1500)).toBe(true);
  git(root, 'branch', 'live', id);
  expect(await next()).toBe(`read live@sha1:${id} a.yaml=one`);
});

test('a link that is flipped to another worktree is followed, and what is read is one of them whole', async () => {
  const root = repository({ 'm/a.yaml': 'a1', 'm/b.yaml': 'b1', '.gitignore': '/current\n/.worktrees\n' });
  const worktree = (name: string): string => {
    git(root, 'worktree', 'add', '--quiet', '--detach', join(root, '.worktrees', name));
    return git(root, 'rev-parse', 'HEAD');
  };
  const first = worktree('one');
  symlinkSync('.worktrees/one', join(root, 'current'));
  const { next, isQuiet } = listen([join(root, 'current', 'm')]);
  expect(await next()).toBe(`read HEAD@sha1:${first} a.yaml=a1 b.yaml=b1`);
  commit(root, { 'm/a.yaml': 'a2', 'm/b.yaml': 'b2' });
  const second = worktree('two');
  expect(await isQuiet(200)).toBe(true);
  symlinkSync('.worktrees/two', join(root, 'next'));
  renameSync(join(root, 'next'), join(root, 'current'));
  rmSync(join(root, '.worktrees', 'one'), { recursive: true });
  git(root, 'worktree', 'prune');
  expect(await next()).toBe(`read HEAD@sha1:${second} a.yaml=a2 b.yaml=b2`);
  const third = commit(root, { 'm/a.yaml': 'a3' });
  expect(await isQuiet(200)).toBe(true);
  git(join(root, '.worktrees', 'two'), 'checkout', '--quiet', '--detach', third);
  expect(await next()).toBe(`read HEAD@sha1:${third} a.yaml=a3 b.yaml=b2`);
});

test('a checkout that goes and comes back, as another one, is read again', async () => {
  const root = join(temporaryFolder(), 'checkout');
  const origin = repository({ 'a.yaml': 'one' });
  git(origin, 'clone', '--quiet', origin, root);
  const { next } = listen([root], { settings: { intervalMs: 1_000 } });
  expect(await next()).toMatch(/^read .* a\.yaml=one$/);
  renameSync(root, `${root}.old`);
  expect(await next()).toBe('failed source/no-repository');
  commit(origin, { 'a.yaml': 'two' });
  git(origin, 'clone', '--quiet', origin, root);
  expect(await next()).toMatch(/^read .* a\.yaml=two$/);
  commit(root, { 'a.yaml': 'three' });
  expect(await next()).toMatch(/^read .* a\.yaml=three$/);
});

test('a repository that is swapped for another behind the back of the watcher is not read from the old one', async () => {
  const folder = temporaryFolder();
  const root = join(folder, 'checkout');
  const other = repository({ 'a.yaml': 'other' });
  cpSync(repository({ 'a.yaml': 'one' }), root, { recursive: true });
  const { next, feed } = listen([root]);
  expect(await next()).toMatch(/^read .* a\.yaml=one$/);
  renameSync(root, join(folder, 'away'));
  renameSync(other, root);
  mkdirSync(other);
  feed.poke();
  expect(await next()).toMatch(/^read .* a\.yaml=other$/);
});

test('a clone that is copied object by object is read only once it is whole', async () => {
  const origin = repository({ 'a.yaml': 'one', 'b/c.yaml': 'c' });
  const root = repository({ 'a.yaml': 'zero' });
  const { next, feed, told } = listen([root], { ref: 'main' });
  expect(await next()).toMatch(/^read .* a\.yaml=zero$/);
  const objects = (folder: string) =>
    readdirSync(join(folder, '.git', 'objects'), { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
  const id = git(origin, 'rev-parse', 'HEAD');
  // The ref first, and then what it needs: the worst order there is.
  write(root, '.git/refs/heads/main', `${id}\n`);
  expect(await next()).toBe('failed source/unknown-revision');
  for (const object of objects(origin)) {
    const file = join(object.parentPath, object.name);
    cpSync(file, file.replace(origin, root));
    feed.poke();
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  let last = '';
  while (!last.startsWith('read')) last = await next();
  expect(last).toBe(`read main@sha1:${id} a.yaml=one c.yaml=c`);
  const allowed =
    /^(?:read main@sha1:\w+ a\.yaml=(?:zero|one c\.yaml=c)|failed source\/(?:unknown-revision|incomplete-clone|git-failed))$/;
  expect(told.map(shown).filter((line) => !allowed.test(line))).toEqual([]);
});

test('a commit that nobody signed fails where signatures are asked for, and what was read stands', async () => {
  const keys = temporaryFolder();
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(keys, 'key')]);
  write(keys, 'allowed', `tester@example.com ${readFileSync(join(keys, 'key.pub'), 'utf8')}`);
  const root = repository();
  const sign = (text: string): void => {
    write(root, 'a.yaml', text);
    git(root, 'add', '--all');
    const key = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${join(keys, 'key')}`];
    git(root, ...key, 'commit', '--quiet', '-S', '-m', 'signed');
  };
  sign('one');
  const { next, feed, isQuiet } = listen([root], {
    settings: { signatures: { by: 'ssh', keys: join(keys, 'allowed') } },
  });
  expect(await next()).toMatch(/^read HEAD@sha1:\w+ a\.yaml=one$/);
  commit(root, { 'a.yaml': 'forged' });
  expect(await next()).toBe('failed source/signature');
  feed.poke();
  expect(await isQuiet(200)).toBe(true);
  sign('two');
  expect(await next()).toMatch(/^read HEAD@sha1:\w+ a\.yaml=two$/);
  write(keys, 'allowed', '');
  feed.poke();
  expect(await next()).toBe('failed source/signature');
});

test('one file of many that changes costs one blob', async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`${n % 20}/${n}.yaml`, `n: ${n}`]));
  const root = repository(files);
  const { next, told } = listen([root]);
  await next();
  expect(contentsRead(told)).toBe(300);
  commit(root, { '7/7.yaml': 'n: changed', '3/3.yaml': 'n: 4' });
  await next();
  // The other one is a content that is known under another name.
  expect(contentsRead(told)).toBe(301);
});

test('a closed feed leaves no process and no watcher, at whatever moment it is closed', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const children = () =>
    readdirSync('/proc/self/task').flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
    );
  const before = children();
  const watches = () => process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length;
  await expect.poll(watches).toBe(0);
  for (const ms of [0, 1, 3, 10, 30, 100, 300]) {
    const feed = openFeed([root]);
    feed.start(async () => {});
    await new Promise((resolve) => setTimeout(resolve, ms));
    await feed.close();
    expect(children(), `closed after ${ms} ms`).toEqual(before);
    await expect.poll(watches).toBe(0);
  }
});

test.for([
  [[], 'source/none'],
  [['-'], 'source/standard-input'],
] as const)('-f %s is refused: %s', ([paths, code]) => {
  expect(() => openFeed(paths)).toThrowError(expect.objectContaining({ code, disposition: 'invalid' }));
});
