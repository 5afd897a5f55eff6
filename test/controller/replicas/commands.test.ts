import { expect, test } from 'vitest';
import type { Command, LeaseUnit } from '../../../src/ledger/shared.ts';
import type { Json } from '../../../src/model/json.ts';
import { add, CommandsWorld, DRAIN_MS, never, OTHER, refusal, SOURCE, UNIT } from './commands-world.ts';

test('the leader carries a command out and answers, also with a refusal, and only the leader', async () => {
  const world = new CommandsWorld();
  const { leadership } = world.replica('leader', async ({ method }) => {
    if (method === 'approve') throw refusal;
    return { by: 'leader' };
  });
  const { commands } = world.replica('follower');
  await leadership.take(UNIT);
  const id = await add(commands, 'suspend');
  expect(await commands.resultOf(id, 10_000, never)).toEqual({ value: { by: 'leader' } });
  const other = await add(commands, 'approve');
  const { code, disposition, message, remedy } = refusal;
  await expect(commands.resultOf(other, 10_000, never)).rejects.toMatchObject({ code, disposition, message, remedy });
  expect(world.done).toEqual(['leader suspend shop', 'leader approve shop']);
  expect(world.refused).toEqual(['leader approve controller/other-plan']);
});

test('without signals, the answer comes within the poll intervals', async () => {
  const world = new CommandsWorld();
  world.hasSignals = false;
  const { leadership } = world.replica('leader');
  const { commands } = world.replica('follower');
  await leadership.take(UNIT);
  const fromMs = world.clock.now();
  expect(await commands.resultOf(await add(commands, 'suspend'), 10_000, never)).toEqual({ value: 'leader' });
  expect(world.clock.now() - fromMs).toBeLessThanOrEqual(2_500);
});

test('a command that was confirmed is carried out by the next leader when its leader was killed before it began', async () => {
  const world = new CommandsWorld();
  const first = world.replica('first');
  await first.leadership.take(UNIT);
  world.cut.set('first', 'before');
  const { commands, leadership } = world.replica('second');
  const id = await add(commands, 'suspend');
  const answer = commands.resultOf(id, 60_000, never);
  await world.until(() => world.clock.now() > world.database.nowMs() - 1, 'time passes');
  while (!(await leadership.take(UNIT))) await world.clock.sleep(500);
  expect(await answer).toEqual({ value: 'second' });
  expect(world.done).toEqual(['second suspend shop']);
});

test('a command that was carried out and not reported is refused by the next leader, or reported', async () => {
  const world = new CommandsWorld();
  const approved = new Set<string>();
  const approve = async ({ args }: Command): Promise<string> => {
    if (approved.has(JSON.stringify(args))) throw refusal;
    approved.add(JSON.stringify(args));
    return 'approved';
  };
  const first = world.replica('first', approve);
  await first.leadership.take(UNIT);
  world.cut.set('first', (operation) => (operation === 'finish' || operation === 'renew' ? 'before' : undefined));
  const { commands, leadership } = world.replica('second', approve);
  const id = await add(commands, 'approve');
  const answer = commands.resultOf(id, 60_000, never);
  answer.catch(() => {});
  await world.until(() => approved.size === 1, 'it is carried out');
  while (!(await leadership.take(UNIT))) await world.clock.sleep(500);
  await expect(answer).rejects.toMatchObject({
    code: 'controller/other-plan',
    message:
      'It is another one. Nothing more was approved. A former leader of Platform/default may have carried the command out, or a part of it.',
    remedy: 'See first whether it did: portolan history and portolan status show that. If it did not: Look again.',
  });
  expect(world.done).toEqual(['first approve shop', 'second approve shop']);
  expect(world.refused).toEqual(['second approve controller/other-plan']);
});

test('a result whose answer was lost is recorded once', async () => {
  const world = new CommandsWorld();
  const { leadership } = world.replica('leader');
  const { commands } = world.replica('follower');
  await leadership.take(UNIT);
  let cuts = 0;
  world.cut.set('leader', (operation) => (operation === 'finish' && (cuts += 1) <= 3 ? 'after' : undefined));
  expect(await commands.resultOf(await add(commands, 'suspend'), 30_000, never)).toEqual({ value: 'leader' });
  await world.until(() => cuts > 3, 'the leader knows');
  expect(world.done).toEqual(['leader suspend shop']);
});

