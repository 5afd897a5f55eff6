import { expect, onTestFinished, test, vi } from 'vitest';
import { threadsOf } from '../../src/runtime/thread.ts';

test('a thread gets no environment and no arguments of its process', async () => {
  vi.stubEnv('PORTOLAN_TOKEN', 'a-token-that-stays-here');
  onTestFinished(() => void vi.unstubAllEnvs());
  const thread = await threadsOf(new URL('told-thread.ts', import.meta.url), { path: '/bin' })({ heapMib: 64 });
  const told = await new Promise((resolve) => thread.onMessage(resolve));
  expect(told).toEqual({ env: {}, argv: [], data: { path: '/bin' } });
  expect(await thread.ended).toEqual({ type: 'exited' });
});
