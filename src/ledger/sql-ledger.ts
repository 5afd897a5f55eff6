import type { Kysely, Transaction } from 'kysely';
import { appendLines, KnownHeads } from './chain.ts';
import { carriedOver, objectHash } from './inventory.ts';
import {
  compactedDetail,
  compactedEvent,
  type CompactionPolicy,
  type CompactionReport,
  removableBatches,
  type RemovableLine,
  removedRanges,
  removeLines,
  removeDecided,
  sealingLines,
} from './compaction.ts';
import type { FileGuard } from './file-guard.ts';
import {
  closed,
  corrupt,
  type DatabaseFault,
  factConflict,
  intentConflict,
  moveConflict,
  ownerConflict,
  readOnly,
  snapshotConflict,
} from './errors.ts';
import type {
  HistoryFilter,
  IntentFilter,
  Ledger,
  LedgerOperation,
  LedgerTransaction,
  ObjectFilter,
} from './ledger.ts';
import { whileBusy } from './patience.ts';
import { type CommitQueries, commitQueries } from './queries.ts';
import { checkTransaction, isInstall, pendingStates } from './rules.ts';
import { intentRow, type LedgerTables, objectRow, snapshotRow } from './schema.ts';
import {
  countObjects,
  selectFact,
  selectHistory,
  selectIntents,
  selectLastSnapshot,
  selectObjects,
  selectOwnedScopes,
  selectScopes,
} from './selections.ts';
import { wellFormed } from './well-formed.ts';
import type { ScopeKey } from '../model/ids.ts';
import { canonicalJson } from '../model/json.ts';
import type { HistoryRow, Intent, OwnedObject, Snapshot } from '../model/owned.ts';
import type { MonotonicMs } from '../model/time.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Clock } from '../runtime/clock.ts';

type SetFact = Extract<LedgerOperation, { op: 'set-fact' }>;

export interface SqlLedgerParts {
  readonly db: Kysely<LedgerTables>;
  readonly location: string;
  readonly lineage: string;
  readonly epoch: number;
  readonly writable: boolean;
  /** Returns what `Ledger.sendUntilMs` returns. */
  readonly sendUntilMs?: (() => MonotonicMs) | undefined;
  readonly clock: Clock;
  readonly faultOf: (error: unknown) => DatabaseFault;
  /** Returns the error to throw for one that the database threw. */
  readonly explain: (error: unknown) => unknown;
  /** Proves in a transaction that no later process took the ledger over, and raises its serial. Returns the serial. */
  readonly fence: (executor: Transaction<LedgerTables>) => Promise<number>;
  /** Runs work in a transaction, which commits as a whole or not at all. */
  readonly transact: <Result>(work: (executor: Transaction<LedgerTables>) => Promise<Result>) => Promise<Result>;
  /** Gives freed space back to the disk. */
  readonly shrink: () => void;
  /** Called with each serial after its commit. `isAhead`: a request follows that may never be sent twice. */
  readonly committed: (serial: number, isAhead: boolean) => void;
  /** Guard of a file that is written. */
  readonly guard: FileGuard | undefined;
  /** Facts of a ledger that is only read, in place of those it has. */
  readonly facts: ReadonlyMap<string, string>;
  /** Closes the database, and gives up what the process holds beside it: its lock or lease. */
  readonly release: () => Promise<void>;
}

/** Describes a transaction that was applied. */
interface Applied {
  readonly serial: number;
  readonly head: Awaited<ReturnType<typeof appendLines>>;
}

/** The contract over any database that Kysely speaks to; what differs between databases comes in as parts. */
export class SqlLedger implements Ledger {
  readonly location: string;
  readonly lineage: string;
  readonly epoch: number;
  readonly sendUntilMs: (() => MonotonicMs) | undefined;
  readonly #parts: SqlLedgerParts;
  readonly #queries: CommitQueries;
  readonly #heads = new KnownHeads();
  #open = true;

  constructor(parts: SqlLedgerParts) {
    this.#parts = parts;
    this.#queries = commitQueries(parts.db);
    this.location = parts.location;
    this.lineage = parts.lineage;
    this.epoch = parts.epoch;
    this.sendUntilMs = parts.sendUntilMs;
  }

  async objects(filter: ObjectFilter): Promise<readonly OwnedObject[]> {
    return this.#read(() => selectObjects(this.#parts.db, filter));
  }

  async objectCount(filter: Pick<ObjectFilter, 'source'>): Promise<number> {
    return this.#read(() => countObjects(this.#parts.db, filter));
  }

