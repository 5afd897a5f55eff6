import type { Ledger, LedgerOperation, LedgerTransaction } from '../../src/ledger/ledger.ts';
import { canonicalJson, type Json, sameJson } from '../../src/model/json.ts';
import type { Intent, OwnedObject } from '../../src/model/owned.ts';
import { STORE_KEY } from './shop.ts';

export interface Violation {
  readonly invariant: string;
  readonly message: string;
}

export type Violate = (invariant: string, message: string) => void;

/** What the platform can tell the books, so that they can be held to the truth. */
export interface LiveRules {
  has(ruleId: string): boolean;
}

/** Hears of what is to be read from the books alone. */
export interface BooksListener {
  /** An object goes on under another uid. */
  renamed(from: string, to: string): void;
  /** A creation was seen to have happened, and this is the row of which the ledger believes that. */
  recognised(intent: Intent, object: OwnedObject): void;
}

/**
 * What the ledger was told, kept beside it by the simulator and checked commit by commit. An implementation that loses
 * or invents anything differs from this.
 */
export class Books {
  readonly objects = new Map<string, OwnedObject>();
  readonly intents = new Map<string, Intent>();
  /** Virtual times at which intents were opened, whatever the wall clock said. */
  readonly openedMs = new Map<string, number>();
  /** When intents were decided, and which process found each of them in doubt first. */
  readonly decidedMs = new Map<string, number>();
  readonly doubtedBy = new Map<string, number>();
  commits = 0;
  epoch = 0;
  readonly #violate: Violate;
  readonly #rules: LiveRules;
  readonly #nowMs: () => number;
  readonly #mayAdopt: () => boolean;
  readonly #listeners: BooksListener[] = [];

  constructor(violate: Violate, rules: LiveRules, nowMs: () => number, mayAdopt: () => boolean) {
    this.#nowMs = nowMs;
    this.#mayAdopt = mayAdopt;
    this.#violate = violate;
    this.#rules = rules;
  }

  /** Takes over what others were told. */
  takeOver(other: Books): void {
    for (const map of ['objects', 'intents', 'openedMs', 'decidedMs', 'doubtedBy'] as const)
      for (const [key, value] of other[map]) (this[map] as Map<string, unknown>).set(key, value);
    this.commits = other.commits;
    this.epoch = other.epoch;
  }

  tell(listener: BooksListener): void {
    this.#listeners.push(listener);
  }

  opened(epoch: number): void {
    if (epoch <= this.epoch) this.#violate('I-MONO', `epoch ${epoch} after ${this.epoch}`);
    this.epoch = epoch;
  }

  pendingOf(uid: string): Intent | undefined {
    for (const intent of this.intents.values()) if (intent.uid === uid && isPending(intent)) return intent;
    return undefined;
  }

  /** What a transaction asks for was committed. */
  committed(transaction: LedgerTransaction, epoch: number): void {
    this.commits += 1;
    if (epoch !== this.epoch) this.#violate('I-MONO', `epoch ${epoch} committed although ${this.epoch} was opened`);
    for (const operation of transaction.operations) this.#take(operation, transaction, epoch);
  }

  /** I-SECRET for the ledger: everything it is ever given. */
  checkSecrets(transaction: LedgerTransaction): void {
    if (JSON.stringify(transaction).includes(STORE_KEY)) {
      this.#violate('I-SECRET', `the store's key is in a ledger transaction: ${JSON.stringify(transaction)}`);
    }
  }

