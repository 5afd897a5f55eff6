import type { Kysely } from 'kysely';
import { explainPostgres } from './faults.ts';
import { type LossParts, recordLoss } from './records-lost.ts';
import type { LeaseTable, PostgresTables } from './tables.ts';

/** A lease as a process has read it. */
export type ReadLease = Pick<LeaseTable, 'scope' | 'holder' | 'epoch' | 'serial'>;

/** The state of a database at one moment. */
export interface Known {
  /** The serial of the last transaction. */
  readonly serial: number;
  readonly leases: readonly ReadLease[];
}

/**
 * Notices that the database has lost records of another process, which may have died together with the primary server. A leader notices
 * the loss of its own (`Lease`); what it records afterwards gives the ledger as high a serial as before, so the serial alone does not
 * show a loss to the others. The lease of each unit does: its epoch and serial only rise, also in a takeover, a copy and a restore, and
 * no row is ever removed.
 *
 * Records that no surviving process had read are lost without a trace, such as the last ones before the server died. So are those that
 * a process that knew less has overwritten, by a takeover of the same unit and new records, before this one reads again.
 */
export class LossWatch {
  readonly #parts: LossParts;
  readonly #onLoss: (what: string) => void;
  #serial = 0;
  #leases: ReadonlyMap<string, ReadLease> = new Map();
  /** The last record of a loss: the next one is decided after it, so that this process records each loss once. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param onLoss is called for each loss that was recorded, with what is lost. */
  constructor(parts: LossParts, onLoss: (what: string) => void) {
    this.#parts = parts;
    this.#onLoss = onLoss;
  }

  /**
   * Reads the database, and compares it with what this process knew before it sent the statement. Records a loss before it returns.
   * @throws the error of the database, if a loss could not be recorded.
   */
  async during<Row>(
    read: () => Promise<readonly Row[]>,
    knownIn: (rows: readonly Row[]) => Known,
  ): Promise<readonly Row[]> {
    const lossIn = this.#comparison();
    const rows = await read();
    const found = knownIn(rows);
    const loss = lossIn(found);
    if (loss !== undefined) await this.#recordInTurn(loss);
    this.#learn(found);
    return rows;
  }

  #recordInTurn(loss: string): Promise<void> {
    const mine = this.#turn.then(() => this.#record(loss));
    this.#turn = mine.catch(() => {});
    return mine;
  }

  /** Decides by what the primary server has: a standby may only be late. */
  async #record(loss: string): Promise<void> {
    const lossIn = this.#comparison();
    let present: Known | undefined;
    try {
      await recordLoss(this.#parts, loss, async ({ serial }, transaction) => {
        const found = { serial, leases: await readLeases(transaction) };
        const isLost = lossIn(found) !== undefined;
        present = isLost ? found : undefined;
        return isLost;
      });
    } catch (error) {
      throw explainPostgres(error, this.#parts.location);
    }
    if (present === undefined) return;
    this.#serial = 0;
    this.#leases = new Map();
    this.#learn(present);
    this.#onLoss(loss);
  }

  /** Returns a function that says what a database lacks of all that this process knows now; undefined: nothing. */
  #comparison(): (found: Known) => string | undefined {
    const [serial, known, { actor }] = [this.#serial, this.#leases, this.#parts];
    return (found) => {
      if (found.serial < serial) return `the last record had the serial ${serial} when ${actor} read it`;
      const present = new Map(found.leases.map((lease) => [lease.scope, lease]));
      const lost = known.values().find((lease) => !isAsNew(present.get(lease.scope), lease));
      return (
        lost &&
        `the last record of ${lost.scope} had the serial ${lost.serial}, and its lease the epoch ${lost.epoch}, when ${actor} read them`
      );
    };
  }

  #learn({ serial, leases }: Known): void {
    this.#serial = Math.max(this.#serial, serial);
    const known = new Map(this.#leases);
    for (const lease of leases) if (isAsNew(lease, known.get(lease.scope))) known.set(lease.scope, lease);
    this.#leases = known;
  }
}

function isAsNew(lease: ReadLease | undefined, than: ReadLease | undefined): boolean {
  if (than === undefined) return true;
  if (lease === undefined || lease.epoch < than.epoch || lease.serial < than.serial) return false;
  // Each takeover has an epoch of its own. A restore and a rival, which end leases, leave no holder.
  return lease.epoch > than.epoch || lease.holder === than.holder || lease.holder === '' || than.holder === '';
}

async function readLeases(db: Kysely<PostgresTables>): Promise<readonly ReadLease[]> {
  return db.selectFrom('lease').select(['scope', 'holder', 'epoch', 'serial']).execute();
}
