import type { ScopeKey } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import type { HistoryRow, Intent, IntentState, OwnedObject, Snapshot } from '../model/owned.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import { readOnly } from './errors.ts';

/**
 * The ledger: objects that we created or adopted, and the journal of intents and outcomes. Transactions are lists of
 * operations, never callbacks, so that one contract fits SQLite in the process and PostgreSQL across a network.
 * Tables: `migrations.ts`; what every implementation checks first: `rules.ts`.
 */
export interface Ledger {
  /** The place of the ledger, for messages: a path, or `none`. */
  readonly location: string;
  /** Random id given at creation; two ledgers for one platform have two. */
  readonly lineage: string;
  /** Raised each time the ledger is opened for writing; stamped on every intent. */
  readonly epoch: number;
  /** Returns until when a request may leave: another process may write later. Absent: none can take this ledger over. */
  readonly sendUntilMs?: (() => MonotonicMs) | undefined;

  /** Ordered by uid. */
  objects(filter: ObjectFilter): Promise<readonly OwnedObject[]>;
  /** Returns the number of objects that are not gone. The database counts them, because a source may have 10,000. */
  objectCount(filter: Pick<ObjectFilter, 'source'>): Promise<number>;
  /** Returns the scopes with objects of a source that are not gone, in any order. */
  ownedScopes(source: string): Promise<readonly ScopeKey[]>;
  /** Oldest first. */
  intents(filter: IntentFilter): Promise<readonly Intent[]>;
  /** Newest first. */
  history(filter: HistoryFilter): Promise<readonly HistoryRow[]>;
  /** Scopes that any object, intent or history row names. */
  scopes(): Promise<readonly ScopeKey[]>;
  /** Small facts by key: remembered capabilities, fingerprints. */
  fact(key: string): Promise<string | undefined>;
  lastSnapshot(source: string): Promise<Snapshot | undefined>;

  /**
   * Commits all operations or none, raising the serial by one and adding their history rows to the scope's hash chain.
   * @throws PortolanError `ledger/conflict` when an open intent for the object (or an install for the scope) exists,
   * when another object owns the same natural key, or when a fact or a snapshot is not the expected one; `ledger/fenced` when this process no longer
   * holds the ledger or an intent bears another epoch, `ledger/read-only`, `ledger/full`, `ledger/io`, `ledger/busy`.
   * @throws RangeError for what no correct caller builds: rows of another scope than the transaction's, a new intent
   * that is not `open`, `resolved` without a person, two snapshots of one source, a time that is not an integer.
   */
  commit(transaction: LedgerTransaction): Promise<void>;
  close(): Promise<void>;
}

export type LedgerOperation =
  | { readonly op: 'put-object'; readonly object: OwnedObject }
  /** Nothing happens where the transaction's scope has no such object. */
  | { readonly op: 'drop-object'; readonly uid: string }
  | { readonly op: 'open-intent'; readonly intent: Intent }
  /** Allowed only from `open` or `unknown`; anything else is `ledger/conflict`. */
  | {
      readonly op: 'move-intent';
      readonly id: string;
      readonly state: Exclude<IntentState, 'open'>;
      readonly settleMs?: EpochMs;
      readonly settleMark?: string;
      readonly outcome?: Json;
      readonly resolvedBy?: string;
    }
  | { readonly op: 'accept-snapshot'; readonly snapshot: Snapshot }
  /** @param was the value that the fact must have; null: it must be absent. Any other one is `ledger/conflict`. */
  | { readonly op: 'set-fact'; readonly key: string; readonly value: string; readonly was?: string | null | undefined }
  /** @param id of the last accepted snapshot of the source. Any other one is `ledger/conflict`. */
  | { readonly op: 'expect-snapshot'; readonly source: string; readonly id: string }
  /** One line of history; every transaction that matters to a person has one. */
  | { readonly op: 'record'; readonly event: string; readonly uid?: string; readonly detail: Json };

export interface LedgerTransaction {
  readonly scope: ScopeKey;
  readonly actor: string;
  readonly atMs: EpochMs;
  readonly operations: readonly LedgerOperation[];
}

export interface ObjectFilter {
  readonly scope?: ScopeKey | undefined;
  readonly source?: string | undefined;
  readonly uid?: string;
}
export interface IntentFilter {
  readonly scope?: ScopeKey | undefined;
  readonly states?: readonly IntentState[];
  readonly id?: string;
}
/** Scopes in one filter. A statement cannot have many more values. */
export const SCOPES_MAX = 5_000;

export interface HistoryFilter {
  readonly scope?: ScopeKey | undefined;
  /** Only rows of these scopes, at most `SCOPES_MAX`. */
  readonly scopes?: readonly ScopeKey[];
  readonly uid?: string | undefined;
  /** Only rows with a lower serial: the cursor. */
  readonly beforeSerial?: number | undefined;
  /** Newest first. */
  readonly limit: number;
}

/** The ledger of `--ledger none`: it remembers nothing, so ownership is unknown, and it takes no transaction. */
export const noLedger: Ledger = {
  location: 'none',
  lineage: 'none',
  epoch: 0,
  objects: async () => [],
  objectCount: async () => 0,
  ownedScopes: async () => [],
  intents: async () => [],
  history: async () => [],
  scopes: async () => [],
  fact: async () => undefined,
  lastSnapshot: async () => undefined,
  commit: async () => {
    throw readOnly('none');
  },
  close: async () => {},
};
