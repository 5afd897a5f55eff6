import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger, LedgerOperation, LedgerTransaction } from '../../src/ledger/ledger.ts';
import { freshSchema, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import { openSqliteLedger, type SqliteLedgerOptions } from '../../src/ledger/sqlite.ts';
import { PortolanError } from '../../src/model/errors.ts';
import type { Intent, OwnedObject, Snapshot } from '../../src/model/owned.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';

export const shop = 'default/team-a/region-1/42';
export const blog = 'default/team-a/region-1/43';

export function object(values: Partial<OwnedObject> = {}): OwnedObject {
  const {
    scope = shop,
    source = 'default',
    kind = 'HttpGatewayRule',
    naturalKey = 'svc/8080/www.example.test/',
  } = values;
  return {
    uid: `${source}:${scope}:${kind}:${naturalKey}`,
    scope,
    platform: 'default',
    source,
    kind,
    resource: `${kind}/www`,
    naturalKey,
    remoteId: 'rule-1',
    remoteAux: { former: { weight: 100 } },
    origin: 'created',
    state: 'present',
    lastApplied: { weight: 50, path: '/' },
    obligation: null,
    failures: 0,
    lastSnapshot: 'snapshot-1',
    ...values,
  };
}

export function intent(values: Partial<Intent> = {}): Intent {
  return {
    id: 'intent-1',
    uid: object().uid,
    scope: shop,
    resource: 'HttpGatewayRule/www',
    operation: 'createRule',
    idempotence: 'duplicate-rejecting',
    action: { step: 'create', after: { weight: 50 } },
    epoch: 1,
    requestHash: 'c0ffee',
    preimage: [],
    state: 'open',
    createdMs: 1_000,
    sendDeadlineMs: 3_000,
    settleMs: 0,
    settleMark: '',
    outcome: null,
    resolvedBy: null,
    ...values,
  };
}

export function snapshot(values: Partial<Snapshot> = {}): Snapshot {
  return {
    id: 'snapshot-1',
    source: 'default',
    commit: 'abc',
    manifestHash: 'def',
    objects: 3,
    pruneOk: true,
    acceptedMs: 900,
    ...values,
  };
}

export function record(event: string, uid?: string): LedgerOperation {
  return { op: 'record', event, ...(uid === undefined ? {} : { uid }), detail: { why: ['git', 'drift'], n: 1 } };
}

export function transaction(operations: readonly LedgerOperation[], scope = shop): LedgerTransaction {
  return { scope, actor: 'test', atMs: 1_000, operations };
}

/** Everything a ledger shows: two ledgers with equal views are equal. */
export async function viewOf(ledger: Ledger): Promise<unknown> {
  return {
    objects: await ledger.objects({}),
    intents: await ledger.intents({}),
    history: await ledger.history({ limit: 1_000 }),
    scopes: await ledger.scopes(),
    snapshots: [await ledger.lastSnapshot('default'), await ledger.lastSnapshot('other')],
    facts: [await ledger.fact('one'), await ledger.fact('two')],
  };
}

/** The code of the PortolanError that a promise rejects with; any other error is thrown on. */
export async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    if (error instanceof PortolanError) return error.code;
    if (error instanceof RangeError) return 'RangeError';
    throw error;
  }
}

/** The PortolanError that a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<PortolanError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PortolanError)) throw new Error(`expected a PortolanError, got ${String(error)}`);
  return error;
}

export const real: Pick<SqliteLedgerOptions, 'clock' | 'random' | 'actor'> = {
  clock: systemClock,
  random: systemRandom,
  actor: 'test on host-1',
};

/** A clock that never wakes a sleeper: no lease is renewed but by transactions. */
export const stillClock: Clock = {
  ...real.clock,
  sleep: (_, signal) =>
    new Promise((_resolve, reject) => {
      if (signal?.aborted === true) reject(signal.reason);
      signal?.addEventListener('abort', () => reject(signal.reason));
    }),
};

/** A directory that goes with `using`. */
export function temporaryDirectory(): { readonly path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'portolan-ledger-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** One ledger under test, and how the next process would open what the last one left. */
export interface LedgerUnderTest {
  open(): Promise<Ledger>;
  [Symbol.dispose](): void;
}

export const ledgerKinds: readonly { readonly name: string; readonly reopens: boolean; create(): LedgerUnderTest }[] = [
  {
    name: 'memory',
    reopens: true,
    create() {
      const store = new MemoryStore('lineage');
      return { open: async () => openMemoryLedger(store), [Symbol.dispose]() {} };
    },
  },
  {
    name: 'sqlite file',
    reopens: true,
    create() {
      const directory = temporaryDirectory();
      return {
        open: () => openSqliteLedger(join(directory.path, 'ledger.db'), real),
        [Symbol.dispose]: directory[Symbol.dispose],
      };
    },
  },
  {
    name: 'sqlite :memory:',
    reopens: false,
    create: () => ({ open: () => openSqliteLedger(':memory:', real), [Symbol.dispose]() {} }),
  },
  {
    name: 'PostgreSQL',
    reopens: true,
    create() {
      const schema = freshSchema();
      return {
        open: async () => openPostgresLedger(trusting(await sharedUrl(schema)), real),
        [Symbol.dispose]() {},
      };
    },
  },
];
