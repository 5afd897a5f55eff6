import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { Git } from '../../src/source/git.ts';
import { descentFrom } from '../../src/source/revision.ts';
import { commit, git, repository, temporaryFolder } from './repositories.ts';

const descent = (root: string, at: string, ancestor: string) =>
  descentFrom(
    new Git(root, { clock: systemClock, path: process.env.PATH, signal: new AbortController().signal }),
    at,
    ancestor,
  );

test('a commit descends from itself and from what came before it, and not from what came after or beside it', async () => {
  const root = repository({ 'a.yaml': '1' });
  const first = git(root, 'rev-parse', 'HEAD');
  const second = commit(root, { 'a.yaml': '2' });
  git(root, 'checkout', '--quiet', '-b', 'beside', first);
  const beside = commit(root, { 'a.yaml': '3' });
  git(root, 'merge', '--quiet', '--strategy=ours', '-m', 'merge', second);
  const merge = git(root, 'rev-parse', 'HEAD');
  for (const [at, ancestor, expected] of [
    [second, second, 'descends'],
    [second, first, 'descends'],
    [merge, second, 'descends'],
    [merge, beside, 'descends'],
    [first, second, 'does-not-descend'],
    [beside, second, 'does-not-descend'],
    [second, '1'.repeat(40), 'does-not-descend'],
    [second, 'refs/heads/main', 'unknown'],
  ] as const)
    expect(await descent(root, at, ancestor), `${at} from ${ancestor}`).toBe(expected);
});

test('a clone that was cut short proves descent within what it has, and disproves none', async () => {
  const root = repository({ 'a.yaml': '1' });
  const first = git(root, 'rev-parse', 'HEAD');
  const second = commit(root, { 'a.yaml': '2' });
  const third = commit(root, { 'a.yaml': '3' });
  const clone = join(temporaryFolder(), 'clone');
  git(root, 'clone', '--quiet', '--depth=2', `file://${root}`, clone);
  expect(await descent(clone, third, second)).toBe('descends');
  expect(await descent(clone, third, first)).toBe('unknown');
  expect(await descent(clone, second, third)).toBe('unknown');
  git(clone, 'fetch', '--quiet', '--unshallow');
  expect(await descent(clone, third, first)).toBe('descends');
  expect(await descent(clone, second, third)).toBe('does-not-descend');
});
