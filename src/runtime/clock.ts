import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { EpochMs, MonotonicMs } from '../model/time.ts';

/** The only source of time. The simulator has another implementation. */
export interface Clock {
  now(): EpochMs;
  monotonic(): MonotonicMs;
  /** Goes on whatever the wall clock does, and means the same in every process since the machine started. */
  sinceBoot(): BootTime;
  /** Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface BootTime {
  /** Which start of the machine; `''` where that cannot be told, and then only the wall clock is left. */
  readonly boot: string;
  /** Whole milliseconds. */
  readonly uptimeMs: number;
}

/** Calls `then` once that time has passed, unless `unless` is aborted before. */
export function after(clock: Clock, ms: number, unless: AbortSignal, then: () => void): void {
  clock.sleep(ms, unless).then(then, () => {});
}

/** Returns a promise that rejects with the signal's reason once it is aborted, and never resolves. */
export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

let bootId: string | undefined;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => {
    bootId ??= readBootId();
    return { boot: bootId, uptimeMs: Math.round(uptime() * 1000) };
  },
  sleep: async (ms, signal) => {
    await sleepFor(ms, undefined, signal === undefined ? {} : { signal });
  },
};

/** Linux names each start of the machine; other systems do not. */
function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
