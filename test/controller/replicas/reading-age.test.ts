import { hash } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SourceReading } from '../../../src/source/feed.ts';
import { listen } from '../../source/feeds.ts';
import { commit, git, repository, temporaryFolder } from '../../source/repositories.ts';
import type { Group, Replica } from './hand-led.ts';
import { both, twoLeaders } from './two-leaders.ts';

type Files = Readonly<Record<string, string>>;

const [first, second, third, fourth] = ['a', 'b', 'c', 'd'].map((name) => both(`${name}.example.com`)) as [
  Files,
  Files,
  Files,
  Files,
];

const SOURCE = 'source:default';

const revisionOf = (files: Files): string => `files@sha256:${hash('sha256', JSON.stringify(files))}`;
const errorOf = ({ controller }: Replica) => controller.api.status().source.error;
const codeOf = (replica: Replica): string | undefined => errorOf(replica)?.code;

/** A replica reads its copy of plain files. */
async function reads({ clock }: Group, { feed, workbench }: Replica, files: Files): Promise<void> {
  const reading: SourceReading = {
    revision: revisionOf(files),
    commit: null,
    contents: await workbench.files(Object.entries(files).map(([path, content]) => ({ path, content }))),
    observedMs: clock.now(),
    descentFrom: async () => 'unknown',
  };
  await feed.says({ type: 'read', askedMs: clock.monotonic(), reading });
}

async function handOver(group: Group, from: Replica, to: Replica): Promise<void> {
  await from.leadership.release(SOURCE);
  expect(await to.leadership.take(SOURCE)).toBe(true);
  await group.pass(30_000);
}

/** Two replicas with a copy each: the leader has read the first state and the third, the other one the first and the second. */
async function twoCopies(): ReturnType<typeof twoLeaders> {
  const scene = await twoLeaders('{}', true);
  const { group, one, two } = scene;
  for (const replica of [one, two]) await reads(group, replica, first);
  await group.until(() => two.accepted() === revisionOf(first), 'the other replica follows');
  await reads(group, two, second);
  await reads(group, one, third);
  await group.until(() => group.domains('west').includes('c.example.com'), 'the third state is applied');
  await group.pass(60_000);
  group.writes.length = 0;
  return scene;
}

test('a new leader whose copy lacked the accepted files waits for a change of it', async () => {
  const { group, one, two } = await twoCopies();
  await handOver(group, one, two);
  expect(errorOf(two)).toMatchObject({
    code: 'source/behind',
    message: expect.stringContaining(`Still running ${revisionOf(third)}`),
    remedy: expect.stringContaining('--allow-rewind'),
  });
  expect([one.accepted(), two.accepted(), group.writes]).toEqual([revisionOf(third), revisionOf(third), []]);
  // An earlier state is older, although the copy has changed.
  await reads(group, two, first);
  expect([codeOf(two), two.accepted(), group.writes]).toEqual(['source/behind', revisionOf(third), []]);
  // The copy skips the third state, too.
  await reads(group, two, fourth);
  expect([codeOf(two), two.accepted()]).toEqual([undefined, revisionOf(fourth)]);
  await group.until(() => group.domains('east').includes('d.example.com'), 'the fourth state is applied');
  // It accepted that itself, so its copy decides from now on.
  await reads(group, two, first);
  expect([codeOf(two), two.accepted()]).toEqual([undefined, revisionOf(first)]);
});

test('a new leader that has read the accepted files itself accepts what followed them', async () => {
  const { group, one, two } = await twoCopies();
  await reads(group, two, third);
  await reads(group, two, fourth);
  await handOver(group, one, two);
  expect([codeOf(two), two.accepted()]).toEqual([undefined, revisionOf(fourth)]);
});

test('a process that starts after the files have changed accepts them once no other replica reads others', async () => {
  const { group, one, two } = await twoCopies();
  const three = group.open('three');
  await group.until(() => three.accepted() === revisionOf(third), 'the new process follows');
  await reads(group, three, fourth);
  await one.beat();
  await three.beat();
  await handOver(group, one, three);
  expect([codeOf(three), three.accepted()]).toEqual(['source/behind', revisionOf(third)]);
  await reads(group, one, fourth);
  await reads(group, two, fourth);
  for (const replica of [one, two, three]) await replica.beat();
  await group.pass(30_000);
  expect([codeOf(three), three.accepted()]).toEqual([undefined, revisionOf(fourth)]);
});

