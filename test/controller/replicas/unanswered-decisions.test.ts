import { expect, test } from 'vitest';
import type { Group, Replica } from './hand-led.ts';
import { EAST, inSync } from './two-leaders.ts';

/** A decision of a user that the database has recorded, and whose answer is lost. */

const pauseAt = ({ controller }: Replica) => controller.api.application(EAST)?.pause?.type;

const createdInEast = (group: Group) => group.writes.filter(({ platform }) => platform === 'east');

function deleteRuleOfEast(group: Group): void {
  const { rules } = group.platforms.east;
  const own = [...rules.all()].find(({ type }) => type === 1);
  if (own === undefined) throw new Error('the east has its rule');
  rules.delete(own.id);
  group.writes.length = 0;
}

/** Carries out a command whose record gets no answer for as long as the leader asks. */
async function unanswered(group: Group, replica: Replica, command: () => Promise<unknown>): Promise<unknown> {
  replica.isUnanswered = (operation) => operation === 'commit' || operation === 'ask';
  const outcome = command().then(
    () => 'done',
    (error: unknown) => error,
  );
  await group.pass(30_000);
  return outcome;
}

test('a suspension that may be recorded is in force at once, and stays if it is', async () => {
  const { group, one, two } = await inSync();
  const error = await unanswered(group, one, () => one.controller.api.suspend(EAST, 'ops', 'incident'));
  expect(error).toMatchObject({ disposition: 'retry' });
  expect(pauseAt(one)).toBe('suspended');
  one.isUnanswered = () => false;
  deleteRuleOfEast(group);
  await group.pass(60 * 60_000);
  expect([pauseAt(one), pauseAt(two)]).toEqual(['suspended', 'suspended']);
  expect(createdInEast(group)).toEqual([]);
  expect(one.eventsOf('application.suspended')).toHaveLength(1);
});

test('a suspension that turns out not to be recorded ends', async () => {
  const { group, one, two } = await inSync();
  one.isLost = (operation) => operation === 'commit' || operation === 'read';
  const outcome = one.controller.api.suspend(EAST, 'ops', 'incident').catch((error: unknown) => error);
  await group.pass(30_000);
  expect(await outcome).toMatchObject({ disposition: 'retry' });
  expect(pauseAt(one), 'as long as the ledger does not answer').toBe('suspended');
  one.isLost = () => false;
  await group.pass(30_000);
  expect([pauseAt(one), pauseAt(two)]).toEqual([undefined, undefined]);
  deleteRuleOfEast(group);
  await group.pass(60 * 60_000);
  expect(createdInEast(group)).toHaveLength(1);
  expect(one.eventsOf('application.suspended')).toEqual([]);
});

test('an application stays suspended until the ledger says that it was resumed', async () => {
  const { group, one, two } = await inSync();
  await one.controller.api.suspend(EAST, 'ops', 'incident');
  await group.pass(30_000);
  deleteRuleOfEast(group);
  await unanswered(group, one, () => one.controller.api.resume(EAST, 'ops'));
  one.isUnanswered = () => false;
  await group.pass(30 * 60_000);
  expect([pauseAt(one), pauseAt(two)]).toEqual([undefined, undefined]);
  expect(createdInEast(group)).toHaveLength(1);
  expect(one.eventsOf('application.resumed')).toHaveLength(1);
});
