import { expect, onTestFinished, test } from 'vitest';
import { application, Group } from './hand-led.ts';
import {
  bugs,
  commitOf,
  EAST,
  expectSuspended,
  hold,
  holdBack,
  inSync,
  ON_EAST,
  ON_WEST,
  pass,
  stored,
  storedOn,
  suspendedBy,
  west,
} from './moved-scene.ts';

/** Decisions about an application that a commit moves to the platform of another replica, which has not read them. */

test.for(['one', 'two'] as const)(
  'a suspension that its next leader has not read when a commit moves the application is in force; %s leads the source',
  async (name) => {
    const scene = await inSync(name);
    const { all, one, two, leader } = scene;
    const reads = holdBack(two);
    await one.controller.api.suspend(EAST, 'Ann', 'a test');
    await pass(all, 500);
    const second = await all.commit(ON_WEST, [leader]);
    await pass(all, 500);
    // One that follows reads both at once.
    reads.goOn();
    await all.until(() => two.accepted() === second && storedOn(all) === 'west', 'its next leader has stored it');
    await pass(all, 30_000);
    expectSuspended(scene, 'Ann', 'west');
    // It can be resumed where it is now.
    await two.controller.api.resume(EAST, 'Bob');
    await all.until(() => all.domains('west').includes('new.example.com'), 'it is applied');
  },
);

test('a suspension by the former leader before the next one has stored anything is in force', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  const reads = holdBack(one);
  const storing = hold(two, (op) => op === 'commit' && two.controller.api.application(EAST)?.platform === 'west');
  const told = all.commit(ON_WEST, [two]);
  await all.until(() => two.accepted() === commitOf(2) && storing.isHeld(), 'the commit is accepted');
  // It has read the record, and is about to replace it.
  await one.controller.api.suspend(EAST, 'Ann', 'a test');
  storing.goOn();
  await told;
  await all.until(() => storedOn(all) === 'west', 'its next leader has stored it');
  reads.goOn();
  await pass(all, 30_000);
  expectSuspended(scene, 'Ann', 'west');
});

test('a decision that the former leader stores too late is refused, and reports nothing', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  holdBack(one);
  const storing = hold(one, (op) => op === 'commit');
  const asked = one.controller.api.suspend(EAST, 'Ann', 'a test').catch((error: unknown) => error);
  await all.until(storing.isHeld, 'it has read the record');
  await all.commit(ON_WEST, [two]);
  await all.until(() => all.domains('west').includes('new.example.com'), 'its next leader works on it');
  storing.goOn();
  expect(await asked).toMatchObject({ code: 'controller/not-leader', disposition: 'retry' });
  await pass(all, 10_000);
  expect(stored(all)).toMatchObject({ status: { platform: 'west' }, kept: { suspended: null } });
  for (const replica of all.replicas) expect(replica.eventsOf('application.suspended')).toEqual([]);
  expect(bugs(scene)).toEqual([]);
});

test('a decision that is refused reports nothing, although somebody else has decided the same', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  await one.controller.api.suspend(EAST, 'Ann', 'a test');
  await all.until(() => suspendedBy(two) === 'Ann', 'both know it');
  const reads = holdBack(one);
  const storing = hold(one, (op) => op === 'commit');
  const asked = one.controller.api.resume(EAST, 'Ann').catch((error: unknown) => error);
  await all.until(storing.isHeld, 'it has read the record');
  await all.commit(ON_WEST, [two]);
  await all.until(() => storedOn(all) === 'west', 'its next leader has taken it over');
  await two.controller.api.resume(EAST, 'Bob');
  storing.goOn();
  expect(await asked).toMatchObject({ code: 'controller/not-leader' });
  reads.goOn();
  await pass(all, 10_000);
  expect(two.eventsOf('application.resumed').map(({ message }) => message)).toEqual([`${EAST} was resumed by Bob`]);
});

