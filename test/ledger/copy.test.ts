import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CopyReport, copyLedger as copyAt, type LedgerPlace } from '../../src/ledger/copy.ts';
import { filePlace } from '../../src/ledger/file-place.ts';
import type { Ledger, LedgerOperation } from '../../src/ledger/ledger.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { postgresPlace } from '../../src/ledger/postgres/place.ts';
import { verifyPostgresLedger } from '../../src/ledger/postgres/verify.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { verifySqliteLedger } from '../../src/ledger/verify.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { postgresUrl } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedPort, sharedUrl, trusting } from '../support/postgres-shared.ts';
import {
  blog,
  codeOf,
  errorOf,
  intent,
  object,
  real,
  record,
  shop,
  snapshot,
  stillClock,
  temporaryDirectory,
  transaction,
  viewOf,
} from './fixtures.ts';

/** One side of a copy. */
interface Side {
  readonly name: string;
  readonly place: LedgerPlace;
  open(readOnly?: boolean): Promise<Ledger>;
  findings(): Promise<readonly unknown[]>;
}

function inFile(folder: string, name = 'ledger.db'): Side {
  const path = join(folder, name);
  return {
    name: path,
    place: filePlace(path, real.random),
    open: (readOnly = false) => openSqliteLedger(path, { ...real, readOnly }),
    findings: async () => verifySqliteLedger(path),
  };
}

async function inDatabase(schema = freshSchema()): Promise<Side & { readonly schema: string }> {
  const access = trusting(await sharedUrl(schema));
  return {
    schema,
    name: access.address.location,
    place: postgresPlace(access, real.clock),
    open: (readOnly = false) => openPostgresLedger(access, { ...real, readOnly }),
    findings: async () => (await verifyPostgresLedger(access)).findings,
  };
}

function copyLedger(from: LedgerPlace, to: LedgerPlace): Promise<CopyReport> {
  return copyAt(from, to, real.clock);
}

/** Writes rows of every table, with texts of every kind, and more of them than one batch has. */
async function fill({ open }: Side): Promise<unknown> {
  const ledger = await open();
  const many: LedgerOperation[] = Array.from({ length: 600 }, (_, n) => ({
    op: 'put-object',
    object: object({ naturalKey: `key ${n} "' \\ äß漢 \u{1f600}`, failures: n, remoteId: n % 2 === 0 ? null : `${n}` }),
  }));
  await ledger.commit(
    transaction([
      ...many,
      { op: 'accept-snapshot', snapshot: snapshot() },
      { op: 'set-fact', key: 'one', value: '\n1 ' },
    ]),
  );
  const { epoch } = ledger;
  await ledger.commit(transaction([{ op: 'open-intent', intent: intent({ epoch }) }, record('intent', 'u1')]));
  await ledger.commit(
    transaction([{ op: 'move-intent', id: 'intent-1', state: 'unknown', settleMs: 2 ** 45 }, record('unknown')]),
  );
  await ledger.commit(transaction([{ op: 'put-object', object: object({ scope: blog }) }], blog));
  await ledger.commit(
    transaction([{ op: 'drop-object', uid: object({ naturalKey: `key 3 "' \\ äß漢 \u{1f600}` }).uid }]),
  );
  for (let n = 0; n < 30; n += 1)
    await ledger.commit(transaction([record(`line ${n}`), record('more')], n % 2 === 0 ? shop : blog));
  const view = await viewOf(ledger);
  await ledger.close();
  return { view, lineage: ledger.lineage, epoch };
}

async function stateOf({ open }: Side): Promise<unknown> {
  const ledger = await open();
  const view = await viewOf(ledger);
  await ledger.close();
  return { view, lineage: ledger.lineage, epoch: ledger.epoch - 1 };
}

test('a ledger goes to PostgreSQL and back into a file, and every row, hash, epoch and serial is the same', async () => {
  using directory = temporaryDirectory();
  const [file, database, back] = [inFile(directory.path), await inDatabase(), inFile(directory.path, 'back.db')];
  const before = await fill(file);
  const there = await copyLedger(file.place, database.place);
  expect(there).toMatchObject({ from: file.name, to: database.name, schema: 4, serial: 35, epoch: 1 });
  expect(there.tables).toMatchObject({
    object: { rows: 600 },
    intent: { rows: 1 },
    chain: { rows: 2 },
    snapshot: { rows: 1 },
  });
  expect(await database.findings()).toEqual([]);
  const again = await copyLedger(database.place, back.place);
  expect({ ...again, from: '', to: '', schema: there.schema }).toEqual({ ...there, from: '', to: '' });
  expect(await back.findings()).toEqual([]);
  expect(await stateOf(back)).toEqual(before);
  for (const side of [database, file]) {
    const ledger = await side.open(true);
    expect({ view: await viewOf(ledger), lineage: ledger.lineage, epoch: ledger.epoch }).toEqual(before);
    await ledger.close();
  }
  expect(readdirSync(directory.path).filter((name) => name.includes('copying'))).toEqual([]);
});

