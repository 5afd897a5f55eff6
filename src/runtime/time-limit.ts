import type { MonotonicMs } from '../model/time.ts';
import type { Clock } from './clock.ts';

/** A moment on two clocks of this process's machine. */
export interface Moment {
  readonly monotonicMs: MonotonicMs;
  /** Time since boot, which passes while the machine is suspended. */
  readonly uptimeMs: number;
}

/** Returns the moment to take before something begins whose time is limited. */
export function momentOf(clock: Clock): Moment {
  // This order, and the reverse one later, make a pause between two readings shorten the time.
  const { uptimeMs } = clock.sinceBoot();
  return { monotonicMs: clock.monotonic(), uptimeMs };
}

/**
 * Decides for how long a process may trust a lease or what it has read, or send what it has recorded. The time counts also
 * while the machine of the process is suspended, when its monotonic clock may stand still.
 */
export class TimeLimit {
  readonly #clock: Clock;
  readonly #durationMs: number;
  #from: Moment;

  constructor(clock: Clock, durationMs: number, from: Moment) {
    this.#clock = clock;
    this.#durationMs = durationMs;
    this.#from = from;
  }

  /** Counts from a later moment; an earlier one changes nothing. */
  renewedFrom(from: Moment): void {
    if (from.monotonicMs > this.#from.monotonicMs || from.uptimeMs > this.#from.uptimeMs) this.#from = from;
  }

  /** Returns when the time is over, by the monotonic clock. Each suspension makes it earlier. */
  untilMs(): MonotonicMs {
    const from = this.#from;
    const nowMs = this.#clock.monotonic();
    const { uptimeMs, errorMs = 0 } = this.#clock.sinceBoot();
    const suspendedMs = uptimeMs - from.uptimeMs + errorMs - (nowMs - from.monotonicMs);
    return from.monotonicMs + this.#durationMs - Math.max(0, suspendedMs);
  }
}
