import {
  chainHash,
  type ChainLine,
  chainStart,
  changesText,
  inventoryEvent,
  objectHash,
} from '../../src/ledger/inventory.ts';
import {
  closed,
  factConflict,
  fenced,
  intentConflict,
  moveConflict,
  ownerConflict,
  readOnly,
  snapshotConflict,
} from '../../src/ledger/errors.ts';
import type {
  HistoryFilter,
  IntentFilter,
  Ledger,
  LedgerOperation,
  LedgerTransaction,
  ObjectFilter,
} from '../../src/ledger/ledger.ts';
import { objectRow } from '../../src/ledger/schema.ts';
import { formerUid } from '../../src/kinds/http-gateway-rule/former-keys.ts';
import { checkTransaction, isInstall, isPending } from '../../src/ledger/rules.ts';
import type { ScopeKey } from '../../src/model/ids.ts';
import { canonicalJson, type Json } from '../../src/model/json.ts';
import type { HistoryRow, Intent, OwnedObject, Snapshot } from '../../src/model/owned.ts';
import { unreachable } from '../../src/model/unreachable.ts';

type Move = Extract<LedgerOperation, { op: 'move-intent' }>;
type RecordOperation = Extract<LedgerOperation, { op: 'record' }>;
type Undo = () => void;

/** What survives the "process" that opened it. Rows are never changed in place, so a clone shares them. */
export class MemoryStore {
  readonly lineage: string;
  epoch = 0;
  serial = 0;
  readonly objects = new Map<string, OwnedObject>();
  /** Owned objects by scope, kind and natural key. */
  readonly owners = new Map<string, string>();
  readonly intents = new Map<string, { readonly intent: Intent; readonly serial: number }>();
  /** Ids of pending intents, by uid, and by `install <scope>`. */
  readonly pending = new Map<string, string>();
  readonly snapshots = new Map<string, Snapshot>();
  readonly facts = new Map<string, string>();
  readonly chains = new Map<ScopeKey, MemoryChain>();

  constructor(lineage: string) {
    this.lineage = lineage;
  }

  /** An independent copy, for trying two futures from one past. */
  clone(): MemoryStore {
    const copy = new MemoryStore(this.lineage);
    copy.epoch = this.epoch;
    copy.serial = this.serial;
    for (const [key, value] of this.objects) copy.objects.set(key, value);
    for (const [key, value] of this.owners) copy.owners.set(key, value);
    for (const [key, value] of this.intents) copy.intents.set(key, value);
    for (const [key, value] of this.pending) copy.pending.set(key, value);
    for (const [key, value] of this.snapshots) copy.snapshots.set(key, value);
    for (const [key, value] of this.facts) copy.facts.set(key, value);
    for (const [key, value] of this.chains) copy.chains.set(key, value.clone());
    return copy;
  }
}

/** Objects that a transaction wrote, and null for those that it dropped. */
type Changed = ReadonlyMap<string, OwnedObject | null>;
const UNCHANGED: Changed = new Map();

interface MemoryLine extends Omit<ChainLine, 'detail' | 'objects'> {
  readonly detail: Json;
  readonly changed: Changed;
}

/** A scope's history. Hashing is the dear part and most simulated runs never read it, so it waits for a reader. */
class MemoryChain {
  readonly #lines: MemoryLine[] = [];
  readonly #rows: HistoryRow[] = [];

  append(transaction: LedgerTransaction, serial: number, record: RecordOperation, changed: Changed): void {
    const { scope, atMs, actor } = transaction;
    const { event, uid = null, detail } = record;
    this.#lines.push({ scope, line: this.#lines.length + 1, serial, atMs, actor, event, uid, detail, changed });
  }

  /** Oldest first. */
  rows(): readonly HistoryRow[] {
    for (const line of this.#lines.slice(this.#rows.length)) {
      const previousHash = this.#rows.at(-1)?.hash ?? chainStart;
      const { line: number, changed, ...row } = line;
      const seals = new Map([...changed].map(([uid, object]) => [uid, object && objectHash(objectRow(object, 0))]));
      const detail = canonicalJson(line.detail);
      const hash = chainHash(previousHash, { ...row, line: number, detail, objects: changesText(seals) });
      this.#rows.push({ ...row, previousHash, hash });
    }
    return this.#rows;
  }

  clone(): MemoryChain {
    const copy = new MemoryChain();
    copy.#lines.push(...this.#lines);
    copy.#rows.push(...this.#rows);
    return copy;
  }
}

/**
 * Opens a store as a new process would: for writing it raises the epoch, and every ledger opened before is fenced.
 * Semantics are those of the SQLite ledger; one test suite holds both to them. A crash is: drop this, open the store again.
 */
export function openMemoryLedger(store: MemoryStore, { readOnly = false } = {}): Ledger {
  if (!readOnly) store.epoch += 1;
  return new MemoryLedger(store, !readOnly);
}

