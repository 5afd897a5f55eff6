import fs, { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { putInPlace, writeWholeFile } from '../../src/cli/session/files.ts';
import { folderOf } from './platform.ts';

const PARTIAL = 'out.json.portolan-partial';

/** Lets another process act right after a call of ours. */
function after(call: 'renameSync' | 'rmSync', act: () => void): void {
  const real = fs[call] as (...args: unknown[]) => void;
  const replace = (by: typeof real): void => {
    Object.assign(fs, { [call]: by });
    syncBuiltinESMExports();
  };
  replace((...args) => {
    replace(real);
    real(...args);
    act();
  });
  onTestFinished(() => replace(real));
}

test('a file that has its name is written, whatever another process puts beside it', () => {
  const folder = folderOf({});
  const [file, partial] = [join(folder, 'out.json'), join(folder, PARTIAL)];
  after('renameSync', () => writeFileSync(partial, 'half of theirs'));
  writeWholeFile(file, 'ours');
  expect(readFileSync(file, 'utf8')).toBe('ours');
  expect(readFileSync(partial, 'utf8')).toBe('half of theirs');
});

test('a file that has its name is written, although nothing can be removed beside it', () => {
  const folder = folderOf({});
  after('renameSync', () => mkdirSync(join(folder, PARTIAL)));
  writeWholeFile(join(folder, 'out.json'), 'ours');
  expect(readFileSync(join(folder, 'out.json'), 'utf8')).toBe('ours');
});

test('the partial file of another process, begun at the same time, stays', () => {
  const folder = folderOf({ 'out.json': 'old' });
  const partial = join(folder, PARTIAL);
  after('rmSync', () => writeFileSync(partial, 'half of theirs'));
  expect(() => writeWholeFile(join(folder, 'out.json'), 'ours')).toThrow(/cannot be written: something else is there/);
  expect(readFileSync(partial, 'utf8')).toBe('half of theirs');
  expect(readFileSync(join(folder, 'out.json'), 'utf8')).toBe('old');
});

test('a failed write leaves no partial file, and says why it failed', () => {
  const folder = folderOf({ 'out.json': 'old' });
  const write = (act: () => void) => (): void => {
    act();
    throw new Error('no more lines');
  };
  const put = (act = (): void => {}): void => putInPlace(join(folder, 'out.json'), 0o600, write(act));
  expect(() => put()).toThrow('no more lines');
  expect(readdirSync(folder)).toEqual(['out.json']);
  const partial = join(folder, PARTIAL);
  const block = (): void => {
    rmSync(partial);
    mkdirSync(partial);
  };
  expect(() => put(block)).toThrow('no more lines');
  expect(existsSync(partial)).toBe(true);
  expect(readFileSync(join(folder, 'out.json'), 'utf8')).toBe('old');
});
