import { expect, onTestFinished, test } from 'vitest';
import type { Stored } from '../../../src/controller/ledger-records.ts';
import { demo } from '../../../src/sandbox/seeds/demo.ts';
import { type PortRow, portKey } from '../../../src/sandbox/state.ts';
import { application, Group, type PlatformName, type Replica } from './hand-led.ts';

/** Decisions about an application that a commit moves to the platform of another replica, which has not read them. */

const EAST = 'Application/east' as const;
const ON_EAST = application('east', 'www.example.com');

/** The same application on the other platform. */
function west(files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, text.replace('platform: east', 'platform: west')]),
  );
}

/** On the other platform, and with another rule, so that its new leader has something to write. */
const ON_WEST = west(application('east', 'new.example.com'));

interface Scene {
  readonly all: Group;
  /** Leads the platform that the application comes from. */
  readonly one: Replica;
  /** Leads the other platform. */
  readonly two: Replica;
  readonly leader: Replica;
}

/** Two replicas in sync with a commit. @param leaderOfSource the name of the one that leads the source. */
async function inSync(leaderOfSource: 'one' | 'two'): Promise<Scene> {
  const all = new Group('{ controller: { healthTimeout: 1m } }');
  onTestFinished(() => all.close());
  const [one, two] = [all.open('one'), all.open('two')];
  const leader = leaderOfSource === 'one' ? one : two;
  await leader.leadership.take('source:default');
  await one.leadership.take('platform:east');
  await two.leadership.take('platform:west');
  await all.commit(ON_EAST, [leader]);
  await all.until(() => one.ready(EAST) === 'True InSync' && two.ready(EAST) === 'True InSync', 'it is in sync');
  await all.pass(20_000);
  all.writes.length = 0;
  return { all, one, two, leader };
}

const stored = (all: Group): Stored => all.fact(`status default ${EAST}`) as Stored;
const storedOn = (all: Group): string | null | undefined => (stored(all) as Stored | null)?.status.platform;
const commitOf = (number: number): string => `main@sha1:${number.toString(16).padStart(40, '0')}`;
const suspendedBy = (replica: Replica): string | undefined => {
  const pause = replica.controller.api.application(EAST)?.pause;
  return pause?.type === 'suspended' ? pause.by : undefined;
};
const writesTo = (all: Group, platform: PlatformName): readonly string[] =>
  all.writes.filter((sent) => sent.platform === platform).map(({ by, request }) => `${by} ${request.operation}`);
const bugs = ({ all }: Scene): readonly string[] =>
  all.replicas.flatMap(({ lines }) => lines).filter((line) => line.includes('bug in Portolan'));

/** It reads nothing of what others share, as for up to 3 s behind a pooler. */
function holdBack(replica: Replica): { readonly goOn: () => void } {
  replica.isLost = (operation) => operation === 'facts';
  return {
    goOn: () => {
      replica.isLost = () => false;
    },
  };
}

/** Holds the statements of a replica for which this is true, until it may continue. */
function hold(replica: Replica, isMeant: (operation: string) => boolean) {
  const gate = Promise.withResolvers<void>();
  onTestFinished(() => gate.resolve());
  let held = 0;
  replica.beforeStatement = async (operation) => {
    if (!isMeant(operation)) return;
    held += 1;
    await gate.promise;
  };
  return {
    isHeld: () => held > 0,
    goOn: () => {
      replica.beforeStatement = async () => {};
      gate.resolve();
    },
  };
}

/** Lets time pass, and everything run that is due. */
async function pass(all: Group, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    await all.pass(500);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Asserts that a suspension is in force everywhere, and that the application was left alone on a platform. */
function expectSuspended(scene: Scene, by: string, platform: PlatformName): void {
  const { all } = scene;
  expect(stored(all)).toMatchObject({ status: { platform }, kept: { suspended: { by } } });
  expect(all.replicas.map(suspendedBy)).toEqual(all.replicas.map(() => by));
  expect(writesTo(all, platform)).toEqual([]);
  expect(bugs(scene)).toEqual([]);
}

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

/** A person changes a port, which each pass corrects. */
function drift(all: Group): void {
  const port = all.platforms.east.ports.get(portKey(demo.webServiceId, 8080)) as PortRow;
  all.platforms.east.ports.put({ ...port, inner: false });
}

test('a suspension by a leader to which the application was moved and from which it was moved back is in force', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  const reads = holdBack(one);
  await all.commit(ON_WEST, [two]);
  await all.until(() => all.domains('west').includes('new.example.com'), 'it works on the other platform');
  await two.controller.api.suspend(EAST, 'Ann', 'a test');
  const third = await all.commit(ON_EAST, [two]);
  drift(all);
  // Its manifests are those that it has, so it follows no change.
  reads.goOn();
  await all.until(() => one.accepted() === third && storedOn(all) === 'east', 'its former leader has it again');
  await pass(all, 30_000);
  expectSuspended(scene, 'Ann', 'east');
});

test('a pass that is about to write when it reads that the application was moved and moved back writes nothing', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  const reads = holdBack(one);
  drift(all);
  await one.controller.api.sync([EAST], 'Bob');
  const storing = hold(one, (op) => op === 'commit');
  await all.until(storing.isHeld, 'it is about to write');
  await all.commit(ON_WEST, [two]);
  await all.until(() => all.domains('west').includes('new.example.com'), 'it works on the other platform');
  await two.controller.api.suspend(EAST, 'Ann', 'a test');
  const third = await all.commit(ON_EAST, [two]);
  reads.goOn();
  await all.until(() => one.accepted() === third, 'its former leader follows');
  storing.goOn();
  await all.until(() => storedOn(all) === 'east', 'its former leader has it again');
  await pass(all, 30_000);
  expectSuspended(scene, 'Ann', 'east');
});

