import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Lead, LeaseUnit } from '../../src/ledger/shared.ts';
import type { TimeLimit } from '../../src/runtime/time-limit.ts';
import type { Claim } from './lease-rows.ts';

/** The right of a process to write a unit in the simulated database. */
export class MemoryLead implements Lead {
  readonly unit: LeaseUnit;
  readonly claim: Claim;
  readonly #over = new AbortController();
  readonly over = this.#over.signal;
  ledger!: Ledger;
  turn: Promise<unknown> = Promise.resolve();
  isReleased = false;
  readonly validity: TimeLimit;

  constructor(unit: LeaseUnit, claim: Claim, validity: TimeLimit) {
    this.unit = unit;
    this.claim = claim;
    this.validity = validity;
  }

  validUntilMs(): number {
    return this.validity.untilMs();
  }

  end(): void {
    this.#over.abort();
  }
}
