import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { EpochMs, MonotonicMs } from '../model/time.ts';

/** The only source of time. The simulator has another implementation. */
export interface Clock {
  now(): EpochMs;
  monotonic(): MonotonicMs;
  /** Returns the time since the machine started. It is independent of the wall clock and equal in all processes. */
  sinceBoot(): BootTime;
  /** Resolves after `ms` milliseconds; rejects with the reason of the signal when that is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface BootTime {
  /** The id of this start of the machine; `''` where the system has none, and then only the wall clock is left. */
  readonly boot: string;
  /** Whole milliseconds. */
  readonly uptimeMs: number;
}

/** The reason to abort a wait that is not needed any more. Without a reason, each `abort()` makes an error with a stack. */
export const NOT_NEEDED = new Error('the wait is not needed any more');

/** Calls `then` after `ms` milliseconds, unless `unless` is aborted before. */
export function after(clock: Clock, ms: number, unless: AbortSignal, then: () => void): void {
  clock.sleep(ms, unless).then(then, (error: unknown) => {
    if (!unless.aborted) throw error;
  });
}

/** Returns a promise that rejects with the signal's reason once it is aborted, and never resolves. */
export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Longest timer of Node.js, 24.8 days. It fires at once beyond that. */
const TIMER_MS_MAX = 2 ** 31 - 1;

let bootId: string | undefined;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => {
    bootId ??= readBootId();
    return { boot: bootId, uptimeMs: Math.round(uptime() * 1000) };
  },
  // `node:timers/promises` would reject with an error of its own, whose stack takes longer than all the rest.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      let timer: NodeJS.Timeout | undefined;
      let leftMs = ms;
      const wait = (): void => {
        const partMs = Math.min(leftMs, TIMER_MS_MAX);
        leftMs -= partMs;
        timer = setTimeout(leftMs > 0 ? wait : end, partMs);
      };
      const end = (): void => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      wait();
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/** Returns the id that Linux gives to each start of the machine; other systems have none. */
function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