test('a ledger that PostgreSQL wrote is intact in a file, and continues there', async () => {
  using directory = temporaryDirectory();
  const [database, file] = [await inDatabase(), inFile(directory.path)];
  await fill(database);
  await copyLedger(database.place, file.place);
  const ledger = await file.open();
  await ledger.commit(transaction([{ op: 'put-object', object: object({ naturalKey: 'new' }) }, record('continued')]));
  await ledger.close();
  expect(await file.findings()).toEqual([]);
});

test('a target with records is refused, and nothing changes', async () => {
  using directory = temporaryDirectory();
  const [file, database, other] = [inFile(directory.path), await inDatabase(), inFile(directory.path, 'other.db')];
  await fill(file);
  await fill(database);
  await fill(other);
  const [ofDatabase, ofOther] = [await stateOf(database), readFileSync(other.name)];
  for (const [from, to] of [
    [file, database],
    [database, other],
  ] as const) {
    const error = await errorOf(copyLedger(from.place, to.place));
    expect([error.code, error.disposition]).toEqual(['ledger/not-empty', 'invalid']);
  }
  expect(readFileSync(other.name).equals(ofOther)).toBe(true);
  expect((await stateOf(database)) as { view: unknown }).toMatchObject({
    view: (ofDatabase as { view: unknown }).view,
  });
});

test('a connection that is cut in the middle of a copy leaves the whole ledger or none', async () => {
  using directory = temporaryDirectory();
  const filled = inFile(directory.path);
  const before = await fill(filled);
  const proxy = await CuttingProxy.before(await sharedPort());
  const found = { whole: 0, none: 0 };
  for (const bytes of [500, 5_000, 40_000, 150_000, 250_000, 300_000, 1e9]) {
    const schema = freshSchema();
    const file = inFile(directory.path, `${bytes}.db`);
    copyFileSync(filled.name, file.name);
    const access = trusting(postgresUrl(proxy.port, schema));
    proxy.cutAfter('requests', bytes);
    const code = await codeOf(copyLedger(file.place, postgresPlace(access, real.clock)));
    proxy.heal();
    const side = await inDatabase(schema);
    const tables = await querySharedServer(`SELECT 1 FROM pg_tables WHERE schemaname = '${schema}'`);
    expect([undefined, 'ledger/unreachable']).toContain(code);
    expect(tables.length > 0).toBe(code === undefined);
    if (code === undefined) expect(await stateOf(side)).toEqual(before);
    found[code === undefined ? 'whole' : 'none'] += 1;
    // Whatever happened, the same copy can be repeated.
    if (code !== undefined) await copyLedger(file.place, side.place);
    expect(await side.findings()).toEqual([]);
  }
  expect(found.whole).toBeGreaterThan(0);
  expect(found.none).toBeGreaterThan(3);
  await proxy.close();
});

test('a ledger is not copied onto itself, by whatever name', async () => {
  using directory = temporaryDirectory();
  const [file, database] = [inFile(directory.path), await inDatabase()];
  for (const side of [file, database]) await fill(side);
  const other = trusting((await sharedUrl(database.schema)).replace('127.0.0.1', 'localhost'));
  for (const [from, to] of [
    [file.place, file.place],
    [database.place, database.place],
    [database.place, postgresPlace(other, real.clock)],
  ] as const) {
    const error = await errorOf(copyLedger(from, to));
    expect([error.code, error.disposition]).toEqual(['ledger/not-empty', 'invalid']);
  }
  for (const side of [file, database]) await (await side.open()).close();
});

test('an empty ledger in the database is filled', async () => {
  using directory = temporaryDirectory();
  const [file, database] = [inFile(directory.path), await inDatabase()];
  const before = await fill(file);
  await (await database.open()).close();
  await copyLedger(file.place, database.place);
  expect(await stateOf(database)).toEqual(before);
});

test('a process that slept through a copy over its empty ledger cannot write, and the epoch does not go back', async () => {
  using directory = temporaryDirectory();
  const [file, database] = [inFile(directory.path), await inDatabase()];
  await fill(file);
  for (let opened = 0; opened < 4; opened += 1) await (await database.open()).close();
  const access = trusting(await sharedUrl(database.schema));
  const asleep = await openPostgresLedger(access, { ...real, clock: stillClock, leaseMs: 500 });
  await copyLedger(file.place, database.place);
  const install = intent({ operation: 'install', idempotence: 'duplicate-accepting', epoch: asleep.epoch });
  expect(await codeOf(asleep.commit(transaction([{ op: 'open-intent', intent: install }])))).toBe('ledger/fenced');
  await asleep.close();
  const next = await database.open();
  expect([asleep.epoch, next.epoch]).toEqual([5, 6]);
  await next.close();
});

