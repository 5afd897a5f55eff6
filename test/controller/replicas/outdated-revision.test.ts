import { expect, onTestFinished, test } from 'vitest';
import { application, Group, type Replica } from './hand-led.ts';

const WEST = 'Application/west' as const;
const NEVER = new AbortController().signal;

/** `one` leads the source, and `two` the platform in the west. */
async function twoLeaders(settings: string) {
  const group = new Group(settings);
  onTestFinished(() => group.close());
  const [one, two] = [group.open('one'), group.open('two')];
  await one.leadership.take('source:default');
  await one.leadership.take('platform:east');
  await two.leadership.take('platform:west');
  return { group, one, two };
}

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
  const [east, west] = [application('east', 'a.example.com'), application('west', 'a.example.com', 'b.example.com')];
  await group.commit({ ...east, ...west });
  await group.until(() => two.ready(WEST) === 'True InSync', 'the first commit is applied');
  await group.pass(60_000);
  await group.commit(east);
  await group.until(() => two.controller.api.orphans().length > 0, 'it has orphans');
  await group.pass(20_000);
  const scope = two.controller.api.orphans()[0]?.scope ?? 'none';
  const { digest } = await two.controller.api.planPrune(scope, NEVER);
  const before = group.writes.length;
  holdBack(two);
  const third = await group.commit({ ...east, ...west }, [one]);
  await group.until(() => one.accepted() === third, 'the third commit is accepted');
  await group.pass(afterMs);
  const order = { by: 'a person', reason: 'a test', digest };
  await expect(two.controller.api.prune(scope, order, NEVER)).rejects.toMatchObject({
    code: 'controller/source-unknown',
  });
  expect(group.writes.slice(before)).toEqual([]);
});
