import { expect, test } from 'vitest';
import { twoLeaders } from './two-leaders.ts';

const UNITS = ['platform:east', 'platform:west', 'source:default'] as const;

test('in an outage of the database, a replica shows the leaders that it read last, and since when it knows them', async () => {
  const { group, one, two } = await twoLeaders();
  await group.pass(60_000);
  // As the leadership reads them, twice a second.
  await one.replicas.shared.leaders();
  const readMs = group.clock.now();
  await group.pass(500);
  one.isDatabaseAway = true;
  const state = await one.replicas.state(UNITS);
  expect(state).toMatchObject({ asOfMs: readMs, isCurrent: false });
  const shown = state.units.map(({ unit, leader, epoch }) => [unit, leader, epoch === null]);
  expect(shown).toEqual([
    ['platform:east', 'one', false],
    ['platform:west', 'two', false],
    ['source:default', 'one', false],
  ]);
  expect(state.replicas.map(({ name, leads }) => [name, leads])).toEqual([
    ['one', 2],
    ['two', 1],
  ]);
  expect(await one.replicas.leaderOf('platform:west')).toBeUndefined();
  expect(await two.replicas.leaderOf('platform:west')).toBe('two');
});
