import { expect, test } from 'vitest';
import type { PortolanError } from '../../../src/model/errors.ts';
import type { Json } from '../../../src/model/json.ts';
import { add, CommandsWorld, never, refusal, UNIT } from './commands-world.ts';

test('only a command that was recorded before its leader took the unit may have been carried out before', async () => {
  const world = new CommandsWorld();
  const refuse = async (): Promise<Json> => {
    throw refusal;
  };
  const first = world.replica('first', refuse);
  const { commands, leadership } = world.replica('second', refuse);
  const messageOf = async (id: string): Promise<string> => {
    const error: unknown = await commands.resultOf(id, 10_000, never).catch((thrown: unknown) => thrown);
    return (error as PortolanError).message;
  };
  const inherited = [await add(commands, 'read', 'a'), await add(commands, 'approve')];
  await leadership.take(UNIT);
  expect(await Promise.all(inherited.map(messageOf))).toEqual([
    'It is another one. Nothing was approved.',
    'It is another one. Nothing more was approved. A former leader of Platform/default may have carried the command out, or a part of it.',
  ]);
  expect(await messageOf(await add(first.commands, 'approve'))).toBe('It is another one. Nothing was approved.');
});

test('a refusal is reported with its age once it is recorded, when its user may have stopped waiting', async () => {
  const world = new CommandsWorld();
  const { leadership } = world.replica('leader', async () => {
    throw refusal;
  });
  const { commands } = world.replica('follower');
  await leadership.take(UNIT);
  const untilMs = world.clock.now() + 12_000;
  world.cut.set('leader', (operation) =>
    operation === 'finish' && world.clock.now() < untilMs ? 'before' : undefined,
  );
  const id = await add(commands, 'approve');
  expect(await commands.resultOf(id, 10_000, never)).toBeUndefined();
  expect(world.refused).toEqual([]);
  await expect(commands.resultOf(id, 60_000, never)).rejects.toMatchObject({ code: 'controller/other-plan' });
  await world.until(() => world.refused.length > 0, 'it is reported');
  expect(world.ages).toEqual([expect.any(Number)]);
  expect(world.ages[0]).toBeGreaterThanOrEqual(12_000);
});

test('a refusal that could not be recorded is not reported: the next leader carries the command out', async () => {
  const world = new CommandsWorld();
  const first = world.replica('first', async () => {
    throw refusal;
  });
  await first.leadership.take(UNIT);
  world.cut.set('first', (operation) => (operation === 'finish' || operation === 'renew' ? 'before' : undefined));
  const { commands, leadership } = world.replica('second');
  const id = await add(commands, 'approve');
  while (!(await leadership.take(UNIT))) await world.clock.sleep(500);
  expect(await commands.resultOf(id, 60_000, never)).toEqual({ value: 'second' });
  world.cut.delete('first');
  await world.clock.sleep(30_000);
  expect(first.leadership.of(UNIT)).toBeUndefined();
  expect(world.done).toEqual(['first approve shop', 'second approve shop']);
  expect(world.refused).toEqual([]);
});

test('a refusal that was recorded is reported, also when no answer arrived before another replica took over', async () => {
  const world = new CommandsWorld();
  const first = world.replica('first', async () => {
    throw refusal;
  });
  await first.leadership.take(UNIT);
  let isRecorded = false;
  world.cut.set('first', (operation) => {
    if (operation === 'finish' && !isRecorded) {
      isRecorded = true;
      return 'after';
    }
    return operation === 'finish' || operation === 'renew' ? 'before' : undefined;
  });
  const { commands, leadership } = world.replica('second');
  const id = await add(commands, 'approve');
  while (!(await leadership.take(UNIT))) await world.clock.sleep(500);
  await expect(commands.resultOf(id, 60_000, never)).rejects.toMatchObject({ code: 'controller/other-plan' });
  world.cut.delete('first');
  await world.until(() => world.refused.length > 0, 'it is reported');
  await world.clock.sleep(30_000);
  expect(world.done).toEqual(['first approve shop']);
  expect(world.refused).toEqual(['first approve controller/other-plan']);
});
