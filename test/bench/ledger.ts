import { closeSync, copyFileSync, existsSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LedgerOperation, LedgerTransaction } from '../../src/ledger/ledger.ts';
import { intentRow, objectRow } from '../../src/ledger/schema.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import type { SqlLedger } from '../../src/ledger/sql-ledger.ts';
import type { Intent, OwnedObject } from '../../src/model/owned.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import type { Figure } from './figures.ts';

const WRITES = 500;
const WARM_UP = 50;
const INVENTORY = 10_000;
const READS = 15;
export const SCOPE = 'default/team-1/region-1/1';
/** Memory with the face of a disk, on Linux. */
const MEMORY = '/dev/shm';
const PAGE = Buffer.alloc(4_096, 1);

const none = { clock: systemClock, random: systemRandom, actor: 'bench' } as const;

/**
 * What the ledger costs beside bare `node:sqlite` that puts the same rows into the same tables with the same pragmas, and
 * beside one page written through to the same disk; turn by turn. One write to the platform is two commits: the intent
 * before it, the outcome after it.
 */
export async function ledger(): Promise<readonly Figure[]> {
  const onDisk = await measure(tmpdir(), '');
  // Where a commit has no disk to wait for, what is left is ours and SQLite's.
  return existsSync(MEMORY) ? [...onDisk, ...(await measure(MEMORY, ', no disk'))] : onDisk;
}

async function measure(parent: string, where: string): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(parent, 'portolan-bench-'));
  try {
    const path = join(folder, 'ours.db');
    const bare = join(folder, 'bare.db');
    await (await openSqliteLedger(path, none)).close();
    copyFileSync(path, bare);
    const ours = await openSqliteLedger(path, none);
    const floor = new BareLedger(bare);
    const disk = openSync(join(folder, 'page'), 'w');
    try {
      const figures = [...(await reading(ours, floor)), ...(await writing(ours, floor, disk))];
      return figures.map((figure) => ({ ...figure, name: figure.name + where }));
    } finally {
      closeSync(disk);
      floor.close();
      await ours.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writing(ours: SqlLedger, floor: BareLedger, disk: number): Promise<readonly Figure[]> {
  const page: number[] = [];
  const intents: number[] = [];
  const bareIntents: number[] = [];
  const outcomes: number[] = [];
  const bareOutcomes: number[] = [];
  for (let turn = -WARM_UP; turn < WRITES; turn += 1) {
    const intent = intentOf(turn, ours.epoch);
    const object = objectOf(turn);
    const took = [
      timed(() => pageThrough(disk)),
      await timedLater(() => ours.commit(begun(intent))),
      timed(() => floor.begun(intent)),
      await timedLater(() => ours.commit(ended(intent, object))),
      timed(() => floor.ended(intent, object)),
    ];
    if (turn < 0) continue;
    for (const [index, samples] of [page, intents, bareIntents, outcomes, bareOutcomes].entries())
      samples.push(took[index] ?? Number.NaN);
  }
  const goal = { text: 'p99 ≤ 1 ms', isMet: ({ p99 }: { readonly p99: number }) => p99 <= 1 };
  return [
    { name: 'one page through to the disk', unit: 'ms', samples: page },
    { name: 'commit of an intent, bare node:sqlite', unit: 'ms', samples: bareIntents },
    { name: 'commit of an intent', unit: 'ms', samples: intents, floor: bareIntents, goal },
    { name: 'commit of an outcome, bare node:sqlite', unit: 'ms', samples: bareOutcomes },
    { name: 'commit of an outcome', unit: 'ms', samples: outcomes, floor: bareOutcomes, goal },
  ];
}

async function reading(ours: SqlLedger, floor: BareLedger): Promise<readonly Figure[]> {
  const inventory = Array.from({ length: INVENTORY }, (_, index) => objectOf(WRITES + index));
  const operations = inventory.map((object): LedgerOperation => ({ op: 'put-object', object }));
  await ours.commit(transaction(operations));
  floor.putAll(inventory);
  const [all, bareAll, processor]: [number[], number[], number[]] = [[], [], []];
  for (let turn = -2; turn < READS; turn += 1) {
    const before = process.cpuUsage();
    const took = await timedLater(() => ours.objects({}));
    const { user, system } = process.cpuUsage(before);
    const bareTook = timed(() => floor.objects());
    if (turn < 0) continue;
    all.push(took);
    bareAll.push(bareTook);
    processor.push((user + system) / 1000);
  }
  return [
    {
      name: 'reading the inventory of 10,000 objects',
      unit: 'ms',
      samples: all,
      floor: bareAll,
      goal: { text: '≤ 50 ms', isMet: ({ median }) => median <= 50 },
    },
    { name: 'its processor time', unit: 'ms', samples: processor },
  ];
}

/** The same rows by statements that were prepared once, and nothing checked. */
class BareLedger {
  readonly #db: DatabaseSync;
  readonly #run: (sql: string, values: readonly unknown[]) => void;
  readonly #all: () => readonly unknown[];
  #serial = 0;
  #lines = 0;

  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    this.#db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 3000; PRAGMA secure_delete = ON',
    );
    const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
    this.#run = (sql, values) => {
      const statement = prepared.get(sql) ?? this.#db.prepare(sql);
      prepared.set(sql, statement);
      statement.run(...(values as SQLInputValue[]));
    };
    const everything = this.#db.prepare('SELECT * FROM object ORDER BY uid');
    this.#all = () => everything.all();
  }

  begun(intent: Intent): void {
    this.#transaction(() => {
      this.#insert('INSERT', 'intent', intentRow(intent, this.#serial));
      this.#line('intent', intent.uid);
    });
  }

  ended(intent: Intent, object: OwnedObject): void {
    this.#transaction(() => {
      this.#run('UPDATE intent SET state = ?, outcome = ? WHERE id = ?', ['applied', ANSWER, intent.id]);
      this.#insert('INSERT OR REPLACE', 'object', objectRow(object, this.#serial));
      this.#line('outcome', object.uid);
    });
  }

  putAll(objects: readonly OwnedObject[]): void {
    this.#transaction(() => {
      for (const object of objects) this.#insert('INSERT OR REPLACE', 'object', objectRow(object, this.#serial));
    });
  }

  objects(): readonly unknown[] {
    return this.#all();
  }

  close(): void {
    this.#db.close();
  }

  #transaction(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE');
    this.#serial += 1;
    this.#run("UPDATE meta SET v = ? WHERE k = 'serial'", [String(this.#serial)]);
    work();
    this.#db.exec('COMMIT');
  }

  #line(event: string, uid: string): void {
    this.#lines += 1;
    const hash = 'f'.repeat(64);
    const row = { scope: SCOPE, line: this.#lines, serial: this.#serial, at_ms: 1_000, actor: 'bench', event, uid };
    this.#insert('INSERT', 'history', { ...row, detail: ANSWER, prev_hash: hash, hash });
    this.#insert('INSERT OR REPLACE', 'chain', { scope: SCOPE, lines: this.#lines, hash });
  }

  #insert(how: string, table: string, row: object): void {
    const columns = Object.keys(row);
    const places = columns.map(() => '?').join(', ');
    this.#run(`${how} INTO ${table} (${columns.join(', ')}) VALUES (${places})`, Object.values(row));
  }
}

