import type { LedgerTransaction } from '../../src/ledger/ledger.ts';
import type { NewCommand, ReplicaReport, SharedEvent, SignalTopic } from '../../src/ledger/shared.ts';
import type { Json } from '../../src/model/json.ts';
import { type Claim, holdsLease, type Leases, noLeases, releaseLease, renewLease, takeLease } from './lease-rows.ts';
import type { MemoryStore } from './memory-ledger.ts';

/** The connection ended before the answer. `wasSent`: the statement may have been carried out. */
export class LinkLost extends Error {
  readonly wasSent: boolean;
  constructor(wasSent: boolean) {
    super(wasSent ? 'the answer of the database was lost' : 'the database cannot be reached');
    this.wasSent = wasSent;
  }
}

/** The way of one process to the database. */
export interface DatabaseLink {
  /** Carries out a statement, or a whole transaction, in one moment. @throws LinkLost */
  run<Answer>(operation: string, statement: () => Answer): Promise<Answer>;
  /** Delivers a signal, late or never. */
  signal(deliver: () => void): void;
}

/** A database beside the process: nothing is lost, and no time passes. */
export const directLink: DatabaseLink = {
  run: async (_operation, statement) => statement(),
  signal: (deliver) => queueMicrotask(deliver),
};

interface StoredCommand extends NewCommand {
  readonly id: string;
  readonly addedMs: number;
  result: { readonly value: Json; readonly atMs: number } | undefined;
}

interface StoredReplica {
  readonly report: ReplicaReport;
  readonly isDraining: boolean;
  readonly seenMs: number;
  readonly source: string | undefined;
}

/** Who looks at everything that the database carries out, in the moment in which it does. */
export interface DatabaseWitness {
  /** @param expiresMs when the lease before this one ended, by the clock of the database; 0: it was given up, or there was none. */
  took(unit: string, epoch: number, replica: string, expiresMs: number): void;
  released(unit: string, epoch: number): void;
  committed(
    transaction: LedgerTransaction,
    lead: { readonly unit: string; readonly epoch: number },
    replica: string,
  ): void;
}

/** A database with the ledger of several processes: what survives all of them. It has a clock of its own. */
export class MemoryDatabase {
  readonly store: MemoryStore;
  readonly nowMs: () => number;
  leases: Leases = noLeases;
  /** Names the holder of each lease, and the serial of its last transaction. */
  readonly holders = new Map<string, { readonly actor: string; readonly replica: string; serial: number }>();
  readonly factSerials = new Map<string, number>();
  /** By the holder of its leases. */
  readonly replicas = new Map<string, StoredReplica>();
  readonly events: SharedEvent[] = [];
  readonly commands: StoredCommand[] = [];
  readonly sessions = new Map<string, { readonly user: Json; readonly startedMs: number; usedMs: number }>();
  readonly #listeners = new Set<(topic: SignalTopic) => void>();
  sequence = 0;
  /** Identifies the process of the database. */
  server = 'first';
  readonly #witness: DatabaseWitness | undefined;

  constructor(store: MemoryStore, nowMs: () => number, witness?: DatabaseWitness) {
    this.store = store;
    this.nowMs = nowMs;
    this.#witness = witness;
  }

  /** @returns the epoch, once it is taken. */
  take(unit: string, holder: string, names: { readonly actor: string; readonly replica: string }, leaseMs: number) {
    const { store } = this;
    const expiresMs = this.leases.rows.get(unit)?.expiresMs ?? 0;
    const { leases, epoch } = takeLease(
      { ...this.leases, epoch: store.epoch },
      { scope: unit, holder, leaseMs },
      this.nowMs(),
    );
    if (epoch === undefined) return undefined;
    this.leases = leases;
    store.epoch = epoch;
    this.holders.set(unit, { ...names, serial: 0 });
    this.#witness?.took(unit, epoch, names.replica, expiresMs);
    this.signal('lease');
    return epoch;
  }

  /** @returns whether the lease was still held. */
  renew(claim: Claim, leaseMs: number): boolean {
    const leases = renewLease(this.leases, claim, leaseMs, this.nowMs());
    if (leases !== undefined) this.leases = leases;
    return leases !== undefined;
  }

  release(claim: Claim): void {
    if (!holdsLease(this.leases, claim)) return;
    this.leases = releaseLease(this.leases, claim);
    this.#witness?.released(claim.scope, claim.epoch);
    this.signal('lease');
  }

  /** Records the facts of a transaction that was committed. */
  committed(
    transaction: LedgerTransaction,
    lead: { readonly unit: string; readonly epoch: number },
    replica: string,
  ): void {
    this.#witness?.committed(transaction, lead, replica);
    let hasFacts = false;
    for (const operation of transaction.operations) {
      if (operation.op !== 'set-fact') continue;
      this.factSerials.set(operation.key, this.store.serial);
      hasFacts = true;
    }
    if (hasFacts) this.signal('fact');
  }

  signal(topic: SignalTopic): void {
    for (const listener of this.#listeners) listener(topic);
  }

  listen(listener: (topic: SignalTopic) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
