import { expect, test } from 'vitest';
import { Replicas } from '../../../src/controller/replicas/group.ts';
import { MemoryDatabase } from '../../support/memory-database.ts';
import { MemoryStore } from '../../support/memory-ledger.ts';
import { openMemoryShared } from '../../support/memory-shared.ts';
import { seededRandom, VirtualClock } from '../../support/virtual-clock.ts';
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

test('a replica that was restarted under its name does not count the units of its former process', async () => {
  const clock = new VirtualClock();
  const database = new MemoryDatabase(new MemoryStore('lineage'), () => clock.monotonic());
  const open = (seed: number) =>
    openMemoryShared(database, { clock, random: seededRandom(seed), actor: 'one', replica: 'one' });
  const report = { name: 'one', version: '0.0.0', address: null, startedMs: 0, facts: null };
  const killed = open(1);
  await killed.beat(report, false);
  await killed.lead('platform:east');
  await killed.lead('platform:west');
  const restarted = new Replicas(open(2), { name: 'one', leaseMs: 15_000, clock });
  await restarted.shared.beat({ ...report, startedMs: 1 }, false);
  await restarted.shared.lead('source:default');
  const { replicas } = await restarted.state(UNITS);
  expect(replicas.map(({ startedMs, leads }) => [startedMs, leads])).toEqual([
    [0, 2],
    [1, 1],
  ]);
});

test('a heartbeat has what the leadership reports and what the controller knows', async () => {
  const { one, two } = await twoLeaders('{}', true);
  await one.replicas.shared.beat(
    { name: 'one', version: '0.0.0', address: null, startedMs: 0, facts: { canTake: false } },
    false,
  );
  const report = { name: 'two', version: '0.0.0', address: null, startedMs: 0, facts: {} };
  const live = await two.replicas.shared.beat(report, false);
  expect(live.find(({ name }) => name === 'one')?.facts).toMatchObject({ canTake: false, isCurrent: true });
});

test('a unit that was led counts as configured while a live replica reports that it can lead it', async () => {
  const { group, one, two } = await twoLeaders();
  await two.leadership.take('platform:third');
  await group.pass(10_000);
  const isConfigured = async (): Promise<boolean | undefined> =>
    (await one.replicas.state(UNITS)).units.find(({ unit }) => unit === 'platform:third')?.isConfigured;
  expect(await isConfigured()).toBe(false);
  const { facts } = two.replicas;
  two.replicas.facts = () => ({ ...facts(), units: ['platform:third'] });
  await group.pass(10_000);
  expect(await isConfigured()).toBe(true);
  two.replicas.facts = () => ({ ...facts(), units: undefined });
  await group.pass(10_000);
  expect(await isConfigured(), 'an earlier version').toBe(true);
});