test('commands about one thing run in order, those of local users too; others do not wait', async () => {
  const world = new CommandsWorld();
  const slow = Promise.withResolvers<void>();
  const { leadership, commands: own } = world.replica('leader', async ({ method }) => {
    if (method === 'slow') await slow.promise;
    return method;
  });
  const { commands } = world.replica('follower');
  await leadership.take(UNIT);
  await add(commands, 'slow');
  const last = await add(commands, 'resume');
  const other = await add(commands, 'suspend', 'store');
  expect(await commands.resultOf(other, 10_000, never)).toEqual({ value: 'suspend' });
  const local = own.afterRecorded(UNIT, 'shop', async () => void world.done.push('local'));
  await world.clock.sleep(3_000);
  expect(world.done).toEqual(['leader slow shop', 'leader suspend store']);
  slow.resolve();
  expect(await commands.resultOf(last, 10_000, never)).toEqual({ value: 'resume' });
  await local;
  expect(world.done.slice(2)).toEqual(['leader resume shop', 'local']);
});

test('a local user comes after a command that was recorded before and that the leader has not found yet', async () => {
  const world = new CommandsWorld();
  world.hasSignals = false;
  const { leadership, commands: own } = world.replica('leader');
  const { commands } = world.replica('follower');
  await leadership.take(UNIT);
  await world.clock.sleep(100);
  await add(commands, 'resume');
  await own.afterRecorded(UNIT, 'shop', async () => void world.done.push('local suspend'));
  expect(world.done).toEqual(['leader resume shop', 'local suspend']);
});

test('a leader that hands a unit over finishes what it began, and leaves the rest to the next one', async () => {
  const world = new CommandsWorld();
  const slow = Promise.withResolvers<void>();
  const first = world.replica('first', async ({ method }) => {
    if (method === 'slow') await slow.promise;
    return 'first';
  });
  const { commands, leadership } = world.replica('second');
  await first.leadership.take(UNIT);
  const begun = await add(commands, 'slow');
  const waiting = await add(commands, 'resume');
  await world.until(() => world.done.length === 1, 'it has begun');
  const leaving = first.leadership.leave(UNIT);
  await world.clock.sleep(100);
  slow.resolve();
  await leaving;
  expect(await leadership.take(UNIT)).toBe(true);
  expect(await commands.resultOf(begun, 10_000, never)).toEqual({ value: 'first' });
  expect(await commands.resultOf(waiting, 10_000, never)).toEqual({ value: 'second' });
  expect(world.done).toEqual(['first slow shop', 'second resume shop']);
});

test('a hand-over does not wait without limit for a command that hangs, and the unit is taken again only after it', async () => {
  const world = new CommandsWorld();
  const hung = Promise.withResolvers<Json>();
  const first = world.replica('first', () => hung.promise);
  const { commands, leadership } = world.replica('second');
  await first.leadership.take(UNIT);
  const id = await add(commands, 'prune');
  await world.until(() => world.done.length === 1, 'it has begun');
  const fromMs = world.clock.now();
  let isEnded = false;
  const left = first.leadership.leave(UNIT).then(() => (isEnded = true));
  let isTaken = false;
  await world.until(() => {
    void leadership.take(UNIT).then((taken) => (isTaken ||= taken));
    return isTaken;
  }, 'the next leader has it');
  expect(world.clock.now() - fromMs).toBeGreaterThanOrEqual(DRAIN_MS);
  expect(world.clock.now() - fromMs).toBeLessThan(DRAIN_MS + 1_000);
  expect(world.lines.join('')).toContain(`the work of ${UNIT} did not end within 30 s`);
  expect(await commands.resultOf(id, 10_000, never)).toEqual({ value: 'second' });
  expect(isEnded).toBe(false);
  hung.resolve('too late');
  await left;
});

