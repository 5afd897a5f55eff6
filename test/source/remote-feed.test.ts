import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { follow, remote } from './remotes.ts';
import { contentsOf, contentsRead } from './feeds.ts';
import { commit, git, temporaryFolder, write } from './repositories.ts';

test('a remote repository is fetched, and again when something was pushed', async () => {
  const { bare, work, push } = remote({ 'm/a.yaml': 'one', 'n/b.yaml': 'b' });
  const first = git(work, 'rev-parse', 'HEAD');
  const { next, feed, isQuiet, told } = follow({ url: `file://${bare}`, ref: 'main', paths: ['m'] });
  expect(await next()).toBe(`read main@sha1:${first} a.yaml=one`);
  expect(feed.location).toBe(`file://${bare} at main`);
  const [state] = told;
  expect(state?.type === 'read' && contentsOf(state.reading).files.map(({ path }) => path)).toEqual(['m/a.yaml']);
  expect(state?.type === 'read' && state.reading.olderThan, 'it is the source itself').toBeUndefined();
  const second = push({ 'm/a.yaml': 'two' });
  feed.poke();
  expect(await next()).toBe(`read main@sha1:${second} a.yaml=two`);
  feed.poke();
  expect(await isQuiet(300)).toBe(true);
  expect(contentsRead(told)).toBe(2);
});

test('a remote is asked at the interval, whatever is heard of it', async () => {
  const { bare, push } = remote({ 'a.yaml': 'one' });
  const { next } = follow({ url: `file://${bare}`, intervalMs: 1_000 });
  expect(await next()).toMatch(/^read HEAD@sha1:\w+ a\.yaml=one$/);
  push({ 'a.yaml': 'two' });
  expect(await next()).toMatch(/^read HEAD@sha1:\w+ a\.yaml=two$/);
});

test('forced pushes, deleted branches, moved tags, and what does not exist', async () => {
  const { bare, work, push } = remote({ 'a.yaml': 'one' });
  const first = git(work, 'rev-parse', 'HEAD');
  git(work, 'tag', '--annotate', '-m', 'x', 'v1');
  git(work, 'push', '--quiet', 'origin', 'v1');
  const url = `file://${bare}`;
  const [branch, tag] = [follow({ url, ref: 'main' }), follow({ url, ref: 'v1' })];
  expect(await branch.next()).toBe(`read main@sha1:${first} a.yaml=one`);
  expect(await tag.next()).toBe(`read v1@sha1:${first} a.yaml=one`);
  const second = push({ 'a.yaml': 'two' });
  git(work, 'reset', '--quiet', '--hard', first);
  const third = push({ 'a.yaml': 'three' }, '--force');
  branch.feed.poke();
  expect(await branch.next()).toBe(`read main@sha1:${third} a.yaml=three`);
  const reading = branch.told.at(-1);
  expect(reading?.type === 'read' && (await reading.reading.descentFrom(first))).toBe('descends');
  expect(reading?.type === 'read' && (await reading.reading.descentFrom(second))).toBe('does-not-descend');
  git(bare, 'tag', '--force', 'v1', third);
  tag.feed.poke();
  expect(await tag.next()).toBe(`read v1@sha1:${third} a.yaml=three`);
  git(bare, 'branch', 'elsewhere');
  git(bare, 'symbolic-ref', 'HEAD', 'refs/heads/elsewhere');
  git(bare, 'branch', '-D', 'main');
  branch.feed.poke();
  expect(await branch.next()).toBe('failed source/unknown-revision');
  branch.feed.poke();
  expect(await branch.isQuiet(300)).toBe(true);
  git(bare, 'branch', 'main', first);
  branch.feed.poke();
  expect(await branch.next()).toBe(`read main@sha1:${first} a.yaml=one`);
  git(bare, 'tag', 'main', third);
  branch.feed.poke();
  expect(await branch.next()).toBe('failed source/ambiguous-revision');
  expect(await follow({ url: `${url}.nosuch` }).next()).toBe('failed source/remote-missing');
});

test('a commit is followed by its id, and the cache may be named from the working directory', async () => {
  const { bare, work, push } = remote({ 'a.yaml': 'one' });
  const first = git(work, 'rev-parse', 'HEAD');
  push({ 'a.yaml': 'two' });
  const cacheFolder = relative(process.cwd(), join(temporaryFolder(), 'cache'));
  const { next } = follow({ url: `file://${bare}`, ref: first }, {}, { cacheFolder });
  expect(await next()).toBe(`read ${first}@sha1:${first} a.yaml=one`);
});

