import type { Kysely } from 'kysely';
import { chainHash, chainStart } from './chain.ts';
import {
  closed,
  type DatabaseFault,
  explained,
  fenced,
  intentConflict,
  moveConflict,
  ownerConflict,
  readOnly,
} from './errors.ts';
import type {
  HistoryFilter,
  IntentFilter,
  Ledger,
  LedgerOperation,
  LedgerTransaction,
  ObjectFilter,
} from './ledger.ts';
import { commitQueries, type Executor } from './queries.ts';
import { checkTransaction, isInstall, pendingStates } from './rules.ts';
import {
  historyOf,
  intentOf,
  intentRow,
  type LedgerTables,
  objectOf,
  objectRow,
  snapshotOf,
  snapshotRow,
} from './schema.ts';
import type { ScopeKey } from '../model/ids.ts';
import { canonicalJson } from '../model/json.ts';
import type { HistoryRow, Intent, OwnedObject, Snapshot } from '../model/owned.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Clock } from '../runtime/clock.ts';

export interface SqlLedgerParts {
  readonly db: Kysely<LedgerTables>;
  readonly location: string;
  readonly lineage: string;
  readonly epoch: number;
  readonly writable: boolean;
  readonly clock: Clock;
  readonly faultOf: (error: unknown) => DatabaseFault;
  /** Gives up what the process holds beside the database: its lock. */
  readonly release: () => void;
}

/** Waits between attempts while another program keeps the database locked: about 5 s in all, without blocking others. */
const busyWaitsMs = [50, 150, 300, 500, 1000, 1500, 1500] as const;

/** The contract over any database that Kysely speaks to; what differs between databases comes in as parts. */
export class SqlLedger implements Ledger {
  readonly location: string;
  readonly lineage: string;
  readonly epoch: number;
  readonly #parts: SqlLedgerParts;
  readonly #queries: ReturnType<typeof commitQueries>;
  #open = true;

  constructor(parts: SqlLedgerParts) {
    this.#parts = parts;
    this.#queries = commitQueries(parts.db);
    this.location = parts.location;
    this.lineage = parts.lineage;
    this.epoch = parts.epoch;
  }

  async objects(filter: ObjectFilter): Promise<readonly OwnedObject[]> {
    let query = this.#parts.db.selectFrom('object').selectAll();
    if (filter.uid !== undefined) query = query.where('uid', '=', filter.uid);
    if (filter.scope !== undefined) query = query.where('scope', '=', filter.scope);
    if (filter.source !== undefined) query = query.where('source', '=', filter.source);
    const rows = await this.#read(() => query.orderBy('uid').execute());
    return rows.map(objectOf);
  }

  async intents(filter: IntentFilter): Promise<readonly Intent[]> {
    let query = this.#parts.db.selectFrom('intent').selectAll();
    if (filter.id !== undefined) query = query.where('id', '=', filter.id);
    if (filter.scope !== undefined) query = query.where('scope', '=', filter.scope);
    if (filter.states?.length === 0) return [];
    if (filter.states !== undefined) query = query.where('state', 'in', filter.states);
    const rows = await this.#read(() => query.orderBy('serial').orderBy('id').execute());
    return rows.map(intentOf);
  }

  async history(filter: HistoryFilter): Promise<readonly HistoryRow[]> {
    let query = this.#parts.db.selectFrom('history').selectAll();
    if (filter.scope !== undefined) query = query.where('scope', '=', filter.scope);
    if (filter.uid !== undefined) query = query.where('uid', '=', filter.uid);
    // A transaction belongs to one scope, so serial and line order the lines of all scopes.
    const newestFirst = query.orderBy('serial', 'desc').orderBy('line', 'desc');
    const limited = Number.isFinite(filter.limit) ? newestFirst.limit(filter.limit) : newestFirst;
    const rows = await this.#read(() => limited.execute());
    return rows.map(historyOf);
  }

  async scopes(): Promise<readonly ScopeKey[]> {
    const { db } = this.#parts;
    const query = db
      .selectFrom('object')
      .select('scope')
      .union(db.selectFrom('intent').select('scope'))
      .union(db.selectFrom('chain').select('scope'));
    const rows = await this.#read(() => query.orderBy('scope').execute());
    return rows.map(({ scope }) => scope);
  }

