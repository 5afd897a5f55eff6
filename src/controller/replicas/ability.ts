import type { MonotonicMs } from '../../model/time.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Time without a successful read after which a replica gives its units to one that can read. */
const BLIND_MS = 60_000;
/** Leases for which a replica rests after a take that failed. Each further failure in a row doubles the time. */
const REST_LEASES = 4;
const REST_MS_MAX = 3_600_000;

/**
 * Knows whether this process can take units. Its heartbeats and its leases have connections of their own, so it can look alive to the
 * others, and idle, while it reads nothing: they would leave units to it that it never leads.
 */
export class Ability {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  /** Since when its reads fail; undefined: the last one did not. */
  #blindFromMs: MonotonicMs | undefined;
  #failures = 0;
  #restsUntilMs: MonotonicMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  /** @param isRead whether the leaders, and what the others store, could be read. */
  noteRead(isRead: boolean): void {
    this.#blindFromMs = isRead ? undefined : (this.#blindFromMs ?? this.#clock.monotonic());
  }

  noteTake(isTaken: boolean): void {
    const now = this.#clock.monotonic();
    if (isTaken) this.#failures = 0;
    // Takes that failed together count once.
    if (isTaken || now < this.#restsUntilMs) return;
    this.#restsUntilMs = now + Math.min(REST_LEASES * this.#leaseMs * 2 ** this.#failures, REST_MS_MAX);
    this.#failures += 1;
  }

  /** Whether the others should leave units to it. A short failure changes nothing: all have it when the database restarts. */
  get canTake(): boolean {
    return this.#clock.monotonic() >= this.#restsUntilMs && this.#blindMs < this.#leaseMs;
  }

  /** Whether it should give its units to one that can read. */
  get isBlind(): boolean {
    return this.#blindMs >= BLIND_MS;
  }

  get #blindMs(): number {
    return this.#blindFromMs === undefined ? 0 : this.#clock.monotonic() - this.#blindFromMs;
  }
}
