import { expect, test } from 'vitest';
import { startForge } from '../notifications/forge.ts';
import { both, twoLeaders, WEST } from './two-leaders.ts';

test('the leader of the source sends the result of a commit that the leader of a platform applied', async () => {
  const { group, one } = await twoLeaders();
  const statesOf = startForge(one.controller.api, group.clock);
  await group.commit(both('www.example.com'));
  await group.until(() => one.ready(WEST) === 'True InSync', 'in sync');
  await group.pass(60_000);
  const relabelled = Object.entries(both('www.example.com')).map(([path, text]) => [
    path,
    text.replace('metadata: { name: west }', 'metadata: { name: west, labels: { tier: front } }'),
  ]);
  const revision = await group.commit(Object.fromEntries(relabelled));
  await group.pass(60_000);
  expect(statesOf(revision.slice('main@sha1:'.length))).toEqual(['pending', 'success']);
});