  async fact(key: string): Promise<string | undefined> {
    const query = this.#parts.db.selectFrom('fact').select('value').where('key', '=', key);
    return (await this.#read(() => query.executeTakeFirst()))?.value;
  }

  async lastSnapshot(source: string): Promise<Snapshot | undefined> {
    const query = this.#parts.db.selectFrom('snapshot').selectAll().where('source', '=', source);
    const row = await this.#read(() => query.orderBy('serial', 'desc').limit(1).executeTakeFirst());
    return row === undefined ? undefined : snapshotOf(row);
  }

  async commit(transaction: LedgerTransaction): Promise<void> {
    if (!this.#parts.writable) throw readOnly(this.location);
    if (!this.#open) throw closed(this.location);
    checkTransaction(transaction, this.epoch, this.location);
    let at: LedgerOperation | undefined;
    const attempt = () =>
      this.#parts.db.transaction().execute((executor) => this.#apply(executor, transaction, (next) => (at = next)));
    try {
      await this.#patiently(attempt);
    } catch (error) {
      if (this.#parts.faultOf(error) === 'unique' && at !== undefined) throw await this.#conflict(at, error);
      throw explained(this.#parts.faultOf(error), this.location, error);
    }
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    try {
      await this.#parts.db.destroy();
    } finally {
      this.#parts.release();
    }
  }

  async #apply(
    executor: Executor,
    transaction: LedgerTransaction,
    begin: (operation: LedgerOperation) => void,
  ): Promise<void> {
    const { rows } = await this.#queries.standing(executor, {});
    const standing = new Map(rows.map(({ k, v }) => [k, Number(v)]));
    const epoch = standing.get('epoch') ?? 0;
    if (epoch !== this.epoch) throw fenced(this.location, this.epoch, epoch);
    const serial = (standing.get('serial') ?? 0) + 1;
    for (const operation of transaction.operations) {
      begin(operation);
      await this.#perform(executor, transaction.scope, operation, serial);
    }
    await this.#record(executor, transaction, serial);
    await this.#queries.setMeta(executor, { k: 'serial', v: String(serial) });
  }

  async #perform(executor: Executor, scope: ScopeKey, operation: LedgerOperation, serial: number): Promise<void> {
    const queries = this.#queries;
    switch (operation.op) {
      case 'put-object':
        await queries.putObject(executor, objectRow(operation.object, serial));
        return;
      case 'drop-object':
        await queries.dropObject(executor, { uid: operation.uid, scope });
        return;
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
          outcome: operation.outcome === undefined ? null : canonicalJson(operation.outcome),
          resolved_by: operation.resolvedBy ?? null,
        });
        if (moved.numAffectedRows !== 1n) throw moveConflict(id, await this.#findIntent(executor, id, scope), state);
        return;
      }
      case 'accept-snapshot':
        await queries.acceptSnapshot(executor, snapshotRow(operation.snapshot, serial));
        return;
      case 'set-fact':
        await queries.setFact(executor, { key: operation.key, value: operation.value });
        return;
      case 'record':
        return; // All lines of a transaction are appended together, below.
      default:
        return unreachable(operation);
    }
  }

  /** Appends the transaction's lines to its scope's chain. */
  async #record(executor: Executor, transaction: LedgerTransaction, serial: number): Promise<void> {
    const records = transaction.operations.filter((operation) => operation.op === 'record');
    if (records.length === 0) return;
    const { scope, atMs, actor } = transaction;
    const { rows } = await this.#queries.head(executor, { scope });
    let line = Number(rows[0]?.lines ?? 0);
    let hash = rows[0]?.hash ?? chainStart;
    for (const { event, uid = null, detail } of records) {
      line += 1;
      const previous = hash;
      const text = canonicalJson(detail);
      hash = chainHash(previous, { scope, line, serial, atMs, actor, event, uid, detail: text });
      const row = { scope, line, serial, at_ms: atMs, actor, event, uid, detail: text, prev_hash: previous, hash };
      await this.#queries.record(executor, row);
    }
    await this.#queries.setHead(executor, { scope, lines: line, hash });
  }

  async #findIntent(executor: Executor, id: string, scope: ScopeKey): Promise<Intent | undefined> {
    const query = this.#parts.db.selectFrom('intent').selectAll().where('id', '=', id).where('scope', '=', scope);
    const { rows } = await executor.executeQuery(query.compile());
    return rows[0] === undefined ? undefined : intentOf(rows[0]);
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

  async #read<Result>(query: () => Promise<Result>): Promise<Result> {
    if (!this.#open) throw closed(this.location);
    try {
      return await this.#patiently(query);
    } catch (error) {
      throw explained(this.#parts.faultOf(error), this.location, error);
    }
  }

  async #patiently<Result>(attempt: () => Promise<Result>): Promise<Result> {
    for (const waitMs of busyWaitsMs) {
      try {
        return await attempt();
      } catch (error) {
        if (this.#parts.faultOf(error) !== 'busy') throw error;
        await this.#parts.clock.sleep(waitMs);
      }
    }
    return attempt();
  }
}
