import { expect, test } from 'vitest';
import { application, Group, type Replica } from './hand-led.ts';

/** The lead of a source that moves while its leader accepts a revision, before each statement that this sends. */

const EAST = 'Application/east' as const;
const files = (...domains: readonly string[]) => application('east', ...domains);
const [FIRST, SECOND, THIRD] = [
  files('www.example.com'),
  files('www.example.com', 'b.example.com'),
  files('c.example.com'),
];

async function opened(): Promise<{ group: Group; one: Replica; two: Replica }> {
  const group = new Group('{ controller: { pruneAfter: 1m }, prune: { maxShare: 1 } }');
  const [one, two] = [group.open('one'), group.open('two')];
  await one.leadership.take('source:default');
  await one.leadership.take('platform:east');
  await group.commit(FIRST);
  await group.until(() => one.ready(EAST) === 'True InSync', 'the first commit is applied');
  await group.until(() => two.accepted() === one.accepted(), 'the other one follows');
  return { group, one, two };
}

/** Lets a process stop before its n-th statement from now on. @returns whether it has, and how it continues. */
function stopBefore(replica: Replica, nth: number): { readonly hasStopped: () => boolean; readonly goOn: () => void } {
  const gate = Promise.withResolvers<void>();
  let sent = 0;
  let isOpen = false;
  replica.beforeStatement = async () => {
    sent += 1;
    if (sent >= nth && !isOpen) await gate.promise;
  };
  return {
    hasStopped: () => sent >= nth,
    goOn: () => {
      isOpen = true;
      gate.resolve();
    },
  };
}

const accepted = (group: Group): string => (group.fact('files default') as { readonly revision: string }).revision;

async function moved(nth: number, isNewer: boolean): Promise<boolean> {
  const { group, one, two } = await opened();
  const { hasStopped, goOn } = stopBefore(one, nth);
  const telling = group.commit(SECOND, [one]);
  for (let turn = 0; turn < 200 && !hasStopped(); turn += 1) await new Promise((resolve) => setImmediate(resolve));
  if (!hasStopped() || one.accepted()?.endsWith('2') === true) {
    goOn();
    await telling;
    await group.close();
    return false;
  }
  // Its leases expire while it does nothing.
  for (const unit of ['source:default', 'platform:east'] as const)
    while (!(await two.leadership.take(unit))) await group.pass(1_000);
  const second = await group.tell(2, SECOND, [two]);
  await group.until(() => group.domains('east').length === 2, 'the new leader applies it');
  const newest = isNewer ? await group.tell(3, THIRD, [two]) : second;
  await group.until(() => two.accepted() === newest, 'the new leader accepts it');
  goOn();
  await telling;
  await group.pass(60_000);
  const what = `before statement ${nth}`;
  const known = () => [accepted(group), one.accepted(), two.accepted()];
  await group.until(() => two.ready(EAST) === 'True InSync', 'it is applied');
  await group.pass(3 * 60_000);
  expect(known(), what).toEqual([newest, newest, newest]);
  expect(group.domains('east'), what).toEqual(isNewer ? ['c.example.com'] : ['b.example.com', 'www.example.com']);
  // Each commit was decided once, and each rule was made once.
  const history = await two.shared.reader.history({ limit: 1_000 });
  const snapshots = history.filter(({ event }) => event === 'snapshot').length;
  expect(snapshots, what).toBe(isNewer ? 3 : 2);
  const created = group.writes.filter(({ request }) => request.method === 'POST').length;
  expect(created, what).toBe(isNewer ? 3 : 2);
  expect(
    [...one.lines, ...two.lines].filter((line) => /bug|rewound|not descend/.test(line)),
    what,
  ).toEqual([]);
  await group.close();
  return true;
}

test.for([
  ['the same revision', false],
  ['a newer revision', true],
] as const)('the next leader accepts %s, whichever statement the former one was about to send', async ([, isNewer]) => {
  let nth = 1;
  while (await moved(nth, isNewer)) nth += 1;
  expect(nth).toBeGreaterThan(5);
});