export const ANSWER = '{"code":200,"message":"success","status":200}';

export function begun(intent: Intent): LedgerTransaction {
  return transaction([
    { op: 'open-intent', intent },
    { op: 'record', event: 'intent', uid: intent.uid, detail: { code: 200, message: 'success', status: 200 } },
  ]);
}

export function ended(intent: Intent, object: OwnedObject): LedgerTransaction {
  const outcome = { code: 200, message: 'success', status: 200 };
  return transaction([
    { op: 'move-intent', id: intent.id, state: 'applied', outcome },
    { op: 'put-object', object },
    { op: 'record', event: 'outcome', uid: object.uid, detail: outcome },
  ]);
}

function transaction(operations: readonly LedgerOperation[]): LedgerTransaction {
  return { scope: SCOPE, actor: 'bench', atMs: 1_000, operations };
}

export function objectOf(index: number): OwnedObject {
  const naturalKey = `port/${index.toString(16).padStart(32, '0')}/8080`;
  return {
    uid: `default:${SCOPE}:Component:${naturalKey}`,
    scope: SCOPE,
    platform: 'default',
    source: 'default',
    kind: 'Component',
    resource: 'Component/app-1-c0',
    naturalKey,
    remoteId: null,
    remoteAux: { former: { alias: 'P00', inner: false, outer: false } },
    origin: 'created',
    state: 'present',
    lastApplied: { port: 8080, protocol: 'http', alias: 'P00', inner: true, outer: true },
    obligation: null,
    failures: 0,
    lastSnapshot: 'snapshot-1',
  };
}

export function intentOf(index: number, epoch: number): Intent {
  const { uid, scope, resource, lastApplied } = objectOf(index);
  return {
    id: (index + WARM_UP).toString(16).padStart(12, '0'),
    uid,
    scope,
    resource,
    operation: 'addPort',
    idempotence: 'duplicate-rejecting',
    action: { step: 'create', after: lastApplied },
    epoch,
    requestHash: 'c'.repeat(64),
    preimage: null,
    state: 'open',
    createdMs: 1_000,
    sendDeadlineMs: 3_000,
    settleMs: 0,
    settleMark: '',
    outcome: null,
    resolvedBy: null,
  };
}

function pageThrough(disk: number): void {
  writeSync(disk, PAGE);
  fdatasyncSync(disk);
}

function timed(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}

export async function timedLater(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
