import { expect, test } from 'vitest';
import { application } from './hand-led.ts';
import {
  bugs,
  commitOf,
  drift,
  EAST,
  expectSuspended,
  hold,
  holdBack,
  inSync,
  ON_EAST,
  ON_WEST,
  pass,
  type Scene,
  stored,
  storedOn,
  suspendedBy,
  west,
  writesTo,
} from './moved-scene.ts';

/** Decisions about an application that a commit moves to the platform of another replica, and that a later commit moves back. */

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

test('the same is true where the former leader loads the commit that moves it back while the other one suspends it', async () => {
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

test('the same is true where a third process takes the platform after the application was moved back', async () => {
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

test('the same is true where the leader of the source has not followed the commit that moved it away', async () => {
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

test('a command that was recorded before two moves is refused: a later one was carried out between them', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  await one.controller.api.suspend(EAST, 'Ann', 'a test');
  await all.until(() => suspendedBy(two) === 'Ann', 'the other one shows it');
  one.isLost = (operation) => operation === 'facts' || operation === 'commands';
  const refusal = two.controller.api.resume(EAST, 'Bob').catch((error: unknown) => error);
  await all.pass(15_000);
  expect(await refusal).toMatchObject({ code: 'controller/command-pending' });
  await all.commit(ON_WEST, [two]);
  await all.until(() => storedOn(all) === 'west', 'its next leader has taken it over');
  await two.controller.api.suspend(EAST, 'Cara', 'another test');
  const third = await all.commit(ON_EAST, [two]);
  one.isLost = () => false;
  await all.until(() => one.accepted() === third && storedOn(all) === 'east', 'its former leader has it again');
  await pass(all, 30_000);
  expectSuspended(scene, 'Cara', 'east');
  await two.controller.api.resume(EAST, 'Dan');
  await all.until(() => suspendedBy(two) === undefined, 'a command that is given now is carried out');
});

/** A commit moves the application, its next leader suspends it for Cara, and another commit moves it back to one that follows. */
async function suspendedElsewhere({ all, one, two }: Scene): Promise<void> {
  await all.commit(ON_WEST, [two]);
  await all.until(() => storedOn(all) === 'west', 'its next leader has taken it over');
  await two.controller.api.suspend(EAST, 'Cara', 'another test');
  const third = await all.commit(ON_EAST, [two]);
  await all.until(() => one.accepted() === third, 'its former leader follows');
}

test('a resume that waits for its turn while the application is moved and moved back is refused', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  await one.controller.api.suspend(EAST, 'Ann', 'a test');
  await all.until(() => suspendedBy(two) === 'Ann', 'the other one shows it');
  const storing = hold(one, (op) => op === 'commit');
  const again = one.controller.api.suspend(EAST, 'Ann', 'another reason').catch((error: unknown) => error);
  await all.until(storing.isHeld, 'a decision is being stored');
  const resume = one.controller.api.resume(EAST, 'Bob').catch((error: unknown) => error);
  await suspendedElsewhere(scene);
  storing.goOn();
  expect(await Promise.all([again, resume])).toMatchObject([
    { code: 'controller/not-leader' },
    { code: 'controller/has-moved' },
  ]);
  await all.until(() => storedOn(all) === 'east', 'its former leader has it again');
  await pass(all, 30_000);
  expectSuspended(scene, 'Cara', 'east');
});

test('the same is true where it waits for the end of a pass', async () => {
  const scene = await inSync('two');
  const { all, one, two } = scene;
  await one.controller.api.suspend(EAST, 'Ann', 'a test');
  await all.until(() => suspendedBy(two) === 'Ann', 'the other one shows it');
  await pass(all, 5_000);
  drift(all);
  const storing = hold(one, (op) => op === 'commit');
  await one.controller.api.sync([EAST], 'Bob');
  await all.until(storing.isHeld, 'it stores the status that a pass found');
  const resume = one.controller.api.resume(EAST, 'Bob').catch((error: unknown) => error);
  await all.pass(100);
  await suspendedElsewhere(scene);
  storing.goOn();
  expect(await resume).toMatchObject({ code: 'controller/not-leader' });
  await all.until(() => storedOn(all) === 'east', 'its former leader has it again');
  await pass(all, 30_000);
  expectSuspended(scene, 'Cara', 'east');
});