test('a decision to resume is not undone by what its next leader has read before', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  await one.controller.api.suspend(EAST, 'Ann', 'a test');
  await all.until(() => suspendedBy(two) === 'Ann', 'both know it');
  holdBack(two);
  await one.controller.api.resume(EAST, 'Ann');
  await all.commit(ON_WEST, [two]);
  await all.until(() => all.domains('west').includes('new.example.com'), 'it is applied');
  expect(stored(all)).toMatchObject({ status: { platform: 'west' }, kept: { suspended: null } });
  expect(bugs(scene)).toEqual([]);
});

test('a person suspends an application at its next leader before the first pass of that one', async () => {
  const scene = await inSync('one');
  const { all, two } = scene;
  two.isLost = (operation) => operation === 'commit';
  const second = await all.commit(ON_WEST);
  await all.until(() => two.accepted() === second, 'its next leader follows');
  // Its first pass has failed, and the next one is not due yet.
  await all.until(() => two.lines.some((line) => line.includes(' error ')), 'it cannot take the application over');
  expect(storedOn(all)).toBe('east');
  two.isLost = () => false;
  await two.controller.api.suspend(EAST, 'Bob', 'a test');
  await pass(all, 30_000);
  expectSuspended(scene, 'Bob', 'west');
});

test('a person resumes an application at its next leader during the first pass of that one', async () => {
  const scene = await inSync('one');
  const { all, one, two } = scene;
  await one.controller.api.suspend(EAST, 'Ann', 'a test');
  await all.until(() => suspendedBy(two) === 'Ann', 'both know it');
  const reading = hold(two, (op) => op === 'read' && two.controller.api.application(EAST)?.platform === 'west');
  const told = all.commit(ON_WEST, [one]);
  await all.until(reading.isHeld, 'it is about to read what the former leader has stored');
  const resumed = two.controller.api.resume(EAST, 'Bob');
  await all.pass(100);
  reading.goOn();
  await resumed;
  await told;
  await all.until(() => all.domains('west').includes('new.example.com'), 'it is applied');
  expect(stored(all)).toMatchObject({ status: { platform: 'west' }, kept: { suspended: null } });
});

test('the former leader does not confirm that an application runs which the next one has suspended', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  const reads = holdBack(one);
  await all.commit(ON_WEST, [two]);
  await all.until(() => storedOn(all) === 'west', 'its next leader has taken it over');
  await two.controller.api.suspend(EAST, 'Ann', 'a test');
  await expect(one.controller.api.resume(EAST, 'Bob')).rejects.toMatchObject({ code: 'controller/not-leader' });
  reads.goOn();
  await all.until(() => one.accepted() === commitOf(2), 'it follows');
  await one.controller.api.resume(EAST, 'Bob');
  expect(stored(all).kept.suspended).toBeNull();
});

