import type { BootTime, Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';

interface Sleeper {
  readonly wakeAtMs: number;
  readonly order: number;
  wake(): void;
}

/** Time that passes only when everybody sleeps: when all promise jobs have run, the earliest sleeper is woken. */
export class VirtualClock implements Clock {
  #nowMs: number;
  #wallOffsetMs = 0;
  #boot = 1;
  #order = 0;
  #turning = false;
  readonly #sleepers: Sleeper[] = [];
  static #era = 0;
  readonly #born = VirtualClock.#era;

  /** On all clocks that exist, time stops for ever: who sleeps by one of them is never woken. */
  static endAll(): void {
    VirtualClock.#era += 1;
  }

  constructor(startMs = Date.UTC(2026, 10, 20, 12)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  sinceBoot(): BootTime {
    return { boot: `boot-${this.#boot}`, uptimeMs: this.#nowMs };
  }

  /** The wall clock is set; no time passes. */
  jump(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** The machine starts anew. */
  reboot(): void {
    this.#boot += 1;
  }

  /** Lets time pass for a process that is not there. */
  advance(ms: number): void {
    this.#nowMs += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        const at = this.#sleepers.indexOf(sleeper);
        if (at !== -1) this.#sleepers.splice(at, 1);
        reject(signal?.reason as Error);
      };
      const wake = (): void => {
        // A signal that lives on would keep a listener for each wait, and look through all of them at the next one.
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const sleeper: Sleeper = { wakeAtMs: this.#nowMs + Math.max(0, ms), order: this.#order++, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', abort, { once: true });
      this.#turn();
    });
  }

  #turn(): void {
    if (this.#turning) return;
    this.#turning = true;
    setImmediate(() => {
      if (this.#born !== VirtualClock.#era) return;
      this.#turning = false;
      this.#sleepers.sort((left, right) => left.wakeAtMs - right.wakeAtMs || left.order - right.order);
      const next = this.#sleepers.shift();
      if (next === undefined) return;
      this.#nowMs = Math.max(this.#nowMs, next.wakeAtMs);
      next.wake();
      if (this.#sleepers.length > 0) this.#turn();
    });
  }
}

/** Repeatable chance: mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    hex: (bytes) =>
      Array.from({ length: bytes }, () =>
        Math.floor(next() * 256)
          .toString(16)
          .padStart(2, '0'),
      ).join(''),
  };
}
