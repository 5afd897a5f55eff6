import { isLedgerLost } from '../../ledger/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Lead, LeaseUnit } from '../../ledger/shared.ts';
import { PortolanError } from '../../model/errors.ts';
import type { MonotonicMs } from '../../model/time.ts';
import type { Log } from '../../runtime/log.ts';
import type { RefusedBecause } from '../api.ts';

/** A lead that ends for good with the first transaction that the database refuses because of it. */
export class HeldLead implements Lead {
  readonly unit: LeaseUnit;
  readonly ledger: Ledger;
  readonly #lead: Lead;
  readonly #over = new AbortController();
  /** The error of the transaction that ended it; undefined: none did. */
  refusal: PortolanError | undefined;

  /** @param onFenced is called for each transaction that was refused. */
  constructor(lead: Lead, onFenced: (because: RefusedBecause) => void) {
    this.unit = lead.unit;
    this.#lead = lead;
    const { ledger } = lead;
    this.ledger = {
      ...ledger,
      commit: async (transaction) => {
        try {
          await ledger.commit(transaction);
        } catch (error) {
          if (error instanceof PortolanError && isLedgerLost(error)) this.#refuse(error, onFenced);
          throw error;
        }
      },
    };
    const over = (): void => {
      const reason: unknown = lead.over.reason;
      if (reason instanceof PortolanError) this.#refuse(reason, onFenced);
      else this.end();
    };
    if (lead.over.aborted) over();
    else lead.over.addEventListener('abort', over, { once: true });
  }

  /** The lead may end with the same error that a transaction throws then. */
  #refuse(error: PortolanError, onFenced: (because: RefusedBecause) => void): void {
    if (this.refusal === error) return;
    this.refusal ??= error;
    onFenced(error.code === 'ledger/replaced' ? 'records-lost' : 'taken-over');
    this.end();
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  validUntilMs(): MonotonicMs {
    return this.#lead.validUntilMs();
  }

  end(): void {
    this.#over.abort();
  }
}

/** Logs that this process does not lead a unit any more, and why. */
export function logLost({ unit, refusal }: HeldLead, log: Log): void {
  if (refusal?.code !== 'ledger/replaced')
    return log.warn(
      `does not lead ${unit} any more: another controller took it over, because its lease was not renewed in time`,
    );
  // Its successor would not know what this process has sent, and might send it again.
  const { message, code, remedy } = refusal;
  log.error(
    `does not work on ${unit} any more, and does not release its lease, so that no other controller does: ${message}`,
    {
      code,
      remedy,
    },
  );
}