test('a history that is deeper than what was fetched is fetched until it decides', async () => {
  const { bare, work } = remote({ 'a.yaml': 'one' });
  const first = git(work, 'rev-parse', 'HEAD');
  const { next, feed, told, cacheFolder } = follow({ url: `file://${bare}`, ref: 'main' });
  await next();
  for (let n = 0; n < 45; n += 1) git(work, 'commit', '--quiet', '--allow-empty', '-m', `${n}`);
  const last = commit(work, { 'a.yaml': 'two' });
  git(work, 'push', '--quiet', 'origin', 'main');
  feed.poke();
  expect(await next()).toBe(`read main@sha1:${last} a.yaml=two`);
  const [folder = ''] = readdirSync(cacheFolder);
  const mirror = join(cacheFolder, folder);
  const depth = (): number => Number(git(mirror, 'rev-list', '--count', last));
  expect(depth()).toBe(20);
  const state = told.at(-1);
  if (state?.type !== 'read') throw new Error('nothing was read');
  expect(await state.reading.descentFrom(git(work, 'rev-parse', 'HEAD~5'))).toBe('descends');
  expect(depth()).toBe(20);
  expect(await state.reading.descentFrom(first)).toBe('descends');
  expect(depth()).toBe(47);
  expect(await state.reading.descentFrom('0'.repeat(40))).toBe('does-not-descend');
});

test('what cannot be decided without the remote is unknown', async () => {
  const { bare, work } = remote({ 'a.yaml': 'one' });
  const first = git(work, 'rev-parse', 'HEAD');
  for (let n = 0; n < 45; n += 1) git(work, 'commit', '--quiet', '--allow-empty', '-m', `${n}`);
  git(work, 'push', '--quiet', 'origin', 'main');
  const { next, told } = follow({ url: `file://${bare}`, ref: 'main' });
  await next();
  rmSync(bare, { recursive: true });
  const [state] = told;
  expect(state?.type === 'read' && (await state.reading.descentFrom(first))).toBe('unknown');
});

test('while the remote is away what was read stands, and the same failure is not told twice', async () => {
  const { bare, push } = remote({ 'a.yaml': 'one' });
  const { next, feed, isQuiet } = follow({ url: `file://${bare}`, ref: 'main' });
  await next();
  renameSync(bare, `${bare}.away`);
  feed.poke();
  expect(await next()).toBe('failed source/remote-missing');
  feed.poke();
  expect(await isQuiet(300)).toBe(true);
  renameSync(`${bare}.away`, bare);
  const id = push({ 'a.yaml': 'two' });
  feed.poke();
  expect(await next()).toBe(`read main@sha1:${id} a.yaml=two`);
});

test.for<readonly [string, (mirror: string) => void]>([
  ['a lock that a killed fetch has left', (mirror) => write(mirror, 'shallow.lock', '')],
  ['objects that are gone', (mirror) => rmSync(join(mirror, 'objects', 'pack'), { recursive: true })],
  ['a folder that is no repository any more', (mirror) => rmSync(join(mirror, 'refs'), { recursive: true })],
  ['a folder that is gone', (mirror) => rmSync(mirror, { recursive: true })],
])('a mirror heals from %s', async ([, damage]) => {
  const { bare, push } = remote({ 'a.yaml': 'one', 'b.yaml': 'b' });
  const { next, feed, cacheFolder } = follow({ url: `file://${bare}`, ref: 'main' });
  await next();
  damage(join(cacheFolder, readdirSync(cacheFolder)[0] ?? ''));
  const id = push({ 'a.yaml': 'two' });
  feed.poke();
  expect(await next()).toBe(`read main@sha1:${id} a.yaml=two b.yaml=b`);
});

test('neither submodules nor large files nor hooks are fetched or run', async () => {
  const { bare, work } = remote({ 'a.yaml': 'one' });
  const sprung = join(work, 'sprung');
  write(work, '.gitmodules', `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c 'touch ${sprung}'\n`);
  git(work, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},x`);
  write(work, '.lfsconfig', `[lfs]\n\turl = ext::sh -c 'touch ${sprung}'\n`);
  commit(work, {});
  git(work, 'push', '--quiet', 'origin', 'main');
  const { next, cacheFolder } = follow({ url: `file://${bare}`, ref: 'main' });
  expect(await next()).toMatch(/^read main@sha1:\w+ a\.yaml=one( !source\/submodule)?$/);
  expect(existsSync(sprung)).toBe(false);
  const mirror = join(cacheFolder, readdirSync(cacheFolder)[0] ?? '');
  expect(readdirSync(mirror)).not.toContain('hooks');
  expect(readFileSync(join(mirror, 'config'), 'utf8')).not.toContain('ext::');
});

test('many fetches do not pile up', async () => {
  const { bare, push } = remote({ 'a.yaml': '0' });
  const { next, feed, cacheFolder } = follow({ url: `file://${bare}`, ref: 'main' });
  await next();
  for (let n = 1; n <= 22; n += 1) {
    push({ 'a.yaml': `${n}` });
    feed.poke();
    expect(await next()).toContain(`a.yaml=${n}`);
  }
  const mirror = join(cacheFolder, readdirSync(cacheFolder)[0] ?? '');
  const packs = (): number =>
    readdirSync(join(mirror, 'objects', 'pack')).filter((name) => name.endsWith('.pack')).length;
  feed.poke();
  await expect.poll(packs).toBeLessThan(20);
});
