import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { defaultSettings } from '../../src/configuration/configuration.ts';
import { LIMITS } from '../../src/manifest/limits.ts';
import type { SourceFile } from '../../src/manifest/text.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { PathInCommit } from '../../src/source/checkout.ts';
import { type CommitMemory, type ReadCommit, readCommit } from '../../src/source/commit-source.ts';
import { Git } from '../../src/source/git.ts';
import { ObjectReader } from '../../src/source/objects.ts';
import { git, repository } from './repositories.ts';

type Entry = { readonly mode: string; readonly id: string };

/** One repository, and commits of exactly these entries in it. */
class Scene {
  readonly root = repository({ 'x.txt': '' });
  readonly git = new Git(this.root, {
    clock: systemClock,
    path: process.env.PATH,
    signal: new AbortController().signal,
  });
  readonly objects = new ObjectReader(this.git);
  readonly entries = new Map<string, Entry>();
  readonly #blobs = new Map<string, string>();

  constructor() {
    onTestFinished(() => this.objects.close());
  }

  put(path: string, content: string, mode = '100644'): void {
    const known = this.#blobs.get(content);
    const id =
      known ??
      execFileSync('git', ['-C', this.root, 'hash-object', '-w', '--stdin'], {
        input: content,
        encoding: 'utf8',
      }).trim();
    this.#blobs.set(content, id);
    this.entries.set(path, { mode, id: mode === '160000' ? '1'.repeat(40) : id });
  }

  /** Names are Latin-1, so that any bytes can stand in them. */
  commit(): string {
    rmSync(join(this.root, '.git', 'index'), { force: true });
    const lines = [...this.entries].map(([path, { mode, id }]) => Buffer.from(`${mode} ${id}\t${path}\0`, 'latin1'));
    execFileSync('git', ['-C', this.root, 'update-index', '-z', '--index-info'], { input: Buffer.concat(lines) });
    return git(this.root, 'commit-tree', '-m', 'x', git(this.root, 'write-tree'));
  }

  read(
    commit: string,
    paths: readonly string[],
    exclude: readonly string[],
    known?: CommitMemory,
  ): Promise<ReadCommit> {
    const inCommit = paths.map((within): PathInCommit => ({ named: `/at/${within}`, within }));
    const { limits } = defaultSettings().source;
    const reading = { git: this.git, objects: this.objects, commit, paths: inCommit, exclude, limits };
    return readCommit(known === undefined ? reading : { ...reading, known });
  }
}

function told({ files, problems }: ReadCommit) {
  return {
    files: files
      .map(({ path, contentId, content }) => `${path} ${contentId} ${Buffer.from(content).toString()}`)
      .toSorted(),
    problems: problems.map(({ code, position, message }) => `${code} ${position.file} ${message}`).toSorted(),
  };
}

const NAMES = ['a.yaml', 'b.yml', 'c.json', 'd.txt', '.hidden.yaml', 'caf\xe9.yaml', 'caf\xe8.yaml'];
const FOLDERS = ['', 'm/', 'm/n/', 'm/n/o/', 'm/\xe9/', 'm/\xe8/', 'p/', '.q/'];

