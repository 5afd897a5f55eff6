import { expect, test } from 'vitest';
import { commitDetails, commitSummaries, type CommitWorld } from '../../src/views/commits.ts';
import { attentionItems } from '../../src/views/attention.ts';
import type { DaemonWorld } from './daemon.ts';
import { BLOG, FILES, SHOP, started, web } from './shop.ts';

const BLOG_ID = 'Application/blog';

function worldOf({ controller: { api } }: DaemonWorld): CommitWorld {
  return { commits: api.commits(), standings: api.standings(), acceptedRevision: api.status().source.acceptedRevision };
}

/** The commits as `id: state applied/changed`, the newest first. */
function shown(world: DaemonWorld): readonly string[] {
  return commitSummaries(worldOf(world)).map(
    ({ id, state, progress: { changed, applied, waiting, superseded, unknown } }) =>
      `${Number.parseInt(id, 16)}: ${state}, ${applied} of ${changed}` +
      (waiting > 0 ? `, ${waiting} waits` : '') +
      (superseded > 0 ? `, ${superseded} superseded` : '') +
      (unknown > 0 ? `, ${unknown} unknown` : ''),
  );
}

async function restarted(world: DaemonWorld): Promise<void> {
  await world.controller.drain();
  world.restart();
  world.start();
}

const isReady = (world: DaemonWorld) => () =>
  world.ready(SHOP) === 'True InSync' && world.ready(BLOG_ID) === 'True InSync';

test('a commit counts the applications that it changed, those that have applied it, and why the others wait', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(isReady(world), 'both are in sync');
  await world.controller.api.suspend(SHOP, 'Ann', 'a move');
  const blog = BLOG.replace('name: blog', 'name: blog, labels: { owner: web }');
  const id = await world.commit({ ...FILES, 'web.yaml': web('SITE'), 'blog.yaml': blog });
  await world.until(() => shown(world)[0] === '2: applying, 1 of 2, 1 waits', 'blog has applied it');
  expect(shown(world)[1]).toBe('1: applied, 2 of 2');
  const [record] = world.controller.api.commits();
  if (record === undefined) throw new Error('there is a commit');
  expect(commitDetails(record, worldOf(world))).toMatchObject({
    id,
    author: 'Ann <ann@example.com>',
    subject: 'A commit',
    waiting: [{ application: SHOP, blocker: 'suspended', reason: 'suspended by Ann: a move', state: 'suspended' }],
    applied: [{ application: BLOG_ID }],
    removed: 0,
  });
  await world.controller.api.resume(SHOP, 'Ann');
  await world.until(() => shown(world)[0] === '2: applied, 2 of 2', 'shop has applied it');
});

test('a restart changes nothing of that, and a commit that came meanwhile counts only what it changed', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(isReady(world), 'both are in sync');
  const second = { ...FILES, 'web.yaml': web('SITE') };
  const state = async (files: Readonly<Record<string, string>>) => world.commit(files);
  await state(second);
  await world.until(() => shown(world)[0] === '2: applied, 1 of 1', 'shop has applied it');
  const before = shown(world);
  const observed = world.controller.api.commits();
  await restarted(world);
  const again = { ...FILES, 'web.yaml': web('SITE') };
  await world.commitAgain(again);
  await world.until(isReady(world), 'both are in sync after the restart');
  expect(shown(world)).toEqual(before);
  expect(world.controller.api.commits()).toEqual(observed);
  await restarted(world);
  await state({ ...FILES, 'web.yaml': web('HOME') });
  await world.until(() => shown(world)[0] === '3: applied, 1 of 1', 'shop has applied the third');
  expect(shown(world)).toEqual(['3: applied, 1 of 1', ...before]);
});

test('a rejected commit has the places of its faults, also after a restart, and requires manual action', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(isReady(world), 'both are in sync');
  const faulty = { ...FILES, 'web.yaml': web('WEB').replace('protocol: http', 'protokol: http') };
  await world.commit(faulty);
  const { api } = world.controller;
  await world.until(() => shown(world)[0] === '2: rejected, 0 of 0', 'it is rejected');
  const place = { code: 'schema/unknown-field', file: 'web.yaml', line: 8, column: 21 };
  expect(api.commits()[0]).toMatchObject({
    acceptedMs: null,
    problems: expect.arrayContaining([expect.objectContaining(place)]),
  });
  const attention = () =>
    attentionItems({
      standings: world.controller.api.standings(),
      source: world.controller.api.status().source,
      orphans: [],
      doubts: new Map(),
      nowMs: world.clock.now(),
    });
  expect(attention()).toMatchObject([
    { kind: 'source', code: 'source/faulty', problems: expect.arrayContaining([expect.objectContaining(place)]) },
  ]);
  const sinceMs = attention()[0]?.sinceMs;
  await world.pass(60_000);
  expect(attention()[0]?.sinceMs).toBe(sinceMs);
  await restarted(world);
  await world.commitAgain(faulty);
  await world.until(() => attention().length === 1, 'it is rejected again');
  expect(shown(world)).toEqual(['2: rejected, 0 of 0', '1: applied, 2 of 2']);
  await world.commit(FILES);
  await world.until(() => attention().length === 0, 'the next one is accepted');
  expect(shown(world)[0]).toBe('3: applied, 0 of 0');
});

test('a commit that is replaced before an application has applied it is superseded', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(isReady(world), 'both are in sync');
  await world.controller.api.suspend(SHOP, 'Ann', '');
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.until(() => shown(world)[0] === '2: applying, 0 of 1, 1 waits', 'it waits');
  await world.commit({ ...FILES, 'web.yaml': web('HOME') });
  await world.until(() => shown(world)[0] === '3: applying, 0 of 1, 1 waits', 'the next one waits');
  expect(shown(world)[1]).toBe('2: superseded, 0 of 1, 1 superseded');
  expect(commitSummaries(worldOf(world))[1]?.successor).toMatch(/3$/);
});

test('what an earlier version stored says of no commit that it changed everything', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(isReady(world), 'both are in sync');
  await world.controller.drain();
  for (const [key, value] of world.store.facts) {
    if (key.startsWith('commits ')) world.store.facts.delete(key);
    if (!key.startsWith('status ')) continue;
    const { status, kept } = JSON.parse(value) as { status: object; kept: Record<string, unknown> };
    const { commits: _, digest: __, lastChange: ___, ...older } = kept;
    world.store.facts.set(key, JSON.stringify({ status, kept: older }));
  }
  world.restart();
  world.start();
  await world.commitAgain(FILES);
  await world.until(isReady(world), 'both are in sync after the restart');
  expect(shown(world)).toEqual(['1: applied, 0 of 0']);
  await world.commit({ ...FILES, 'web.yaml': web('SITE') });
  await world.until(() => shown(world)[0] === '2: applied, 1 of 1', 'the next one counts');
});

test('the last change of an application is the last write, with its commit', async () => {
  const world = started();
  await world.commit(FILES);
  await world.until(isReady(world), 'both are in sync');
  const changeOf = () => world.controller.api.standings().find(({ id }) => id === SHOP)?.kept.lastChange;
  expect(changeOf()).toMatchObject({ revision: expect.stringMatching(/1$/), doneMs: expect.any(Number) });
  expect(world.controller.api.standings().find(({ id }) => id === BLOG_ID)?.kept.lastChange).toBeNull();
});
