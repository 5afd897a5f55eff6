import { expect, test } from 'vitest';
import { createPlanGate } from '../../src/server/plan-gate.ts';

const LIMITS = { plans: 1, plansWaiting: 10, plansOfCaller: 1, plansWaitingOfCaller: 10 };

test('a client that leaves while its plan is made does not let another one begin before it has ended', async () => {
  const gate = createPlanGate(LIMITS);
  let running = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  const work = async (): Promise<string> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
    return 'made';
  };
  const clients = Array.from({ length: 5 }, () => new AbortController());
  const plans = clients.map(({ signal }) => gate.run('one token', signal, work).catch((error: Error) => error.message));
  for (const client of clients.slice(0, 4)) {
    await Promise.resolve();
    client.abort(new Error('left'));
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect([running, most]).toEqual([1, 1]);

  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  // The first had begun and ends with its result; those that waited are let go; the last one takes its turn.
  expect(await Promise.all(plans)).toEqual(['made', 'left', 'left', 'left', 'made']);
  expect(most).toBe(1);
});
