import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listen, shown } from './feeds.ts';
import { commit, git, repository, temporaryFolder, write } from './repositories.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** A reading without the digest in its revision. */
const bare = (line: string): string => line.replace(/sha256:[0-9a-f]{64}/, '');

test('plain files are read, and again when they change, also by no more than a time that was set back', async () => {
  const root = temporaryFolder();
  write(root, 'a.yaml', 'one');
  write(root, 'deep/b.yml', 'b');
  write(root, '.hidden/c.yaml', 'c');
  write(root, 'notes.txt', 'x');
  const { next, isQuiet, told } = listen([root]);
  expect(bare(await next())).toBe('read files@ a.yaml=one b.yml=b');
  write(root, 'notes.txt', 'y');
  write(root, '.hidden/d.yaml', 'd');
  write(root, 'a.yaml', 'one');
  expect(await isQuiet(500)).toBe(true);
  write(root, 'a.yaml', 'two');
  utimesSync(join(root, 'a.yaml'), 1, 1);
  expect(bare(await next())).toBe('read files@ a.yaml=two b.yml=b');
  rmSync(join(root, 'deep'), { recursive: true });
  expect(bare(await next())).toBe('read files@ a.yaml=two');
  write(root, 'a.yaml', 'one');
  write(root, 'deep/b.yml', 'b');
  expect(bare(await next())).toBe('read files@ a.yaml=one b.yml=b');
  const [first, , , last] = told.map((state) => (state.type === 'read' ? state.reading : undefined));
  expect(last?.revision).toBe(first?.revision);
  expect(first?.commit).toBeNull();
  expect(await first?.descentFrom('0'.repeat(40))).toBe('unknown');
});

test('files that are written one after another are taken only as a whole', async () => {
  const root = temporaryFolder();
  const generation = (n: number): string =>
    Array.from({ length: 12 }, (_, file) => `${file}.yaml=${n}`)
      .sort()
      .join(' ');
  const writeAll = async (n: number): Promise<void> => {
    for (let file = 0; file < 12; file += 1) {
      write(root, `${file}.yaml`, '');
      await pause(8);
      appendFileSync(join(root, `${file}.yaml`), `${n}`);
      await pause(8);
    }
  };
  await writeAll(1);
  const { next, told, feed } = listen([root]);
  expect(bare(await next())).toBe(`read files@ ${generation(1)}`);
  for (const n of [2, 3]) {
    const writing = writeAll(n);
    for (let poke = 0; poke < 8; poke += 1) {
      feed.poke();
      await pause(20);
    }
    await writing;
    expect(bare(await next())).toBe(`read files@ ${generation(n)}`);
  }
  expect(told.map((state) => bare(shown(state)))).toHaveLength(3);
});

test('a link to a folder that is flipped, and one within a mounted ConfigMap', async () => {
  const parent = temporaryFolder();
  write(parent, 'v1/a.yaml', 'a1');
  write(parent, 'v2/a.yaml', 'a2');
  symlinkSync('v1', join(parent, 'current'));
  const flipped = listen([join(parent, 'current')]);
  expect(bare(await flipped.next())).toBe('read files@ a.yaml=a1');
  symlinkSync('v2', join(parent, 'next'));
  renameSync(join(parent, 'next'), join(parent, 'current'));
  expect(bare(await flipped.next())).toBe('read files@ a.yaml=a2');

  const mount = temporaryFolder();
  write(mount, '..2026_1/a.yaml', 'a1');
  write(mount, '..2026_1/b.yaml', 'b1');
  write(mount, '..2026_2/a.yaml', 'a2');
  write(mount, '..2026_2/b.yaml', 'b2');
  symlinkSync('..2026_1', join(mount, '..data'));
  for (const name of ['a.yaml', 'b.yaml']) symlinkSync(`..data/${name}`, join(mount, name));
  const mounted = listen([mount]);
  expect(bare(await mounted.next())).toBe('read files@ a.yaml=a1 b.yaml=b1');
  symlinkSync('..2026_2', join(mount, '..data_tmp'));
  renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
  expect(bare(await mounted.next())).toBe('read files@ a.yaml=a2 b.yaml=b2');
});

test('a folder that goes is not an empty one, and is read when it is back', async () => {
  const root = join(temporaryFolder(), 'manifests');
  const { next, isQuiet } = listen([root]);
  expect(await next()).toBe('failed source/not-found');
  expect(await isQuiet(300)).toBe(true);
  write(root, 'a.yaml', 'one');
  expect(bare(await next())).toBe('read files@ a.yaml=one');
  rmSync(root, { recursive: true });
  let gone = await next();
  // The file may be seen to go before its folder does.
  if (bare(gone) === 'read files@') gone = await next();
  expect(gone).toBe('failed source/not-found');
  mkdirSync(root);
  expect(bare(await next())).toBe('read files@');
});

test('a checkout that loses its .git is broken, and not a folder of files', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const { next, feed } = listen([root]);
  expect(await next()).toMatch(/^read HEAD@sha1/);
  renameSync(join(root, '.git'), join(root, 'away'));
  feed.poke();
  expect(await next()).toBe('failed source/no-repository');
  renameSync(join(root, 'away'), join(root, '.git'));
  const id = commit(root, { 'a.yaml': 'two', '.gitignore': '/away' });
  expect(await next()).toBe(`read HEAD@sha1:${id} a.yaml=two`);
  expect(git(root, 'rev-parse', 'HEAD')).toBe(id);
});

test('plain files are refused where a commit, a ref or a signature is asked for', async () => {
  const root = temporaryFolder();
  write(root, 'a.yaml', 'one');
  const signatures = { by: 'ssh', keys: '/nowhere/allowed' } as const;
  for (const changes of [{ isRepository: true }, { ref: 'main' }, { settings: { signatures } }])
    expect(await listen([root], changes).next()).toBe('failed source/no-repository');
});
