import type { LeadListener, Leadership } from '../../../src/controller/replicas/leadership.ts';
import type { Lead, LeaseUnit, SharedLedger } from '../../../src/ledger/shared.ts';

/** A leadership that a test hands out. */
export class HandLeadership implements Leadership {
  readonly isShared = true;
  readonly sendMarginMs = 0;
  readonly #shared: Pick<SharedLedger, 'lead'>;
  readonly #held = new Map<LeaseUnit, Lead>();
  readonly #leaving = new Set<LeaseUnit>();
  readonly #listeners = new Set<LeadListener>();

  constructor(shared: Pick<SharedLedger, 'lead'>) {
    this.#shared = shared;
  }

  of(unit: LeaseUnit): Lead | undefined {
    return this.#leaving.has(unit) ? undefined : this.held(unit);
  }

  held(unit: LeaseUnit): Lead | undefined {
    const lead = this.#held.get(unit);
    return lead?.over.aborted === true ? undefined : lead;
  }

  onChange(listener: LeadListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @returns whether no other process has it. */
  async take(unit: LeaseUnit): Promise<boolean> {
    const lead = await this.#shared.lead(unit);
    if (lead === undefined) return false;
    for (const listener of this.#listeners) await listener({ type: 'taken', lead });
    this.#held.set(unit, lead);
    for (const listener of this.#listeners) await listener({ type: 'leading', lead });
    return true;
  }

  /** Hands a unit over. */
  async leave(unit: LeaseUnit): Promise<void> {
    const lead = this.#held.get(unit);
    if (lead === undefined) throw new Error(`${unit} is not led here`);
    this.#leaving.add(unit);
    for (const listener of this.#listeners) await listener({ type: 'leaving', lead });
    await lead.ledger.close();
    this.#held.delete(unit);
    this.#leaving.delete(unit);
    for (const listener of this.#listeners) await listener({ type: 'ended', lead });
  }
}
