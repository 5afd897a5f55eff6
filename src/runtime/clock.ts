import { setTimeout as sleepFor } from 'node:timers/promises';
import type { EpochMs, MonotonicMs } from '../model/time.ts';

/** The only source of time. The simulator has another implementation. */
export interface Clock {
  now(): EpochMs;
  monotonic(): MonotonicMs;
  /** Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleepFor(ms, undefined, signal === undefined ? {} : { signal });
  },
};
