import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BootTime, Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';

interface Sleeper {
  readonly wakeMs: number;
  readonly wake: () => void;
}

/** Time that passes only while `run` waits for a promise: it jumps from one sleeper to the next. */
export class VirtualClock implements Clock {
  #nowMs = 0;
  #sleepers: Sleeper[] = [];

  now(): number {
    return Date.UTC(2026, 10, 20) + this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  sinceBoot(): BootTime {
    return { boot: 'virtual', uptimeMs: this.#nowMs };
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const sleeper = { wakeMs: this.#nowMs + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason);
      });
    });
  }

  /** Runs until the promise settles: every promise job runs before each jump in time. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = promise.finally(() => {
      isSettled = true;
    });
    settled.catch(() => {});
    for (let turns = 0; !isSettled; turns += 1) {
      await nextTurn();
      if (isSettled) break;
      const next = this.#sleepers.sort((left, right) => left.wakeMs - right.wakeMs).shift();
      if (next === undefined && turns > 1000) throw new Error('nothing sleeps, and the promise does not settle');
      if (next === undefined) continue;
      this.#nowMs = Math.max(this.#nowMs, next.wakeMs);
      next.wake();
    }
    return await settled;
  }
}

/** Chance from a list that repeats. */
export function chance(...values: readonly number[]): Random {
  let index = 0;
  return {
    next: () => values[index++ % values.length] ?? 0,
    hex: (bytes) => '0'.repeat(2 * bytes),
  };
}