/** A ledger whose right to write is another than to have opened it last. */
export interface MemoryFence {
  readonly epoch: number;
  /** Called in each transaction, before it changes anything. @throws to refuse it. */
  check(): void;
}

/** Opens a store beside others that write it: only the fence keeps them apart. */
export function openFencedLedger(store: MemoryStore, fence: MemoryFence): MemoryLedger {
  return new MemoryLedger(store, true, fence);
}

export class MemoryLedger implements Ledger {
  readonly location = 'memory';
  readonly lineage: string;
  readonly epoch: number;
  readonly #store: MemoryStore;
  readonly #writable: boolean;
  readonly #fence: MemoryFence | undefined;
  #open = true;

  constructor(store: MemoryStore, writable: boolean, fence?: MemoryFence) {
    this.#store = store;
    this.#writable = writable;
    this.#fence = fence;
    this.lineage = store.lineage;
    this.epoch = fence?.epoch ?? store.epoch;
  }

  async objects(filter: ObjectFilter): Promise<readonly OwnedObject[]> {
    const one = filter.uid === undefined ? undefined : this.#store.objects.get(filter.uid);
    const candidates = filter.uid === undefined ? [...this.#store.objects.values()] : one === undefined ? [] : [one];
    return candidates
      .filter(({ scope }) => filter.scope === undefined || filter.scope === scope)
      .filter(({ source }) => filter.source === undefined || filter.source === source)
      .sort((left, right) => byText(left.uid, right.uid));
  }

  async objectCount(filter: Pick<ObjectFilter, 'source'>): Promise<number> {
    return (await this.objects(filter)).filter(({ state }) => state !== 'gone').length;
  }

  async ownedScopes(source: string): Promise<readonly ScopeKey[]> {
    return [
      ...new Set((await this.objects({ source })).filter(({ state }) => state !== 'gone').map(({ scope }) => scope)),
    ];
  }

  async intents(filter: IntentFilter): Promise<readonly Intent[]> {
    return [...this.#store.intents.values()]
      .filter(({ intent }) => filter.id === undefined || filter.id === intent.id)
      .filter(({ intent }) => filter.scope === undefined || filter.scope === intent.scope)
      .filter(({ intent }) => filter.states === undefined || filter.states.includes(intent.state))
      .sort((left, right) => left.serial - right.serial || byText(left.intent.id, right.intent.id))
      .map(({ intent }) => intent);
  }

  async history(filter: HistoryFilter): Promise<readonly HistoryRow[]> {
    const chains =
      filter.scope === undefined ? [...this.#store.chains.values()] : [this.#store.chains.get(filter.scope)];
    // Reversed before the sort, which is stable: lines of one transaction stay newest first.
    return chains
      .flatMap((chain) => (chain === undefined ? [] : chain.rows().toReversed()))
      .filter(
        ({ uid }) => filter.uid === undefined || filter.uid === uid || (uid !== null && uid === formerUid(filter.uid)),
      )
      .filter(({ event }) => event !== inventoryEvent)
      .filter(({ scope }) => filter.scopes?.includes(scope) ?? true)
      .filter(({ serial }) => filter.beforeSerial === undefined || serial < filter.beforeSerial)
      .sort((left, right) => right.serial - left.serial)
      .slice(0, filter.limit);
  }

  async scopes(): Promise<readonly ScopeKey[]> {
    const scopes = new Set(this.#store.chains.keys());
    for (const { scope } of this.#store.objects.values()) scopes.add(scope);
    for (const { intent } of this.#store.intents.values()) scopes.add(intent.scope);
    return [...scopes].sort(byText);
  }

  async fact(key: string): Promise<string | undefined> {
    return this.#store.facts.get(key);
  }

  async lastSnapshot(source: string): Promise<Snapshot | undefined> {
    return this.#store.snapshots.get(source);
  }

  async commit(transaction: LedgerTransaction): Promise<void> {
    this.commitNow(transaction);
  }

  /** As `commit`, before it returns. */
  commitNow(transaction: LedgerTransaction): void {
    if (!this.#writable) throw readOnly(this.location);
    if (!this.#open) throw closed(this.location);
    checkTransaction(transaction, this.epoch, this.location);
    const store = this.#store;
    if (this.#fence !== undefined) this.#fence.check();
    else if (store.epoch !== this.epoch) throw fenced(this.location, this.epoch, store.epoch);
    const serial = store.serial + 1;
    const undo: Undo[] = [];
    const changed = new Map<string, OwnedObject | null>();
    try {
      for (const operation of transaction.operations) {
        if (operation.op === 'put-object') changed.set(operation.object.uid, operation.object);
        if (operation.op === 'drop-object' && store.objects.get(operation.uid)?.scope === transaction.scope)
          changed.set(operation.uid, null);
        apply(store, transaction.scope, serial, operation, undo);
      }
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw error;
    }
    append(store, transaction, serial, changed);
    store.serial = serial;
  }

  async close(): Promise<void> {
    this.#open = false;
  }
}

/** Appends the lines of a transaction; the last one seals the objects that it changed. */
function append(store: MemoryStore, transaction: LedgerTransaction, serial: number, changed: Changed): void {
  const said = transaction.operations.filter((operation) => operation.op === 'record');
  const isSilent = said.length === 0 && changed.size > 0;
  const records: readonly RecordOperation[] = isSilent ? [{ op: 'record', event: inventoryEvent, detail: {} }] : said;
  for (const [at, record] of records.entries()) {
    let chain = store.chains.get(transaction.scope);
    if (chain === undefined) store.chains.set(transaction.scope, (chain = new MemoryChain()));
    chain.append(transaction, serial, record, at === records.length - 1 ? changed : UNCHANGED);
  }
}

function apply(store: MemoryStore, scope: ScopeKey, serial: number, operation: LedgerOperation, undo: Undo[]): void {
  switch (operation.op) {
    case 'put-object':
      return putObject(store, operation.object, undo);
    case 'drop-object':
      if (store.objects.get(operation.uid)?.scope === scope) dropObject(store, operation.uid, undo);
      return;
    case 'open-intent':
      return openIntent(store, operation.intent, serial, undo);
    case 'move-intent':
      return moveIntent(store, scope, operation, undo);
    case 'accept-snapshot':
      return put(store.snapshots, operation.snapshot.source, operation.snapshot, undo);
    case 'set-fact':
      if (operation.was !== undefined && (store.facts.get(operation.key) ?? null) !== operation.was)
        throw factConflict(operation.key);
      return put(store.facts, operation.key, operation.value, undo);
    case 'expect-snapshot':
      if (store.snapshots.get(operation.source)?.id !== operation.id) throw snapshotConflict(operation.source);
      return;
    case 'record':
      return; // Cannot fail, so the chain grows after everything else has succeeded.
    default:
      return unreachable(operation);
  }
}

function putObject(store: MemoryStore, object: OwnedObject, undo: Undo[]): void {
  if (store.objects.has(object.uid)) dropObject(store, object.uid, undo);
  const key = ownerKey(object);
  if (key !== undefined) {
    const owner = store.owners.get(key);
    if (owner !== undefined) throw ownerConflict(object.uid, owner);
    put(store.owners, key, object.uid, undo);
  }
  put(store.objects, object.uid, object, undo);
}

function dropObject(store: MemoryStore, uid: string, undo: Undo[]): void {
  const object = store.objects.get(uid);
  const key = object === undefined ? undefined : ownerKey(object);
  if (key !== undefined) remove(store.owners, key, undo);
  remove(store.objects, uid, undo);
}

/** What is only observed, or gone, belongs to nobody. */
function ownerKey({ scope, kind, naturalKey, origin, state }: OwnedObject): string | undefined {
  return origin === 'observed' || state === 'gone' ? undefined : `${scope}\n${kind}\n${naturalKey}`;
}

function openIntent(store: MemoryStore, intent: Intent, serial: number, undo: Undo[]): void {
  if (store.intents.has(intent.id)) throw intentConflict(intent, undefined);
  for (const key of pendingKeys(intent)) {
    const id = store.pending.get(key);
    if (id !== undefined) throw intentConflict(intent, store.intents.get(id)?.intent);
    put(store.pending, key, intent.id, undo);
  }
  put(store.intents, intent.id, { intent, serial }, undo);
}

function moveIntent(store: MemoryStore, scope: ScopeKey, move: Move, undo: Undo[]): void {
  const found = store.intents.get(move.id);
  if (found === undefined || found.intent.scope !== scope) throw moveConflict(move.id, undefined, move.state);
  if (!isPending(found.intent.state)) throw moveConflict(move.id, found.intent, move.state);
  const intent: Intent = {
    ...found.intent,
    state: move.state,
    settleMs: move.settleMs ?? found.intent.settleMs,
    settleMark: move.settleMark ?? found.intent.settleMark,
    outcome: move.outcome === undefined ? found.intent.outcome : move.outcome,
    resolvedBy: move.resolvedBy ?? found.intent.resolvedBy,
  };
  if (!isPending(intent.state)) for (const key of pendingKeys(intent)) remove(store.pending, key, undo);
  put(store.intents, intent.id, { intent, serial: found.serial }, undo);
}

function pendingKeys(intent: Intent): readonly string[] {
  return isInstall(intent.operation) ? [`uid ${intent.uid}`, `install ${intent.scope}`] : [`uid ${intent.uid}`];
}

function put<V>(map: Map<string, V>, key: string, value: V, undo: Undo[]): void {
  const before = map.get(key);
  undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)));
  map.set(key, value);
}

function remove<V>(map: Map<string, V>, key: string, undo: Undo[]): void {
  const before = map.get(key);
  if (before !== undefined) undo.push(() => map.set(key, before));
  map.delete(key);
}

function byText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
