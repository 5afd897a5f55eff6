import { expect, test } from 'vitest';
import { application, type Group, type Replica } from './hand-led.ts';
import { both, twoLeaders, WEST } from './two-leaders.ts';

const NEVER = new AbortController().signal;

/** It reads nothing of what others share. */
function holdBack(replica: Replica): void {
  replica.isLost = (operation) => operation === 'facts';
}

function deletions(group: Group): string[] {
  return group.writes.filter(({ request }) => request.method === 'DELETE').map(({ request }) => request.path);
}

test('an approved removal is not sent once another replica accepted a revision that keeps the resources', async () => {
  const { group, one, two } = await twoLeaders('{ controller: { pruneAfter: 1m }, prune: { maxShare: 0.1 } }');
  const domains = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.example.com`);
  const digest = (): string | undefined => two.controller.api.application(WEST)?.approval?.digest;
  await group.commit(application('west', ...domains));
  await group.until(() => two.ready(WEST) === 'True InSync', 'the first commit is applied');
  await group.pass(60_000);
  await group.commit(application('west', 'a.example.com'));
  await group.until(() => digest() !== undefined, 'the removal needs an approval');
  const seen = digest() ?? '';
  holdBack(two);
  const third = await group.commit(application('west', ...domains), [one]);
  await group.until(() => one.accepted() === third, 'the third commit is accepted');
  await two.controller.api.approve(WEST, seen, 'a person');
  await group.pass(2_000);
  expect(two.accepted()).not.toBe(third);
  two.isLost = () => false;
  await group.until(() => two.accepted() === third, 'it follows');
  await group.pass(60_000);
  expect(deletions(group)).toEqual([]);
  expect(two.eventsOf('approval.ended')).toHaveLength(1);
});

test.each([0, 600_000])('orphans are not pruned %i ms after another replica accepted their return', async (afterMs) => {
  const { group, one, two } = await twoLeaders('{ prune: { maxShare: 1 } }');
  await group.commit(both('a.example.com'));
  await group.until(() => two.ready(WEST) === 'True InSync', 'the first commit is applied');
  await group.pass(60_000);
  await group.commit(application('east', 'a.example.com'));
  await group.until(() => two.controller.api.orphans().length > 0, 'it has orphans');
  await group.pass(20_000);
  const scope = two.controller.api.orphans()[0]?.scope ?? 'none';
  const { digest } = await two.controller.api.planPrune(scope, NEVER);
  const before = group.writes.length;
  holdBack(two);
  const third = await group.commit(both('a.example.com'), [one]);
  await group.until(() => one.accepted() === third, 'the third commit is accepted');
  await group.pass(afterMs);
  const order = { by: 'a person', reason: 'a test', digest };
  await expect(two.controller.api.prune(scope, order, NEVER)).rejects.toMatchObject({
    code: 'controller/source-unknown',
  });
  expect(group.writes.slice(before)).toEqual([]);
});