test('a leader does not take over an application that a later commit has moved back', async () => {
  const scene = await inSync('one');
  const { all, one, two } = scene;
  const taking = hold(two, (op) => op === 'commit' && two.controller.api.application(EAST)?.platform === 'west');
  const second = await all.commit(ON_WEST, [one]);
  await all.until(() => two.accepted() === second && taking.isHeld(), 'it has read the record');
  holdBack(two);
  await all.commit(application('east', 'c.example.com'), [one]);
  taking.goOn();
  await pass(all, 1_000);
  await expect(two.controller.api.suspend(EAST, 'Ann', 'a test')).rejects.toMatchObject({
    code: 'controller/not-leader',
  });
  expect([storedOn(all), writesTo(all, 'west')]).toEqual(['east', []]);
  expect(stored(all).kept.suspended).toBeNull();
  expect(bugs(scene)).toEqual([]);
});

test('the same while the former leader loads the commit, which it has read before', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  const reads = holdBack(one);
  // It reads of the second commit before the next leader has stored anything, and loads the third one.
  const storing = hold(two, (op) => op === 'commit' && two.controller.api.application(EAST)?.platform === 'west');
  const told = all.commit(ON_WEST, [two]);
  await all.until(() => two.accepted() === commitOf(2) && storing.isHeld(), 'the commit is accepted');
  let hasRead = false;
  const loading = hold(one, (op) => {
    if (op === 'facts') hasRead = true;
    return hasRead && op === 'read';
  });
  reads.goOn();
  await all.until(loading.isHeld, 'it loads the files');
  storing.goOn();
  await told;
  await all.until(() => all.domains('west').includes('new.example.com'), 'it works on the other platform');
  await two.controller.api.suspend(EAST, 'Ann', 'a test');
  const third = await all.commit(ON_EAST, [two]);
  drift(all);
  void one.controller.api.sync([EAST], 'Bob');
  // Of what others store it reads no more, except for what it needs to follow.
  let facts = 0;
  one.isLost = (operation) => operation === 'facts' && (facts += 1) > 1;
  loading.goOn();
  await all.until(() => one.accepted() === third, 'it follows');
  await pass(all, 5_000);
  expect(writesTo(all, 'east')).toEqual([]);
  one.isLost = () => false;
  await all.until(() => storedOn(all) === 'east', 'its former leader has it again');
  await pass(all, 30_000);
  expectSuspended(scene, 'Ann', 'east');
});

test('the same where a process takes the platform after the application was moved back', async () => {
  const scene = await inSync('one');
  const { all, one, two } = scene;
  const three = all.open('three');
  await all.until(() => three.ready(EAST) === 'True InSync', 'a third one shows it');
  holdBack(three);
  await all.commit(ON_WEST, [one]);
  await all.until(() => storedOn(all) === 'west', 'its next leader has taken it over');
  await one.leadership.release('platform:east');
  await pass(all, 5_000);
  holdBack(two);
  const third = await all.commit(ON_EAST, [one]);
  three.isLost = () => false;
  await all.until(() => three.accepted() === third, 'the third one follows');
  drift(all);
  const storing = hold(three, (op) => op === 'commit');
  await three.leadership.take('platform:east');
  await all.until(storing.isHeld, 'it works on the application');
  await two.controller.api.suspend(EAST, 'Ann', 'a test');
  storing.goOn();
  two.isLost = () => false;
  await all.until(() => storedOn(all) === 'east', 'the third one has taken it over');
  await pass(all, 30_000);
  expectSuspended(scene, 'Ann', 'east');
});

test('the same where the leader of the source has not followed the commit that it accepted', async () => {
  const scene = await inSync('one');
  const { all, one, two } = scene;
  let isAccepted = false;
  one.isLost = (operation) => {
    // Events arrive: a sync is refused while none of them has arrived since the last failure.
    const isLost = isAccepted && operation !== 'events';
    isAccepted ||= operation === 'commit';
    return isLost;
  };
  await all.commit(ON_WEST, [one]);
  // It reads nothing of what others share, except for what it needs to follow.
  let facts = 0;
  one.isLost = (operation) => operation === 'facts' && (one.accepted() !== commitOf(3) || (facts += 1) > 1);
  await all.until(() => storedOn(all) === 'west', 'the other one has followed it');
  await two.controller.api.suspend(EAST, 'Ann', 'a test');
  drift(all);
  const third = await all.commit(ON_EAST, [one]);
  expect(one.accepted()).toBe(third);
  await one.controller.api.sync([EAST], 'Bob');
  await pass(all, 5_000);
  one.isLost = () => false;
  await all.until(() => storedOn(all) === 'east', 'the leader of the source has it again');
  await pass(all, 30_000);
  expectSuspended(scene, 'Ann', 'east');
});

test('a suspension is in force over two moves of which the next leader has read nothing', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  const reads = [holdBack(one), holdBack(two)];
  const taking = hold(two, (op) => op === 'commit' && two.controller.api.application(EAST)?.platform === 'west');
  void all.commit(ON_WEST, [two]);
  await all.until(taking.isHeld, 'the second commit is accepted');
  await one.controller.api.suspend(EAST, 'Ann', 'a test');
  void all.commit(application('east', 'c.example.com'), [two]);
  void all.commit(west(application('east', 'd.example.com')), [two]);
  taking.goOn();
  await all.until(() => two.accepted() === commitOf(4) && storedOn(all) === 'west', 'the last commit is accepted');
  for (const { goOn } of reads) goOn();
  await pass(all, 30_000);
  expect(all.domains('east')).not.toContain('c.example.com');
  expectSuspended(scene, 'Ann', 'west');
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
