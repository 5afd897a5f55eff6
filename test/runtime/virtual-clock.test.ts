import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../support/virtual-clock.ts';

test('what a test file left running stops with it', async () => {
  const left = new VirtualClock();
  let turns = 0;
  const runs = async (): Promise<void> => {
    for (;;) {
      await left.sleep(1_000);
      turns += 1;
    }
  };
  void runs();
  while (turns < 10) await setImmediate();
  VirtualClock.endAll();
  const before = turns;
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect(turns).toBe(before);
  await new VirtualClock().sleep(1_000);
});
