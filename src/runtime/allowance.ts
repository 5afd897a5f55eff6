import type { Clock } from './clock.ts';

/** A token bucket: allows `burst` at once and `perMs` a millisecond in the long run, of requests, messages or time. */
export class Allowance {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perMs: number;
  #left: number;
  #atMs: number;

  constructor(clock: Clock, burst: number, perMs: number) {
    this.#clock = clock;
    this.#burst = burst;
    this.#perMs = perMs;
    this.#left = burst;
    this.#atMs = clock.monotonic();
  }

  /** Returns the amount that may be used now. Below 0: it was used in advance. */
  get left(): number {
    const nowMs = this.#clock.monotonic();
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
    return this.#left;
  }

  use(amount: number): void {
    this.#left = this.left - amount;
  }

  /** Returns the wait until nothing is used in advance, in milliseconds. */
  get debtMs(): number {
    return Math.ceil(Math.max(0, -this.left) / this.#perMs);
  }
}
