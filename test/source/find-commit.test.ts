import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listen } from './feeds.ts';
import { commit, git, repository, temporaryFolder } from './repositories.ts';

test('a commit that was never read by itself is found by the first digits of its id, with what it is known by', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const first = git(root, 'rev-parse', 'HEAD');
  const { feed, next } = listen([root]);
  expect(await feed.findCommit(first)).toEqual({ found: 'none' });
  await next();
  git(
    root,
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'Widen the \u202egate\n\nBecause of this.',
    '--author',
    'Bo <bo@example.com>',
  );
  const second = git(root, 'rev-parse', 'HEAD');
  const third = commit(root, { 'a.yaml': 'two' });
  expect(await next()).toMatch(third);
  const found = await feed.findCommit(second.slice(0, 12));
  if (found.found !== 'one') throw new Error(`it was not found: ${found.found}`);
  expect(found.commit).toEqual({
    id: second,
    author: 'Bo <bo@example.com>',
    subject: 'Widen the \\u202egate',
    committedMs: Number(git(root, 'log', '-1', '--format=%ct', second)) * 1000,
  });
  expect(await found.descent(third)).toBe('descends');
  expect(await found.descent(first)).toBe('does-not-descend');
  for (const text of ['HEAD', 'abc', `${second.slice(0, 8)}~1`, '0'.repeat(40), '--all'])
    expect(await feed.findCommit(text), text).toEqual({ found: 'none' });
});

test('many callers at once cannot start as many processes: some wait, and further ones are refused', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const older = git(root, 'rev-parse', 'HEAD');
  const newest = commit(root, { 'a.yaml': 'two' });
  const { feed, next } = listen([root]);
  await next();
  const found = await feed.findCommit(older);
  if (found.found !== 'one') throw new Error(`it was not found: ${found.found}`);
  const questions: readonly (() => Promise<unknown>)[] = [() => found.descent(newest), () => feed.findCommit(older)];
  for (const ask of questions) {
    const answers = await Promise.allSettled(Array.from({ length: 40 }, ask));
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(40 - 18);
    for (const one of refused) expect(one).toMatchObject({ reason: { code: 'source/too-many-lookups' } });
  }
  expect(await found.descent(newest), 'afterwards').toBe('descends');
});

test('a blob or a tree is no commit, and plain files have none', async () => {
  const root = repository({ 'a.yaml': 'one' });
  const { feed, next } = listen([root]);
  await next();
  expect(await feed.findCommit(git(root, 'rev-parse', 'HEAD:a.yaml'))).toEqual({ found: 'none' });
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'a.yaml'), 'one');
  const plain = listen([folder]);
  await plain.next();
  expect(await plain.feed.findCommit('abcdef')).toEqual({ found: 'none' });
});