test('a hand-over waits for no read, nor for what has not begun; the next leader carries both out', async () => {
  const world = new CommandsWorld();
  const hung = new Promise<Json>(() => {});
  const first = world.replica('first', ({ method }) => (method === 'read' ? hung : Promise.resolve('first')));
  const { commands, leadership } = world.replica('second');
  await first.leadership.take(UNIT);
  // More than are answered at once: the last one has not begun.
  const reads = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((about) => add(commands, 'read', about)));
  const local = first.commands.afterRecorded(UNIT, 'shop', () => hung);
  local.catch(() => {});
  await world.until(() => world.done.length === 4, 'the reads have begun');
  const behind = await add(commands, 'resume');
  await world.clock.sleep(3_000);
  let isOver = false;
  const leaving = first.leadership.leave(UNIT).then(() => (isOver = true));
  await world.clock.sleep(1_000);
  expect(isOver).toBe(true);
  await leaving;
  expect(await leadership.take(UNIT)).toBe(true);
  for (const id of [...reads, behind]) expect(await commands.resultOf(id, 10_000, never)).toEqual({ value: 'second' });
});

test('long reads of a platform hold up neither short reads nor those of other platforms', async () => {
  const world = new CommandsWorld();
  const slow = new Promise<Json>(() => {});
  const { leadership } = world.replica('leader', async ({ unit, args }) =>
    unit === UNIT && args === 'long' ? slow : `${unit} ${args as string}`,
  );
  const { commands } = world.replica('follower');
  await leadership.take(UNIT);
  await leadership.take(OTHER);
  for (let count = 0; count < 5; count += 1) await add(commands, 'read', 'long');
  const others = await Promise.all([
    commands.add({ unit: OTHER, method: 'read', args: 'long', by: '' }),
    commands.add({ unit: OTHER, method: 'read', args: 'short', by: '' }),
    add(commands, 'read', 'short'),
  ]);
  expect(await Promise.all(others.map((id) => commands.resultOf(id, 10_000, never)))).toEqual([
    { value: 'platform:other long' },
    { value: 'platform:other short' },
    { value: 'platform:default short' },
  ]);
  // Four of the five have begun, and the one of the other platform.
  expect(world.done.filter((line) => line === 'leader read long')).toHaveLength(5);
});

test('a caller who leaves does not wait, and a bug at the leader is reported as one', async () => {
  const world = new CommandsWorld();
  const { leadership } = world.replica('leader', async () => {
    throw new TypeError('no');
  });
  const { commands } = world.replica('follower');
  const id = await add(commands, 'suspend');
  const gone = new AbortController();
  const answer = commands.resultOf(id, 60_000, gone.signal);
  gone.abort(new Error('gone'));
  await expect(answer).rejects.toThrow('gone');
  expect(await commands.resultOf(id, 1_000, never)).toBeUndefined();
  await leadership.take(UNIT);
  await expect(commands.resultOf(id, 10_000, never)).rejects.toMatchObject({ code: 'controller/command-failed' });
  expect(world.refused).toEqual(['leader suspend controller/command-failed']);
  expect(world.lines.join()).toContain('a bug in Portolan: TypeError: no');
});

test('after a bug while commands are read, they are carried out, and the bug is logged once', async () => {
  const world = new CommandsWorld();
  const { leadership } = world.replica('leader');
  const { commands } = world.replica('follower');
  await leadership.take(UNIT);
  world.cut.set('leader', (operation) => {
    if (operation === 'commands') throw new TypeError('no rows');
    return undefined;
  });
  const id = await add(commands, 'suspend');
  await world.clock.sleep(30_000);
  world.cut.delete('leader');
  expect(await commands.resultOf(id, 10_000, never)).toEqual({ value: 'leader' });
  expect(world.lines.filter((line) => line.includes('a bug in Portolan: TypeError: no rows'))).toHaveLength(1);
});

