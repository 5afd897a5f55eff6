import { expect, test } from 'vitest';
import type { ControllerApi } from '../../../src/controller/api.ts';
import { carryOut, type LeaderMethods } from '../../../src/controller/replicas/forwarded-methods.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const SCOPE = 'default/team-a/region-1/42';
const PATIENCE_MS = 110_000;

test('a read ends when the user who asked for it does not wait any more, and so do its requests', async () => {
  const clock = new VirtualClock();
  let until: AbortSignal | undefined;
  const planPrune: ControllerApi['planPrune'] = (_, signal) => {
    until = signal;
    // The platform does not answer.
    return new Promise(() => {});
  };
  const carriers = {
    local: { planPrune } as ControllerApi,
    leader: {} as LeaderMethods,
    records: new Map(),
    source: 'default',
    clock,
  };
  const command = {
    id: 'an-id',
    unit: 'platform:default',
    method: 'planPrune',
    args: { args: [SCOPE] },
    by: '',
    addedMs: 0,
    addedAgoMs: 30_000,
  } as const;
  const fromMs = clock.monotonic();
  await expect(carryOut(carriers, command, new AbortController().signal)).rejects.toMatchObject({
    code: 'controller/leader-silent',
  });
  expect(clock.monotonic() - fromMs).toBe(PATIENCE_MS - 30_000);
  expect(until?.aborted).toBe(true);
});

test('a read that is answered in time leaves no timer', async () => {
  const clock = new VirtualClock();
  const carriers = {
    local: { planPrune: async () => ({ digest: 'd' }) as never } as unknown as ControllerApi,
    leader: {} as LeaderMethods,
    records: new Map(),
    source: 'default',
    clock,
  };
  const args = { args: [SCOPE] };
  const command = {
    id: 'i',
    unit: 'platform:default',
    method: 'planPrune',
    args,
    by: '',
    addedMs: 0,
    addedAgoMs: 0,
  } as const;
  expect(await carryOut(carriers, command, new AbortController().signal)).toEqual({ digest: 'd' });
  await clock.sleep(2 * PATIENCE_MS);
});
