import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { requireKnownPaths } from '../../src/source/known-paths.ts';
import { runHere } from '../cli/running.ts';
import { commit, repository, temporaryFolder, write } from './repositories.ts';

const surroundings = { clock: systemClock, path: process.env.PATH, signal: new AbortController().signal };
const require = (path: string, ref = 'HEAD') => requireKnownPaths([path], ref, surroundings);

test('a path that never existed in the source is refused; one that is gone, new, or still to be fetched is not', async () => {
  const folder = repository({ 'old/a.yaml': 'a: 1', 'here/b.yaml': 'b: 1' });
  commit(folder, { 'old/a.yaml': undefined });
  write(folder, 'new/c.yaml', 'c: 1');
  for (const path of ['here', 'old', 'new', 'missing/manifests']) await require(join(folder, path));
  await require(join(folder, 'nope'), 'no-such-branch');
  await require(join(repository(), 'nope'));
  await expect(require(join(folder, 'nope'))).rejects.toMatchObject({ code: 'source/not-found' });

  const plain = temporaryFolder();
  await require(join(plain, 'current'));
  mkdirSync(join(plain, 'shop'));
  await expect(require(join(plain, 'nope'))).rejects.toMatchObject({ code: 'source/not-found' });
});

test('run of a mistyped path ends with 3 and leaves no ledger', async () => {
  const folder = temporaryFolder();
  write(folder, 'portolan.yaml', '');
  const ledger = join(folder, 'portolan.db');
  const args = ['run', '-f', join(folder, 'nope'), '--ledger', ledger, '--config', join(folder, 'portolan.yaml')];
  const run = await runHere(args, { env: { PATH: process.env.PATH } });
  expect(run.code).toBe(3);
  expect(run.err).toContain('nope exists neither on disk nor in the history of its repository. Nothing was started.');
  expect(existsSync(ledger)).toBe(false);
});