test('nothing is copied while a process holds either side', async () => {
  using directory = temporaryDirectory();
  const [file, database, empty] = [inFile(directory.path), await inDatabase(), inFile(directory.path, 'empty.db')];
  await fill(file);
  const inUse = await file.open();
  expect(await codeOf(copyLedger(file.place, database.place))).toBe('ledger/locked');
  await inUse.close();
  const access = trusting(await sharedUrl(database.schema));
  const held = await openPostgresLedger(access, { ...real, leaseMs: 6_000 });
  expect(await codeOf(copyLedger(file.place, database.place))).toBe('ledger/locked');
  expect(await codeOf(copyLedger(database.place, empty.place))).toBe('ledger/locked');
  expect(existsSync(empty.name)).toBe(false);
  await held.close();
  await copyLedger(file.place, database.place);
});

test('half of a surrogate pair is recorded as databases store it, so that no row looks changed', async () => {
  using directory = temporaryDirectory();
  const [file, database, back] = [inFile(directory.path), await inDatabase(), inFile(directory.path, 'back.db')];
  const half = object({ naturalKey: 'key \ud83d', remoteId: '\udc00', lastApplied: { text: '\ud83d' } });
  const [moved, other] = [intent({ id: 'id \ud83d', uid: half.uid }), intent({ uid: 'other \ud83d' })];
  for (const side of [file, database]) {
    const ledger = await side.open();
    const commit = async (...operations: LedgerOperation[]) =>
      ledger.commit({ ...transaction(operations), actor: 'ann \ud83d' });
    await commit({ op: 'put-object', object: half }, record('event \ud83d', half.uid));
    await commit({ op: 'open-intent', intent: moved }, { op: 'open-intent', intent: other });
    await commit({ op: 'move-intent', id: moved.id, state: 'applied' });
    await commit({ op: 'set-fact', key: 'one', value: '\ud83d' });
    await commit({ op: 'set-fact', key: 'one', value: 'two', was: '\ud83d' });
    expect(await ledger.objects({})).toEqual([
      {
        ...object(),
        uid: 'default:default/team-a/region-1/42:HttpGatewayRule:key \ufffd',
        naturalKey: 'key \ufffd',
        remoteId: '\ufffd',
        lastApplied: { text: '\ud83d' },
      },
    ]);
    const [line] = await ledger.history({ limit: 1 });
    expect(line).toMatchObject({ actor: 'ann \ufffd', event: 'event \ufffd' });
    await commit({ op: 'drop-object', uid: half.uid }, record('dropped'));
    expect(await ledger.objects({})).toEqual([]);
    await ledger.close();
    expect(await side.findings()).toEqual([]);
  }
  await copyLedger(database.place, back.place);
  await copyLedger(file.place, (await inDatabase()).place);
});

test('a damaged ledger is not copied, and a source that does not exist is an error', async () => {
  using directory = temporaryDirectory();
  const [database, file] = [await inDatabase(), inFile(directory.path)];
  expect(await codeOf(copyLedger(database.place, file.place))).toBe('ledger/missing');
  expect(await codeOf(copyLedger(file.place, database.place))).toBe('ledger/missing');
  await fill(database);
  await querySharedServer(`UPDATE ${database.schema}.history SET actor = 'mallory' WHERE line = 3`);
  const error = await errorOf(copyLedger(database.place, file.place));
  expect([error.code, error.message]).toEqual([
    'ledger/bad-copy',
    expect.stringContaining('was changed after it was written'),
  ]);
  expect(existsSync(file.name)).toBe(false);
});

test.for([
  ["UPDATE history SET detail = '{}' WHERE line = 2", 'chain'],
  ['DELETE FROM history WHERE line = 2', 'chain'],
  ["UPDATE object SET origin = 'observed' WHERE failures = 5", 'inventory'],
  ['DELETE FROM object WHERE failures = 5', 'inventory'],
  ['DROP INDEX intent_one_install', 'schema'],
  ['DROP INDEX object_one_owner; CREATE INDEX object_one_owner ON object (scope, kind, natural_key)', 'schema'],
  ['ALTER TABLE intent DROP CONSTRAINT intent_idempotence_check', 'schema'],
  ['ALTER TABLE object ALTER COLUMN source DROP NOT NULL', 'schema'],
  ['CREATE TABLE other (n int)', 'schema'],
  ['DROP TABLE fact', 'schema'],
])('verify finds: %s', async ([statements, area]) => {
  const database = await inDatabase();
  await fill(database);
  expect(await database.findings()).toEqual([]);
  await querySharedServer(`SET search_path TO ${database.schema}; ${statements}`);
  expect(await database.findings()).toEqual(expect.arrayContaining([expect.objectContaining({ area })]));
});