test.for([
  ['accepts files that were never accepted', fourth, undefined],
  ['does not go back to files that were accepted before', first, 'source/behind'],
] as const)('the only process, which starts after the files have changed, %s', async ([, files, code]) => {
  const { group, one } = await twoCopies();
  const three = group.open('three');
  await group.until(() => three.accepted() === revisionOf(third), 'the new process follows');
  await reads(group, three, files);
  await handOver(group, one, three);
  expect([codeOf(three), three.accepted()]).toEqual([code, revisionOf(code === undefined ? files : third)]);
});

/** Shallow clones of one repository: one for each replica, which reads it with the real git. */
function shallowClones({ clock }: Group) {
  const root = repository(first);
  const cloneOf = (replica: Replica) => {
    const folder = join(temporaryFolder(), 'clone');
    git(root, 'clone', '--quiet', '--depth=1', `file://${root}`, folder);
    return {
      folder,
      async pull(): Promise<void> {
        git(folder, 'fetch', '--quiet', '--depth=1', 'origin', 'main');
        git(folder, 'reset', '--quiet', '--hard', 'FETCH_HEAD');
        const { next, told, feed } = listen([folder]);
        await next();
        const [state] = told;
        if (state?.type !== 'read') throw new Error(`it cannot be read: ${JSON.stringify(state)}`);
        await replica.feed.says({ ...state, askedMs: clock.monotonic() });
        onTestFinished(() => feed.close());
      },
    };
  };
  return { root, cloneOf };
}

test('a new leader whose shallow checkout cannot show that it is newer waits for its history', async () => {
  const { group, one, two } = await twoLeaders();
  const { root, cloneOf } = shallowClones(group);
  const [east, west] = [cloneOf(one), cloneOf(two)];
  await east.pull();
  await west.pull();
  const skipped = commit(root, second);
  await west.pull();
  const accepted = `HEAD@sha1:${commit(root, third)}`;
  await east.pull();
  await group.until(() => group.domains('west').includes('c.example.com'), 'the third commit is applied');
  await group.pass(60_000);
  group.writes.length = 0;
  await one.leadership.release(SOURCE);
  await two.leadership.take(SOURCE);
  await expect.poll(() => codeOf(two)).toBe('source/behind');
  expect(errorOf(two)?.message).toContain(skipped.slice(0, 12));
  expect([two.accepted(), group.writes]).toEqual([accepted, []]);
  commit(root, third);
  const last = `HEAD@sha1:${commit(root, fourth)}`;
  // This skips the commit that was accepted, so nothing shows yet that it is newer.
  await west.pull();
  expect([codeOf(two), two.accepted(), group.writes]).toEqual(['source/behind', accepted, []]);
  git(west.folder, 'fetch', '--quiet', '--unshallow');
  const seen = async (): Promise<unknown> => {
    await group.pass(5_000);
    return [codeOf(two), two.accepted()];
  };
  await expect.poll(seen).toEqual([undefined, last]);
});

test('a new leader with a shallow checkout accepts the next commit, and from then on any commit', async () => {
  const { group, one, two } = await twoLeaders();
  const { root, cloneOf } = shallowClones(group);
  const [east, west] = [cloneOf(one), cloneOf(two)];
  await east.pull();
  commit(root, second);
  await east.pull();
  const next = `HEAD@sha1:${commit(root, third)}`;
  await one.leadership.release(SOURCE);
  await two.leadership.take(SOURCE);
  await west.pull();
  expect([codeOf(two), two.accepted()]).toEqual([undefined, next]);
  commit(root, first);
  const last = `HEAD@sha1:${commit(root, fourth)}`;
  await west.pull();
  expect([codeOf(two), two.accepted()]).toEqual([undefined, last]);
});
