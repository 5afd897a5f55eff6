import type { Ledger, LedgerTransaction } from '../../src/ledger/ledger.ts';
import { createInMemory, kyselyOn, openInDatabase } from '../../src/ledger/sqlite.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { Chance } from './chance.ts';
import { EPOCH_MS } from './server.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';

/** A ledger that outlives the processes that open it. */
export interface LedgerHost {
  open(): Promise<Ledger>;
  /** Frees what it holds, at the end of a schedule. */
  close(): Promise<void>;
}

export type LedgerKind = 'memory' | 'sqlite';

export function hostOf(kind: LedgerKind): LedgerHost {
  return kind === 'memory' ? memoryHost() : sqliteHost();
}

export function memoryHost(): LedgerHost {
  const store = new MemoryStore('lineage');
  return { open: async () => openMemoryLedger(store), close: async () => {} };
}

/** Nothing in memory is ever busy, so nobody waits. */
const standingClock: Clock = {
  now: () => EPOCH_MS,
  monotonic: () => 0,
  sinceBoot: () => ({ boot: 'boot', uptimeMs: 0 }),
  sleep: () => Promise.reject(new Error('a database in memory was busy')),
};

/** Real SQLite, in memory: what a process that is killed leaves behind is a database, and the next one opens it. */
export function sqliteHost(): LedgerHost {
  const place = free.pop() ?? newDatabase();
  place.database.exec(EMPTY);
  return {
    open: async () => {
      // Processes share one connection here: who opens waits for a commit under way, as it would for the file's lock.
      while (place.database.isTransaction) await Promise.resolve();
      const ledger = openInDatabase(place.database, options, place.db);
      // A process that ends closes its ledger, but not the connection of the others.
      return { ...ledThrough(ledger, asItIs, (transaction) => ledger.commit(transaction)), close: async () => {} };
    },
    close: async () => {
      if (place.database.isTransaction) place.database.close();
      else free.push(place);
    },
  };
}

const asItIs = <T>(answer: T): T => answer;
const options = { clock: standingClock, random: new Chance(1), actor: 'simulation' } as const;

/** A schema takes longer to make than a schedule to run, and so do statements to prepare: databases are used again, emptied. */
const free: ReturnType<typeof newDatabase>[] = [];

function newDatabase() {
  const database = createInMemory(options);
  return { database, db: kyselyOn(database) };
}

const EMPTY = `BEGIN;
${['fact', 'chain', 'snapshot', 'object', 'intent', 'history'].map((table) => `DELETE FROM ${table};`).join('\n')}
UPDATE meta SET v = '0' WHERE k IN ('serial', 'epoch');
DELETE FROM meta WHERE k = 'holder';
COMMIT`;

/** The same ledger, with every read and every commit led through these. */
export function ledThrough(
  ledger: Ledger,
  reading: <T>(answer: Promise<T>) => Promise<T>,
  commit: (transaction: LedgerTransaction) => Promise<void>,
): Ledger {
  return {
    location: ledger.location,
    lineage: ledger.lineage,
    epoch: ledger.epoch,
    objects: (filter) => reading(ledger.objects(filter)),
    objectCount: (filter) => reading(ledger.objectCount(filter)),
    ownedScopes: (source) => reading(ledger.ownedScopes(source)),
    intents: (filter) => reading(ledger.intents(filter)),
    history: (filter) => reading(ledger.history(filter)),
    scopes: () => reading(ledger.scopes()),
    fact: (key) => reading(ledger.fact(key)),
    lastSnapshot: (source) => reading(ledger.lastSnapshot(source)),
    commit,
    close: () => ledger.close(),
  };
}