  async ownedScopes(source: string): Promise<readonly ScopeKey[]> {
    return this.#read(() => selectOwnedScopes(this.#parts.db, source));
  }

  async intents(filter: IntentFilter): Promise<readonly Intent[]> {
    return this.#read(() => selectIntents(this.#parts.db, filter));
  }

  async history(filter: HistoryFilter): Promise<readonly HistoryRow[]> {
    return this.#read(() => selectHistory(this.#parts.db, filter));
  }

  async scopes(): Promise<readonly ScopeKey[]> {
    return this.#read(() => selectScopes(this.#parts.db));
  }

  async fact(key: string): Promise<string | undefined> {
    return this.#parts.facts.get(key) ?? (await this.#read(() => selectFact(this.#parts.db, key)));
  }

  async lastSnapshot(source: string): Promise<Snapshot | undefined> {
    return this.#read(() => selectLastSnapshot(this.#parts.db, source));
  }

  async commit(given: LedgerTransaction): Promise<void> {
    this.#mustBeWritable();
    const transaction = wellFormed(given);
    checkTransaction(transaction, this.epoch, this.location);
    const { operations } = transaction;
    // The outcome of a request is recorded in any case: the file may come back.
    if (operations.every(({ op }) => op !== 'move-intent')) this.#parts.guard?.check();
    let at: LedgerOperation | undefined;
    let applied: Applied;
    try {
      applied = await this.#write((executor) => this.#apply(executor, transaction, (next) => (at = next)));
    } catch (error) {
      if (this.#parts.faultOf(error) === 'unique' && at !== undefined) throw await this.#conflict(at, error);
      throw error;
    }
    if (applied.head !== undefined) this.#heads.keep(transaction.scope, applied.head);
    this.#committed(applied.serial, transaction);
    // A request leaves next.
    if (operations.some(({ op }) => op === 'open-intent')) this.#parts.guard?.check();
  }

  /** Before an install leaves, the mark beside the ledger must be written; for the rest it is only good to have. */
  #committed(serial: number, { operations }: LedgerTransaction): void {
    const isAhead = operations.some(
      (operation) => operation.op === 'open-intent' && operation.intent.idempotence === 'duplicate-accepting',
    );
    try {
      this.#parts.committed(serial, isAhead);
    } catch (error) {
      if (isAhead) throw this.#parts.explain(error);
    }
  }