function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function alter(scene: Scene, random: (below: number) => number): void {
  const paths = [...scene.entries.keys()];
  const some = paths[random(paths.length)];
  const path = `${FOLDERS[random(FOLDERS.length)]}${NAMES[random(NAMES.length)]}`;
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 1\n`;
  const choice = random(12);
  if (choice < 5) scene.put(path, `content ${random(6)}`);
  else if (choice === 5) scene.put(path, 'target', '120000');
  else if (choice === 6) scene.put(path, '', '160000');
  else if (choice === 7) scene.put(path, pointer);
  else if (choice === 8) scene.put(path, 'x'.repeat(LIMITS.fileBytes + 1));
  else if (choice === 9) scene.put(`${FOLDERS[1 + random(FOLDERS.length - 1)]}.portolan-skip`, '');
  else if (some !== undefined) {
    const entry = scene.entries.get(some);
    scene.entries.delete(some);
    // Moved as it is, or gone.
    if (choice === 10 && entry !== undefined) scene.entries.set(path, entry);
  }
}

test.for([
  { paths: [''], exclude: ['m/a.yaml'] },
  { paths: ['m'], exclude: [] },
  { paths: ['m/n', '', 'm', 'm/a.yaml', 'd.txt'], exclude: ['b.yml'] },
  { paths: ['p', '.q', 'm/n/o', 'm/n/a.yaml'], exclude: [] },
])(
  '$paths without $exclude: what is gone on with is what is read anew',
  async ({ paths, exclude }, { expect: hold }) => {
    const scene = new Scene();
    const random = numbers(paths.join().length + 7);
    let known: CommitMemory | undefined;
    for (let turn = 0; turn < 40; turn += 1) {
      for (let change = random(3); change >= 0; change -= 1) alter(scene, random);
      const commit = scene.commit();
      const anew = await scene.read(commit, paths, exclude);
      const further = await scene.read(commit, paths, exclude, known);
      hold(told(further), `turn ${turn}`).toEqual(told(anew));
      hold(new Set(further.files.map(({ path }) => path)).size).toBe(further.files.length);
      // Of the same commit, the very same files; of another exclusion, nothing that was kept.
      const again = await scene.read(commit, paths, exclude, further.memory);
      hold(again.files.length).toBe(further.files.length);
      hold(again.files.every((file, index) => file === further.files[index])).toBe(true);
      const other = [...exclude, 'm/b.yml'];
      hold(told(await scene.read(commit, paths, other, further.memory))).toEqual(
        told(await scene.read(commit, paths, other)),
      );
      known = further.memory;
    }
  },
);

test('one changed file is read; the others are the same objects, and a file that moved is not read again', async () => {
  const scene = new Scene();
  for (const folder of ['a', 'b', 'b/c'])
    for (const name of ['1.yaml', '2.yaml']) scene.put(`${folder}/${name}`, `${folder} ${name}`);
  const first = await scene.read(scene.commit(), [''], []);
  expect([first.files.length, contentsOf(first).size]).toEqual([6, 6]);
  scene.put('b/1.yaml', 'changed');
  const second = await scene.read(scene.commit(), [''], [], first.memory);
  expect(contentsOf(second).difference(contentsOf(first)).size).toBe(1);
  const before = new Set(first.files);
  expect(second.files.filter((file) => !before.has(file)).map(({ path }) => path)).toEqual(['/at/b/1.yaml']);
  const moved = scene.entries.get('a/1.yaml');
  if (moved === undefined) throw new Error('it was put there');
  scene.entries.delete('a/1.yaml');
  scene.entries.set('z/9.yaml', moved);
  const third = await scene.read(scene.commit(), [''], [], second.memory);
  expect(contentsOf(third).difference(contentsOf(second)).size).toBe(0);
  expect(told(third).files).toContain(`/at/z/9.yaml ${moved.id} a 1.yaml`);
});

test('two names that cannot be told apart are a problem, and neither is read', async () => {
  const scene = new Scene();
  scene.put('caf\xe9.yaml', 'one');
  scene.put('caf\xe8.yaml', 'two');
  scene.put('sound.yaml', 'three');
  const { files, problems } = await scene.read(scene.commit(), [''], []);
  expect(files.map(({ path }) => path)).toEqual(['/at/sound.yaml']);
  expect(problems.map(({ code, position }) => `${code} ${position.file}`)).toEqual([
    'source/unreadable-name /at/caf\ufffd.yaml',
    'source/unreadable-name /at/caf\ufffd.yaml',
  ]);
});

function contentsOf({ files }: ReadCommit): ReadonlySet<SourceFile['content']> {
  return new Set(files.map(({ content }) => content));
}
