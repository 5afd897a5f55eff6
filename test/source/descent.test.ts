import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { Git } from '../../src/source/git.ts';
import { ageOf, descentFrom } from '../../src/source/revision.ts';
import { commit, git, repository, temporaryFolder } from './repositories.ts';

const gitOf = (root: string): Git =>
  new Git(root, { clock: systemClock, path: process.env.PATH, signal: new AbortController().signal });
const descent = (root: string, at: string, ancestor: string) => descentFrom(gitOf(root), at, ancestor);
const age = (root: string, at: string, other: string) => ageOf(gitOf(root), at, other);

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

test('a checkout is older than a commit that it has not fetched or not merged, and a rewritten one is not', async () => {
  const root = repository({ 'a.yaml': '1' });
  const first = git(root, 'rev-parse', 'HEAD');
  const clone = join(temporaryFolder(), 'clone');
  git(root, 'clone', '--quiet', `file://${root}`, clone);
  const second = commit(root, { 'a.yaml': '2' });
  expect(await age(clone, first, second), 'not fetched').toBe('older');
  git(clone, 'fetch', '--quiet');
  expect(await age(clone, first, second), 'not merged').toBe('older');
  git(clone, 'merge', '--quiet', '--ff-only', 'FETCH_HEAD');
  expect(await age(clone, second, second)).toBe('not-older');
  expect(await age(clone, second, first)).toBe('not-older');
  git(clone, 'checkout', '--quiet', '-b', 'beside', first);
  const beside = commit(clone, { 'a.yaml': '3' });
  expect(await age(clone, beside, second), 'rewritten').toBe('not-older');
  const shallow = join(temporaryFolder(), 'shallow');
  git(root, 'clone', '--quiet', '--depth=1', `file://${root}`, shallow);
  expect(await age(shallow, second, first), 'its history is too short').toBe('unknown');
});