  /** I-ATOM: the ledger holds exactly what its commits said. */
  async compare(ledger: Ledger): Promise<void> {
    const [objects, intents] = await Promise.all([ledger.objects({}), ledger.intents({})]);
    compareRows('object', objects, this.objects, (row) => row.uid, this.#violate);
    compareRows('intent', intents, this.intents, (row) => row.id, this.#violate);
  }

  #take(operation: LedgerOperation, transaction: LedgerTransaction, epoch: number): void {
    switch (operation.op) {
      case 'put-object':
        if (operation.object.origin === 'adopted' && !this.#mayAdopt()) {
          this.#violate('I-OWN', `${operation.object.uid} was adopted, which nobody allowed`);
        }
        this.objects.set(operation.object.uid, operation.object);
        return;
      case 'drop-object':
        this.#drop(operation.uid, transaction);
        return;
      case 'open-intent':
        this.#open(operation.intent);
        return;
      case 'move-intent':
        this.#move(operation, transaction);
        if (operation.state !== 'unknown') this.decidedMs.set(operation.id, this.#nowMs());
        else if (!this.doubtedBy.has(operation.id)) this.doubtedBy.set(operation.id, epoch);
        return;
      default:
        return;
    }
  }

  #open(intent: Intent): void {
    const other = this.pendingOf(intent.uid);
    if (other !== undefined) this.#violate('I-SOLO', `${intent.id} opened beside ${other.id} of ${intent.uid}`);
    if (intent.epoch !== this.epoch)
      this.#violate('I-WAL', `${intent.id} has epoch ${intent.epoch}, not ${this.epoch}`);
    if (isInstall(intent)) {
      for (const pending of this.intents.values()) {
        if (isPending(pending) && isInstall(pending) && pending.scope === intent.scope) {
          this.#violate('I-SOLO', `install ${intent.id} opened beside install ${pending.id}`);
        }
      }
    }
    this.intents.set(intent.id, intent);
    this.openedMs.set(intent.id, this.#nowMs());
  }

  #move(move: Extract<LedgerOperation, { op: 'move-intent' }>, { operations }: LedgerTransaction): void {
    const intent = this.intents.get(move.id);
    if (intent === undefined || !isPending(intent)) {
      this.#violate('I-ATOM', `intent ${move.id} moved to ${move.state} from ${intent?.state ?? 'nowhere'}`);
      return;
    }
    this.intents.set(move.id, {
      ...intent,
      state: move.state,
      settleMs: move.settleMs ?? intent.settleMs,
      settleMark: move.settleMark ?? intent.settleMark,
      outcome: move.outcome === undefined ? intent.outcome : move.outcome,
      resolvedBy: move.resolvedBy ?? intent.resolvedBy,
    });
    if (move.state !== 'applied' || intent.idempotence === 'target-state') return;
    const put = operations.find((operation) => operation.op === 'put-object');
    const object = put?.op === 'put-object' ? put.object : this.objects.get(intent.uid);
    if (object === undefined) {
      this.#violate('I-ATOM', `${intent.operation} ${intent.id} is recorded as applied without its object`);
    } else if (move.resolvedBy === 'observation') {
      for (const listener of this.#listeners) listener.recognised(intent, object);
    }
  }

  #drop(uid: string, { operations }: LedgerTransaction): void {
    const object = this.objects.get(uid);
    this.objects.delete(uid);
    if (object === undefined || object.origin === 'observed') return;
    // One transaction may rename several: each row goes out right before the one that it becomes.
    const at = operations.findIndex((operation) => operation.op === 'drop-object' && operation.uid === uid);
    const heir = operations[at + 1];
    if (heir?.op === 'put-object') for (const listener of this.#listeners) listener.renamed(uid, heir.object.uid);
    // One that was adopted is left where it is.
    const made = object.kind === 'HttpGatewayRule' && object.origin === 'created';
    const isKept = heir?.op === 'put-object' && heir.object.remoteId === object.remoteId;
    if (made && !isKept && object.remoteId !== null && this.#rules.has(object.remoteId)) {
      this.#violate('I-INV', `${uid} was dropped while rule ${object.remoteId} lives`);
    }
    if (object.kind === 'StoreInstall' && heir === undefined)
      this.#violate('I-INV', `${uid} was dropped: installs never are`);
  }
}

export function isPending({ state }: Intent): boolean {
  return state === 'open' || state === 'unknown';
}

export function isInstall({ operation }: Intent): boolean {
  return operation === 'install' || operation === 'upgrade';
}

function compareRows<T>(
  what: string,
  found: readonly T[],
  expectations: ReadonlyMap<string, T>,
  keyOf: (row: T) => string,
  violate: Violate,
): void {
  if (found.length !== expectations.size)
    violate('I-ATOM', `the ledger has ${found.length} ${what}s, it was told ${expectations.size}`);
  for (const row of found) {
    const key = keyOf(row);
    const expected = expectations.get(key);
    if (expected !== undefined && sameJson(row as Json, expected as Json)) continue;
    const [is, told] = [row, expected].map((side) => canonicalJson(side as Json));
    if (is !== told) violate('I-ATOM', `${what} ${key} is ${is}, the ledger was told ${told}`);
  }
}
