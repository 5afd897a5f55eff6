import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { follow, type Remote, remote } from './remotes.ts';
import { commit, git, temporaryFolder, write } from './repositories.ts';

/** Names of a branch and of a tag, as a user configures them, with the ref of the remote. */
const REFS = [
  ['main', 'refs/heads/main'],
  ['v1', 'refs/tags/v1'],
] as const;

/**
 * Returns a PATH with a git that moves a ref of the remote once, right before a fetch whose arguments contain a text.
 * @param option of the fetch: `--depth` for the first one of a ref, `--deepen` for more history.
 */
function racingPath({ bare }: Remote, option: string, ref: string) {
  const folder = temporaryFolder();
  const order = join(folder, 'order');
  const [own = ''] = (process.env.PATH ?? '').split(':').filter((place) => existsSync(join(place, 'git')));
  const program = join(own, 'git');
  const script = `#!/bin/sh
case " $* " in
  *" fetch "*" ${option}"*)
    if [ -f ${order} ]; then
      id=$(cat ${order}); rm ${order}
      env -u GIT_DIR ${program} -C ${bare} update-ref ${ref} "$id"
    fi ;;
esac
exec ${program} "$@"
`;
  write(folder, 'bin/git', script);
  chmodSync(join(folder, 'bin', 'git'), 0o755);
  return {
    path: `${join(folder, 'bin')}:${process.env.PATH}`,
    /** Makes the remote move the ref to an object before the next such fetch. */
    moveTo: (id: string): void => write(folder, 'order', id),
    isDone: (): boolean => !existsSync(order),
  };
}

/** Sets a ref of the remote, by force. */
function set({ bare }: Remote, ref: string, id: string): void {
  git(bare, 'update-ref', ref, id);
}

/** Returns the annotated tag of a commit, or the commit itself for a branch. */
function objectFor({ work, bare }: Remote, ref: string, id: string): string {
  git(work, 'push', '--quiet', '--force', 'origin', `${id}:refs/keep/${id}`);
  if (!ref.startsWith('refs/tags/')) return id;
  git(bare, 'tag', '--force', '--annotate', '-m', 'x', 'made', id);
  return git(bare, 'rev-parse', 'refs/tags/made');
}

test.for(REFS)('a commit that was withdrawn from %s right after its fetch is no longer read', async ([name, ref]) => {
  const source = remote({ 'a.yaml': 'one' });
  const first = git(source.work, 'rev-parse', 'HEAD');
  const second = commit(source.work, { 'a.yaml': 'two' });
  const mistake = commit(source.work, { 'a.yaml': 'mistake' });
  const [one, two, wrong] = [first, second, mistake].map((id) => objectFor(source, ref, id)) as [
    string,
    string,
    string,
  ];
  set(source, ref, one);
  const { path, moveTo, isDone } = racingPath(source, '--depth', ref);
  const { next, feed } = follow({ url: `file://${source.bare}`, ref: name }, {}, { path });
  expect(await next()).toBe(`read ${name}@sha1:${first} a.yaml=one`);

  set(source, ref, two);
  moveTo(wrong);
  feed.poke();
  expect(await next()).toBe(`read ${name}@sha1:${mistake} a.yaml=mistake`);
  expect(isDone()).toBe(true);

  set(source, ref, two);
  feed.poke();
  expect(await next()).toBe(`read ${name}@sha1:${second} a.yaml=two`);
});

test('a commit that was withdrawn right after more history was fetched is no longer read', async () => {
  const source = remote({ 'a.yaml': 'one' });
  const first = git(source.work, 'rev-parse', 'HEAD');
  for (let n = 0; n < 22; n += 1) git(source.work, 'commit', '--quiet', '--allow-empty', '-m', `${n}`);
  const last = commit(source.work, { 'a.yaml': 'two' });
  const mistake = commit(source.work, { 'a.yaml': 'mistake' });
  const ref = 'refs/heads/main';
  objectFor(source, ref, mistake);
  set(source, ref, last);
  const { path, moveTo, isDone } = racingPath(source, '--deepen', ref);
  const { next, feed, told } = follow({ url: `file://${source.bare}`, ref: 'main' }, {}, { path });
  expect(await next()).toBe(`read main@sha1:${last} a.yaml=two`);

  moveTo(mistake);
  const state = told.at(-1);
  expect(state?.type === 'read' && (await state.reading.descentFrom(first))).toBe('descends');
  expect(isDone()).toBe(true);
  set(source, ref, last);
  feed.confirm();
  expect(await next()).toBe(`read main@sha1:${last} a.yaml=two`);
});