test('after a bug while a result is recorded, it is recorded, and the command is not carried out once more', async () => {
  const world = new CommandsWorld();
  const { leadership } = world.replica('leader');
  const { commands } = world.replica('follower');
  await leadership.take(UNIT);
  world.cut.set('leader', (operation) => {
    if (operation === 'finish') throw new TypeError('no rows');
    return undefined;
  });
  const id = await add(commands, 'suspend');
  await world.clock.sleep(10_000);
  world.cut.delete('leader');
  expect(await commands.resultOf(id, 10_000, never)).toEqual({ value: 'leader' });
  expect(world.done).toEqual(['leader suspend shop']);
});

const HOUR_MS = 3_600_000;
const resultsIn = ({ database }: CommandsWorld): readonly unknown[] =>
  database.commands.map(({ result }) => result?.value);
const expired = { error: expect.objectContaining({ code: 'controller/command-expired' }) };

test('an order that nobody carried out for an hour is refused, also after a long outage of the database', async () => {
  const world = new CommandsWorld();
  const { leadership } = world.replica('leader');
  const { commands } = world.replica('follower');
  await add(commands, 'resume');
  await add(commands, 'suspend');
  await world.clock.sleep(HOUR_MS / 2);
  await add(commands, 'approve');
  await world.clock.sleep(HOUR_MS / 2 + 1);
  await leadership.take(UNIT);
  await world.until(() => resultsIn(world).every((result) => result !== undefined), 'all have a result');
  // Only what stops work is carried out however late.
  expect(resultsIn(world)).toEqual([expired, { value: 'leader' }, { value: 'leader' }]);
  expect(world.done).toEqual(['leader suspend shop', 'leader approve shop']);
  expect(world.refused).toEqual(['leader resume controller/command-expired']);
});

test('the age of an order counts while it waits for another one', async () => {
  const world = new CommandsWorld();
  const slow = Promise.withResolvers<void>();
  const { leadership } = world.replica('leader', async ({ method }) => {
    if (method === 'slow') await slow.promise;
    return method;
  });
  const { commands } = world.replica('follower');
  await leadership.take(UNIT);
  await add(commands, 'slow');
  await add(commands, 'resume');
  await world.clock.sleep(HOUR_MS + 1);
  slow.resolve();
  await world.until(() => resultsIn(world).every((result) => result !== undefined), 'both have a result');
  expect(resultsIn(world)).toEqual([{ value: 'slow' }, expired]);
});

test('orders to a platform that no replica leads are refused after an hour, and those to others are not', async () => {
  const world = new CommandsWorld();
  const first = world.replica('first');
  const second = world.replica('second');
  await first.leadership.take(SOURCE);
  const toRemoved = await first.commands.add({ unit: 'platform:removed', method: 'sync', args: 'shop', by: 'ops' });
  // A rolling change of the configuration: another replica still has the platform, and works on it.
  const kept: LeaseUnit = 'platform:kept';
  await second.leadership.take(kept);
  const toKept = await first.commands.add({ unit: kept, method: 'sync', args: 'store', by: 'ops' });
  await world.clock.sleep(HOUR_MS);
  expect(resultsIn(world)).toEqual([undefined, undefined]);
  const answer = first.commands.resultOf(toRemoved, HOUR_MS, never);
  await expect(answer).rejects.toMatchObject({ code: 'controller/command-expired' });
  expect(await first.commands.resultOf(toKept, 1, never)).toBeUndefined();
  expect(world.done).toEqual([]);
  expect(world.refused).toEqual(['first sync controller/command-expired']);
});

test('orders to a platform whose leader keeps its lease and does not work are refused later, but not a suspension', async () => {
  const world = new CommandsWorld();
  const first = world.replica('first');
  await first.leadership.take(SOURCE);
  // As a leader whose ledger has lost its records.
  await world.open('idle').lead(UNIT);
  await add(first.commands, 'suspend');
  const order = await add(first.commands, 'sync');
  await world.clock.sleep(HOUR_MS + 600_000);
  expect(resultsIn(world)).toEqual([undefined, undefined]);
  const answer = first.commands.resultOf(order, HOUR_MS, never);
  await expect(answer).rejects.toMatchObject({ code: 'controller/command-expired' });
  expect(resultsIn(world)).toEqual([undefined, expired]);
  expect(world.done).toEqual([]);
  expect(world.refused).toEqual(['first sync controller/command-expired']);
});
