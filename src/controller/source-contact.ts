import type { MonotonicMs } from '../model/time.ts';
import { momentOf, TimeLimit } from '../runtime/time-limit.ts';
import type { CoreBase } from './options.ts';
import { sourceUnit } from './replicas/leadership.ts';

/** Interval at which this process shows that it runs. */
export const STEP_MS = 10_000;
/**
 * A process that has not run for longer stood still: a signal stopped it, or its machine was suspended. Work delays a step by seconds. A
 * shorter standstill delays the knowledge of a commit no more than the interval at which the source is read.
 */
export const STANDSTILL_MS = 60_000;

/**
 * Decides whether a reading of the source is recent enough to remove something by it. A revision that was the present one stays so only
 * as long as the leader of the source, which may be this process, reads the source.
 */
export class SourceContact {
  readonly #core: CoreBase;
  /** Validity of what was read before this process last showed that it runs. */
  readonly #ran: TimeLimit;
  /** Readings of the source from before are older than what another leader may have accepted, or than a standstill. */
  #confirmedFromMs: MonotonicMs = Number.NEGATIVE_INFINITY;
  /** This process has accepted a reading since. */
  #isConfirmed = true;

  constructor(core: CoreBase) {
    this.#core = core;
    const { clock } = core.options;
    this.#ran = new TimeLimit(clock, STANDSTILL_MS, momentOf(clock));
  }

  /** The leader of the source reads it, and this process knows what that one found. */
  get isKept(): boolean {
    const { options, sharedState } = this.#core;
    if (sharedState?.isStale === true) return false;
    if (this.leads) return this.#isConfirmed && !this.#hasStoodStill;
    return options.replicas?.isSourceConfirmed ?? true;
  }

  /** This process leads the source. */
  get leads(): boolean {
    const { leadership, options } = this.#core;
    return leadership.of(sourceUnit(options.source)) !== undefined;
  }

  /** @param askedMs when the source was asked for its present state. */
  isRecent(askedMs: MonotonicMs): boolean {
    return askedMs >= this.#confirmedFromMs;
  }

  /** Lets nothing count that was read before. */
  doubt(): void {
    this.#confirmedFromMs = this.#core.options.clock.monotonic();
    this.#isConfirmed = false;
  }

  /**
   * Call when this process has accepted a reading.
   * @param askedMs as `isRecent`. The process may have stood still while it was accepted.
   */
  confirm(askedMs: MonotonicMs): void {
    if (this.isRecent(askedMs)) this.#isConfirmed = true;
  }

  /**
   * Shows that this process runs.
   * @returns whether the source must be read again: this process leads it, and stood still.
   */
  step(): boolean {
    const hasStoodStill = this.#hasStoodStill;
    this.#ran.renewedFrom(momentOf(this.#core.options.clock));
    // Also before this process leads the source: a reading from before the standstill may arrive once it does.
    if (hasStoodStill) this.doubt();
    return hasStoodStill && this.leads;
  }

  get #hasStoodStill(): boolean {
    return this.#core.options.clock.monotonic() > this.#ran.untilMs();
  }
}
