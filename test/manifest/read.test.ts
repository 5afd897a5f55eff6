import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { LIMITS } from '../../src/manifest/limits.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import { type ManifestFileSystem, nodeFileSystem, readSources } from '../../src/manifest/read.ts';
import { directCalls, type OpenFile, patientCalls, type SystemCalls } from '../../src/manifest/system-calls.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portolan-read-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text = path): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const waysToCall: readonly { readonly way: string; readonly calls: () => SystemCalls }[] = [
  { way: 'patiently', calls: () => patientCalls },
  { way: 'directly', calls: directCalls },
];

describe.for(waysToCall)('files that are read $way', ({ calls }) => {
  async function read(
    paths: readonly string[],
    fs: ManifestFileSystem = nodeFileSystem(async function* () {}, calls()),
    exclude: readonly string[] = [],
  ) {
    const { files, problems } = await readSources(paths, fs, { exclude });
    const shown = (path: string) => path.replace(`${folder}/`, '').replace(folder, '.');
    return {
      files: files.map(({ path }) => shown(path)),
      texts: files.map(({ content }) => Buffer.from(content).toString()),
      problems: problems.map(({ code, position }) => `${code} ${shown(position.file)}`),
    };
  }

  test('a folder is read to its depth, in the order of code units, manifests only, hidden names left out', async () => {
    for (const path of [
      'b.yaml',
      'a/z.yml',
      'a/A.json',
      'a.txt',
      'README.md',
      '.git/config.yaml',
      '.hidden.yaml',
      'a/.x/y.yaml',
      'Z.yaml',
      'é.yaml',
    ])
      write(path);
    expect(await read([folder])).toEqual({
      files: ['Z.yaml', 'a/A.json', 'a/z.yml', 'b.yaml', 'é.yaml'],
      texts: ['Z.yaml', 'a/A.json', 'a/z.yml', 'b.yaml', 'é.yaml'],
      problems: [],
    });
  });

  test('a folder with a skip marker is left out with all below it, unless it is named itself', async () => {
    for (const path of ['a.yaml', 'deploy/chart.yaml', 'deploy/.portolan-skip', 'deploy/deep/b.yaml', 'on/c.yaml'])
      write(path);
    expect((await read([folder])).files).toEqual(['a.yaml', 'on/c.yaml']);
    expect((await read([join(folder, 'deploy')])).files).toEqual(['deploy/chart.yaml', 'deploy/deep/b.yaml']);
  });

  test('a file that is named is read whatever it is called, and each file once', async () => {
    write('a/web.txt');
    write('a/b.yaml');
    const { files } = await read([join(folder, 'a/web.txt'), join(folder, 'a'), join(folder, 'a/b.yaml'), folder]);
    expect(files).toEqual(['a/web.txt', 'a/b.yaml']);
  });

  test('the configuration file may lie among the manifests', async () => {
    write('portolan.yaml');
    write('app.yaml');
    const fs = nodeFileSystem(async function* () {}, calls());
    expect((await read([folder], fs, [join(folder, 'portolan.yaml'), join(folder, 'none.yaml')])).files).toEqual([
      'app.yaml',
    ]);
  });

  test('links are followed to files within the folder, as a mounted ConfigMap has them, and nowhere else', async () => {
    write('outside/secret.yaml');
    write('in/..2026/app.yaml', 'mounted');
    write('in/plain.yaml');
    symlinkSync('..2026', join(folder, 'in/..data'));
    symlinkSync('..data/app.yaml', join(folder, 'in/app.yaml'));
    symlinkSync('plain.yaml', join(folder, 'in/again.yaml'));
    symlinkSync('../outside/secret.yaml', join(folder, 'in/stolen.yaml'));
    symlinkSync('../outside', join(folder, 'in/stolen'));
    symlinkSync('.', join(folder, 'in/circle'));
    symlinkSync('gone.yaml', join(folder, 'in/broken.yaml'));
    const { files, texts, problems } = await read([join(folder, 'in')]);
    expect(files).toEqual(['in/again.yaml', 'in/app.yaml']);
    expect(texts).toEqual(['in/plain.yaml', 'mounted']);
    expect(problems).toEqual(['source/unreadable in/broken.yaml', 'source/link in/stolen.yaml']);
  });

  test('a folder whose name starts like the one that was named is not within it', async () => {
    write('in-secret/app.yaml');
    write('in/own.yaml');
    symlinkSync('../in-secret/app.yaml', join(folder, 'in/app.yaml'));
    expect((await read([join(folder, 'in')])).problems).toEqual(['source/link in/app.yaml']);
  });

  /** The real files, of which a link takes the place of one as soon as a folder has been listed. */
  function replacing(path: string, target: string, listed: string): ManifestFileSystem {
    const real = nodeFileSystem(async function* () {}, calls());
    return {
      ...real,
      async list(at) {
        const entries = await real.list(at);
        if (at.endsWith(listed)) {
          rmSync(join(folder, path), { recursive: true });
          symlinkSync(target, join(folder, path));
        }
        return entries;
      },
    };
  }

  test('a link that takes the place of a file after it was listed is not followed', async () => {
    write('outside.yaml', 'secret');
    write('in/app.yaml');
    const { texts, problems } = await read([join(folder, 'in')], replacing('in/app.yaml', '../outside.yaml', 'in'));
    expect(texts).toEqual([]);
    expect(problems).toEqual(['source/unreadable in/app.yaml']);
  });

  test.for(['in', 'in/deep'])(
    'a folder that is replaced by a link once %s is listed gives nothing away',
    async (when) => {
      write('outside/app.yaml', 'secret');
      write('in/deep/app.yaml');
      const { texts, problems } = await read([join(folder, 'in')], replacing('in/deep', '../outside', when));
      expect(texts).toEqual([]);
      expect(problems).toEqual(['source/unreadable in/deep/app.yaml']);
    },
  );

  /** Opens the real file, which then says or does something else. */
  function opening(change: (file: OpenFile) => Partial<OpenFile>): ManifestFileSystem {
    const real = calls();
    return nodeFileSystem(async function* () {}, {
      ...real,
      async open(path) {
        const file = await real.open(path);
        return {
          stat: () => file.stat(),
          read: (...of) => file.read(...of),
          close: () => file.close(),
          ...change(file),
        };
      },
    });
  }

  test('a file that comes in pieces is read whole', async () => {
    write('in/app.yaml', 'all of it');
    const inPieces = opening((file) => ({
      read: (buffer, offset, length) => file.read(buffer, offset, Math.min(2, length)),
    }));
    expect(await read([join(folder, 'in')], inPieces)).toMatchObject({ texts: ['all of it'], problems: [] });
  });

  test('a file that grows while it is read is not taken for what it was', async () => {
    write('in/app.yaml', 'half');
    const growing = opening((file) => ({
      async stat() {
        const stats = await file.stat();
        writeFileSync(join(folder, 'in/app.yaml'), 'half, and the rest of it');
        return stats;
      },
    }));
    const { texts, problems } = await read([join(folder, 'in')], growing);
    expect(texts).toEqual([]);
    expect(problems).toEqual(['source/unreadable in/app.yaml']);
  });

  test('what cannot be read is a problem, and the rest is read', async () => {
    write('a.yaml');
    const server = createServer().listen(join(folder, 'socket.yaml'));
    await once(server, 'listening');
    mkdirSync(join(folder, 'folder.yaml'));
    const { files, problems } = await read([join(folder, 'none'), folder]);
    server.close();
    expect(files).toEqual(['a.yaml']);
    expect(problems).toEqual(['source/not-found none', 'source/unreadable socket.yaml']);
  });

  test('standard input is one file, read once and up to the limit', async () => {
    const fs = nodeFileSystem(async function* () {
      yield Buffer.from('kind: ');
      yield Buffer.from('X');
    }, calls());
    expect(await read(['-', '-'], fs)).toEqual({ files: ['<stdin>'], texts: ['kind: X'], problems: [] });
    let given = 0;
    const endless = nodeFileSystem(async function* () {
      for (;;) {
        given += 65_536;
        yield Buffer.alloc(65_536, '#');
      }
    }, calls());
    const { files } = await readSources(['-'], endless);
    expect(given).toBeLessThanOrEqual(LIMITS.fileBytes + 2 * 65_536);
    expect(loadManifests({ kinds: kindDeclarations, files }).problems.map(({ code }) => code)).toEqual([
      'limit/file-size',
    ]);
  });

  test('a file over the limit is not read whole, and is reported', async () => {
    write('big.yaml', '#'.repeat(LIMITS.fileBytes * 3));
    write('full.yaml', '#'.repeat(LIMITS.fileBytes));
    const { files } = await readSources(
      [folder],
      nodeFileSystem(async function* () {}, calls()),
    );
    expect(files.map(({ content }) => content.length)).toEqual([LIMITS.fileBytes + 1, LIMITS.fileBytes]);
    expect(
      loadManifests({ kinds: kindDeclarations, files }).problems.map(
        ({ code, position }) => `${code} ${position.file.slice(-8)}`,
      ),
    ).toEqual(['limit/file-size big.yaml']);
  });
});

test.for([
  ['files', '.yaml', 100],
  ['folders without a manifest', '/README.md', 0],
] as const)('whoever reads many %s directly still hears a signal meanwhile', async ([, rest, count]) => {
  for (let index = 0; index < 100; index += 1) write(`${index}${rest}`);
  const fs = nodeFileSystem(async function* () {}, directCalls());
  let hasEnded = false;
  const reading = readSources([folder], fs).finally(() => (hasEnded = true));
  await nextTurn();
  expect(hasEnded).toBe(false);
  expect((await reading).files).toHaveLength(count);
});
