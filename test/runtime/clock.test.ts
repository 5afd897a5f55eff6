import { getEventListeners } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock, unlessAborted } from '../../src/runtime/clock.ts';

const DAY_MS = 86_400_000;

afterEach(() => void vi.useRealTimers());

test('a sleep of a month ends after a month, although a timer of Node.js ends at once', async () => {
  vi.useFakeTimers();
  const told: string[] = [];
  void systemClock.sleep(30 * DAY_MS).then(() => told.push('ended'));
  await vi.advanceTimersByTimeAsync(30 * DAY_MS - 1);
  expect(told).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(told).toEqual(['ended']);
});

test('such a sleep can be aborted in each of its parts', async () => {
  vi.useFakeTimers();
  for (const days of [1, 26]) {
    const stop = new AbortController();
    const slept = systemClock.sleep(30 * DAY_MS, stop.signal).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(days * DAY_MS);
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await slept).toBe(reason);
    expect(vi.getTimerCount(), `${days} days`).toBe(0);
  }
});

test('work that ends leaves no listener on the signal that could have aborted it', async () => {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal]);
  expect(await unlessAborted(Promise.resolve('done'), signal)).toBe('done');
  await expect(unlessAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('work is left when the signal is aborted, also before', async () => {
  const never = new Promise<never>(() => {});
  const stop = new AbortController();
  const left = unlessAborted(never, stop.signal);
  stop.abort(new Error('enough'));
  await expect(left).rejects.toThrow('enough');
  await expect(unlessAborted(never, stop.signal)).rejects.toThrow('enough');
});
