import type { MonotonicMs } from '../model/time.ts';
import type { Clock } from '../runtime/clock.ts';

/** Part of a lease that the way of a request's first byte may take, and as much as a margin. */
const SEND_PART = 8;
const SEND_MS_MAX = 2_000;

/** Returns for how long a lease must be valid when a request leaves: the way of its first byte, and a margin. */
export function sendMarginMs(leaseMs: number): number {
  return Math.min(SEND_MS_MAX, leaseMs / SEND_PART) + leaseMs / SEND_PART;
}

/** A moment on two clocks of this process's machine. */
export interface LeaseMoment {
  readonly monotonicMs: MonotonicMs;
  /** Time since boot, which passes while the machine is suspended. */
  readonly uptimeMs: number;
}

/** Returns the moment before a lease is requested or renewed. */
export function leaseMoment(clock: Clock): LeaseMoment {
  // This order, and the reverse one later, make a pause between two readings shorten the lease.
  const { uptimeMs } = clock.sinceBoot();
  return { monotonicMs: clock.monotonic(), uptimeMs };
}

/**
 * Decides how long a process may trust a lease or what it has read, or send what it has recorded. The time counts also while the machine of the process is suspended,
 * when its monotonic clock may stand still.
 */
export class LeaseValidity {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  #from: LeaseMoment;

  /** @param from before the request for the lease was sent. */
  constructor(clock: Clock, leaseMs: number, from: LeaseMoment) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#from = from;
  }

  /** @param from before the renewal was sent. */
  renewedFrom(from: LeaseMoment): void {
    if (from.monotonicMs > this.#from.monotonicMs || from.uptimeMs > this.#from.uptimeMs) this.#from = from;
  }

  /** Returns until when no other process can have taken the lease, by the monotonic clock. Each suspension makes it earlier. */
  untilMs(): MonotonicMs {
    const from = this.#from;
    const nowMs = this.#clock.monotonic();
    const { uptimeMs, errorMs = 0 } = this.#clock.sinceBoot();
    const suspendedMs = uptimeMs - from.uptimeMs + errorMs - (nowMs - from.monotonicMs);
    return from.monotonicMs + this.#leaseMs - Math.max(0, suspendedMs);
  }
}