  /**
   * Forgets old history, decided intents and superseded snapshots, in small transactions between which others commit.
   * A scope's chain stays verifiable: a row in its history stands for what was removed. Reads the whole history once.
   * @throws PortolanError as `commit` does; what was removed until then stays removed.
   */
  async compact(policy: CompactionPolicy): Promise<CompactionReport> {
    this.#mustBeWritable();
    this.#parts.guard?.check();
    const batches = await this.#read(() => removableBatches(this.#parts.db, policy));
    let history = 0;
    for (const batch of batches) {
      await this.#write((executor) => this.#compactBatch(executor, policy, batch));
      history += batch.length;
    }
    const others = await this.#write(async (executor) => {
      await this.#parts.fence(executor);
      return removeDecided(executor, policy);
    });
    await this.#write(async () => this.#parts.shrink());
    return { history, ...others };
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#parts.release();
  }

  async #apply(
    executor: Transaction<LedgerTables>,
    transaction: LedgerTransaction,
    begin: (operation: LedgerOperation) => void,
  ): Promise<Applied> {
    const serial = await this.#parts.fence(executor);
    const changes = new Map<string, string | null>();
    for (const operation of transaction.operations) {
      begin(operation);
      await this.#perform(executor, transaction.scope, operation, serial, changes);
    }
    const known = this.#heads.get(transaction.scope);
    return { serial, head: await appendLines(executor, this.#queries, { transaction, serial, changes }, known) };
  }

  async #perform(
    executor: Transaction<LedgerTables>,
    scope: ScopeKey,
    operation: LedgerOperation,
    serial: number,
    changes: Map<string, string | null>,
  ): Promise<void> {
    const queries = this.#queries;
    switch (operation.op) {
      case 'put-object': {
        const row = objectRow(operation.object, serial);
        await queries.putObject(executor, row);
        changes.set(row.uid, objectHash(row));
        return;
      }
      case 'drop-object': {
        const dropped = await queries.dropObject(executor, { uid: operation.uid, scope });
        if (dropped.numAffectedRows === 1n) changes.set(operation.uid, null);
        return;
      }
      case 'open-intent':
        await queries.openIntent(executor, intentRow(operation.intent, serial));
        return;
      case 'move-intent': {
        const { id, state } = operation;
        const moved = await queries.moveIntent(executor, {
          id,
          scope,
          state,
          settle_ms: operation.settleMs ?? null,
          settle_mark: operation.settleMark ?? null,
          outcome: operation.outcome === undefined ? null : canonicalJson(operation.outcome),
          resolved_by: operation.resolvedBy ?? null,
        });
        if (moved.numAffectedRows !== 1n)
          throw moveConflict(id, (await selectIntents(executor, { id, scope }))[0], state);
        return;
      }
      case 'accept-snapshot':
        await queries.acceptSnapshot(executor, snapshotRow(operation.snapshot, serial));
        return;
      case 'set-fact':
        return this.#setFact(executor, operation);
      case 'expect-snapshot': {
        const last = await selectLastSnapshot(executor, operation.source);
        if (last?.id !== operation.id) throw snapshotConflict(operation.source);
        return;
      }
      case 'record':
        return; // All lines of a transaction are appended together.
      default:
        return unreachable(operation);
    }
  }

  async #setFact(executor: Transaction<LedgerTables>, { key, value, was }: SetFact): Promise<void> {
    const { setFact, addFact, changeFact } = this.#queries;
    if (was === undefined) {
      await setFact(executor, { key, value });
      return;
    }
    const changed =
      was === null ? await addFact(executor, { key, value }) : await changeFact(executor, { key, value, was });
    if (changed.numAffectedRows !== 1n) throw factConflict(key);
  }

  /** A unique index refused: says which intent or object stands in the way. Runs after the rollback. */
  async #conflict(at: LedgerOperation, cause: unknown): Promise<unknown> {
    if (at.op === 'open-intent') {
      const pending = await this.intents({ scope: at.intent.scope, states: pendingStates });
      const inTheWay = pending.find(
        ({ uid, operation }) => uid === at.intent.uid || (isInstall(at.intent.operation) && isInstall(operation)),
      );
      return intentConflict(at.intent, inTheWay, cause);
    }
    if (at.op === 'put-object') {
      const { uid, scope, kind, naturalKey } = at.object;
      const rivals = await this.objects({ scope });
      const owner = rivals.find((rival) => rival.kind === kind && rival.naturalKey === naturalKey && rival.uid !== uid);
      return ownerConflict(uid, owner?.uid ?? 'another object', cause);
    }
    return cause;
  }

  async #compactBatch(db: Transaction<LedgerTables>, policy: CompactionPolicy, batch: readonly RemovableLine[]) {
    const scope = batch[0]?.scope;
    if (scope === undefined) return;
    const serial = await this.#parts.fence(db);
    const ranges = removedRanges(batch);
    const removed = new Set(batch.map(({ line }) => line));
    const carried = carriedOver(await sealingLines(db, scope), (line) => removed.has(line));
    await removeLines(db, scope, ranges);
    const record = { op: 'record', event: compactedEvent, detail: compactedDetail(ranges) } as const;
    const { actor, nowMs: atMs } = policy;
    const transaction = { scope, actor, atMs, operations: [record] };
    await appendLines(db, this.#queries, { transaction, serial, changes: carried }, undefined);
  }

  #mustBeWritable(): void {
    if (!this.#parts.writable) throw readOnly(this.location);
    if (!this.#open) throw closed(this.location);
  }

  async #write<Result>(work: (db: Transaction<LedgerTables>) => Promise<Result>): Promise<Result> {
    this.#parts.guard?.writing();
    try {
      return await this.#patiently(() => this.#parts.transact(work));
    } catch (error) {
      throw this.#parts.explain(error);
    } finally {
      this.#parts.guard?.written();
    }
  }

  async #read<Result>(query: () => Promise<Result>): Promise<Result> {
    if (!this.#open) throw closed(this.location);
    try {
      return await this.#patiently(query);
    } catch (error) {
      if (error instanceof SyntaxError)
        throw corrupt(this.location, `a row holds text that is no JSON, ${error.message}`, error);
      throw this.#parts.explain(error);
    }
  }

  #patiently<Result>(attempt: () => Promise<Result>): Promise<Result> {
    const { clock, faultOf } = this.#parts;
    return whileBusy(attempt, faultOf, clock);
  }
}
