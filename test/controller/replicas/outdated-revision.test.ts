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

/** So many files without a document: 32 of them more are one more part. */
function emptyFiles(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.yaml`, `# ${at}\n`]));
}

/** Holds the next read of a part until the returned function is called. */
function holdNextPart({ shared: { reader } }: Replica): { isHeld(): boolean; release(): void } {
  const gate = Promise.withResolvers<void>();
  let isHeld = false;
  const fact = reader.fact.bind(reader);
  Object.assign(reader, {
    fact: async (key: string) => {
      if (key.startsWith('files-') && !isHeld) {
        isHeld = true;
        await gate.promise;
      }
      return fact(key);
    },
  });
  return { isHeld: () => isHeld, release: () => gate.resolve() };
}

test.for([
  ['as many', 0],
  ['fewer', 100],
] as const)(
  'while a replica reads the parts of a revision, another one with %s parts is accepted: it follows that one',
  async ([, extra]) => {
    const { group, one, two } = await twoLeaders();
    await group.commit(both('a.example.com'));
    await group.until(() => two.ready(WEST) === 'True InSync', 'the first commit is applied');
    const parts = holdNextPart(two);
    await group.commit({ ...both('b.example.com'), ...emptyFiles(extra) }, [one]);
    await group.until(parts.isHeld, 'it reads the parts of the second commit');
    const third = await group.commit(both('c.example.com'), [one]);
    await group.until(() => one.accepted() === third, 'the third commit is accepted');
    parts.release();
    await group.until(() => group.domains('west').includes('c.example.com'), 'it applies the third commit');
    expect(two.accepted()).toBe(third);
    expect(two.eventsOf('source.not-followed')).toEqual([]);
    expect(two.lines.filter((line) => /a bug in Portolan|could not be read/.test(line))).toEqual([]);
  },
);

test('a replica that cannot unpack the accepted files says what to do, and follows the next revision', async () => {
  const { group, one } = await twoLeaders();
  const first = await group.commit(both('a.example.com'));
  await group.until(() => one.accepted() === first, 'the first commit is accepted');
  group.database.store.facts.set('files-0 default', '');
  const three = group.open('three');
  const errorOfThree = () => three.controller.api.status().source.error;
  await group.until(() => errorOfThree() !== null, 'it cannot load the files');
  expect(errorOfThree()).toMatchObject({
    code: 'source/not-followed',
    message: expect.stringContaining('cannot be unpacked: unexpected end of file'),
    remedy: expect.stringContaining('portolan ledger restore BACKUP'),
  });
  const second = await group.commit(both('b.example.com'), [one]);
  await group.until(() => three.accepted() === second, 'it follows the next one');
  expect(errorOfThree()).toBeNull();
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