test('an approval that its next leader has not read ends with a reason, because its plan is another one', async () => {
  const all = new Group('{ controller: { pruneAfter: 1m }, prune: { maxShare: 0.1 } }');
  onTestFinished(() => all.close());
  const [one, two] = [all.open('one'), all.open('two')];
  await one.leadership.take('platform:east');
  await two.leadership.take('source:default');
  await two.leadership.take('platform:west');
  const domains = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.example.com`);
  await all.commit(application('east', ...domains), [two]);
  await all.until(() => one.ready(EAST) === 'True InSync', 'it is in sync');
  await all.pass(60_000);
  await all.commit(application('east', 'a.example.com'), [two]);
  const digest = (): string | undefined => one.controller.api.application(EAST)?.approval?.digest;
  await all.until(() => digest() !== undefined, 'the removal needs an approval');
  await pass(all, 5_000);
  holdBack(two);
  all.isPlatformAway = (by) => by === 'one';
  await one.controller.api.approve(EAST, digest() ?? '', 'Ann');
  expect(stored(all).kept.approved).toMatchObject({ by: 'Ann' });
  await all.commit(west(application('east', 'a.example.com')), [two]);
  await all.until(() => storedOn(all) === 'west' && stored(all).kept.approved === null, 'the approval ended');
  const rows = await two.shared.reader.history({ limit: 100 });
  expect(rows.find(({ event }) => event === 'approval-ended')).toMatchObject({ actor: 'two', detail: { by: 'Ann' } });
});

test('the leader after the next one takes the suspension over, too', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  const three = all.open('three');
  await all.until(() => three.ready(EAST) === 'True InSync', 'a third one shows it');
  const reads = [holdBack(two), holdBack(three)];
  await one.controller.api.suspend(EAST, 'Ann', 'a test');
  const taking = hold(two, (op) => op === 'commit' && two.controller.api.application(EAST)?.platform === 'west');
  void all.commit(ON_WEST, [two]);
  await all.until(taking.isHeld, 'the commit is accepted');
  // It dies before it has taken anything over.
  two.isDatabaseAway = true;
  for (const { goOn } of reads) goOn();
  while (!(await three.leadership.take('platform:west'))) await all.pass(1_000);
  while (!(await three.leadership.take('source:default'))) await all.pass(1_000);
  await all.until(() => storedOn(all) === 'west', 'the third one has stored it');
  await pass(all, 30_000);
  expect(stored(all)).toMatchObject({ status: { platform: 'west' }, kept: { suspended: { by: 'Ann' } } });
  expect([one, three].map(suspendedBy)).toEqual(['Ann', 'Ann']);
  expect(all.writes).toEqual([]);
});

test('a process that leads both platforms keeps a suspension', async () => {
  const all = new Group('{ controller: { healthTimeout: 1m } }');
  onTestFinished(() => all.close());
  const one = all.open('one');
  for (const unit of ['source:default', 'platform:east', 'platform:west'] as const) await one.leadership.take(unit);
  await all.commit(ON_EAST);
  await all.until(() => one.ready(EAST) === 'True InSync', 'it is in sync');
  all.writes.length = 0;
  const told = all.commit(ON_WEST);
  await one.controller.api.suspend(EAST, 'Ann', 'a test');
  await told;
  await all.until(() => storedOn(all) === 'west', 'it is stored there');
  await pass(all, 30_000);
  expect(stored(all)).toMatchObject({ status: { platform: 'west' }, kept: { suspended: { by: 'Ann' } } });
  expect(suspendedBy(one)).toBe('Ann');
  const third = await all.commit(application('east', 'c.example.com'));
  await all.until(() => one.accepted() === third && storedOn(all) === 'east', 'it is stored there');
  await pass(all, 30_000);
  expect(suspendedBy(one)).toBe('Ann');
  expect(all.domains('east')).not.toContain('c.example.com');
});

test('nothing is decided about a new application by a commit after which another one moved it', async () => {
  const all = new Group();
  onTestFinished(() => all.close());
  const [one, two] = [all.open('one'), all.open('two')];
  await one.leadership.take('source:default');
  await one.leadership.take('platform:east');
  await two.leadership.take('platform:west');
  const first = await all.commit(west(ON_EAST), [one]);
  const storing = hold(two, (op) => op === 'commit' && two.accepted() === first && all.domains('west').length > 0);
  await all.until(storing.isHeld, 'it has a rule, and is not stored yet');
  expect(storedOn(all)).toBeUndefined();
  holdBack(two);
  const second = await all.commit(ON_EAST, [one]);
  await all.until(() => one.accepted() === second, 'the next commit is accepted');
  const asked = two.controller.api.suspend(EAST, 'Ann', 'a test').catch((error: unknown) => error);
  storing.goOn();
  expect(await asked).toMatchObject({ code: 'controller/not-leader' });
  await all.until(() => storedOn(all) === 'east', 'its leader has stored it');
  expect(stored(all).kept.suspended).toBeNull();
});
