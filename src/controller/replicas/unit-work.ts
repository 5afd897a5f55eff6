import type { LeaseUnit } from '../../ledger/shared.ts';

/** The work in progress of each unit, so that a unit is handed over only after its work has ended. */
export class UnitWork {
  readonly #running = new Map<LeaseUnit, Set<Promise<unknown>>>();

  /** Counts work until it ends, however it ends. */
  async run<Result>(unit: LeaseUnit, work: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(unit) ?? new Set();
    this.#running.set(unit, running);
    const working = work();
    running.add(working);
    try {
      return await working;
    } finally {
      running.delete(working);
      if (running.size === 0 && this.#running.get(unit) === running) this.#running.delete(unit);
    }
  }

  /** Resolves when no work of the unit is in progress. */
  async ended(unit: LeaseUnit): Promise<void> {
    for (let running = this.#running.get(unit); running !== undefined; running = this.#running.get(unit))
      await Promise.allSettled(running);
  }
}
