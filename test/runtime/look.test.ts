import { expect, test } from 'vitest';
import { lookAt, soon } from '../../src/runtime/look.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/** Reads that end when the test says so. */
function reads() {
  const begun: PromiseWithResolvers<string>[] = [];
  const read = (): Promise<string> => {
    const one = Promise.withResolvers<string>();
    begun.push(one);
    return one.promise;
  };
  return { begun, read };
}

test('a read that takes longer than two seconds is not waited for', async () => {
  const clock = new VirtualClock();
  const beganMs = clock.monotonic();
  expect(await soon(clock, new Promise(() => {}))).toBeUndefined();
  expect(clock.monotonic() - beganMs).toBe(2_000);
  expect(await soon(clock, Promise.resolve('found'))).toBe('found');
  await expect(soon(clock, Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(clock.monotonic() - beganMs, 'the answer was not waited for').toBe(2_000);
});

test('while a read is late, no other one begins, and its end is the answer of all who look then', async () => {
  const clock = new VirtualClock();
  const { begun, read } = reads();
  const look = lookAt(clock, read);
  expect(await look()).toBeUndefined();
  expect(await look()).toBeUndefined();
  expect(begun).toHaveLength(1);
  const looking = look();
  begun[0]?.resolve('late');
  expect(await looking).toBe('late');
  const next = look();
  expect(begun).toHaveLength(2);
  begun[1]?.resolve('next');
  expect(await next).toBe('next');
});

test('a late read that fails is no unhandled rejection, and the next one begins', async () => {
  const clock = new VirtualClock();
  const { begun, read } = reads();
  const look = lookAt(clock, read);
  expect(await look()).toBeUndefined();
  begun[0]?.reject(new Error('cut'));
  await clock.sleep(0);
  const next = look();
  expect(begun).toHaveLength(2);
  begun[1]?.reject(new Error('refused'));
  await expect(next).rejects.toThrow('refused');
});
