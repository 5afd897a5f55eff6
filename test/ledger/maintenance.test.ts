import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { backUpLedger, restoreLedger } from '../../src/ledger/backup.ts';
import { awaitsConfirmation, confirmScope } from '../../src/ledger/confirmation.ts';
import { exportNdjson } from '../../src/ledger/export.ts';
import type { LedgerOperation } from '../../src/ledger/ledger.ts';
import { fileSteps, migrations, newestSchema } from '../../src/ledger/migrations.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { verifySqliteLedger } from '../../src/ledger/verify.ts';
import { PortolanError } from '../../src/model/errors.ts';
import {
  blog,
  codeOf,
  intent,
  object,
  real,
  record,
  shop,
  snapshot,
  temporaryDirectory,
  transaction,
  viewOf,
} from './fixtures.ts';

const day = 86_400_000;

test('a backup of a ledger in use is that ledger, private, and replaces an older backup', async () => {
  using directory = temporaryDirectory();
  const [path, copy] = [join(directory.path, 'ledger.db'), join(directory.path, 'kept', 'copy.db')];
  const ledger = await openSqliteLedger(path, real);
  await ledger.commit(transaction([{ op: 'put-object', object: object() }, record('a')]));
  backUpLedger(path, copy);
  await ledger.commit(transaction([record('b')]));
  const report = backUpLedger(path, copy);
  expect(report).toEqual({ path: copy, lineage: ledger.lineage, schema: newestSchema(fileSteps()), serial: 2 });
  expect((statSync(copy).mode & 0o777).toString(8)).toBe('600');
  expect(readdirSync(join(directory.path, 'kept'))).toEqual(['copy.db']);
  const read = await openSqliteLedger(copy, { ...real, readOnly: true });
  expect(await viewOf(read)).toEqual(await viewOf(ledger));
  await read.close();
  await ledger.close();
  expect(() => backUpLedger(join(directory.path, 'nowhere.db'), copy)).toThrow(PortolanError);
});

test('a restored ledger goes on above both epochs and serials, and its installs wait for a person', async () => {
  using directory = temporaryDirectory();
  const [path, copy] = [join(directory.path, 'ledger.db'), join(directory.path, 'copy.db')];
  const before = await openSqliteLedger(path, real);
  await before.commit(transaction([{ op: 'put-object', object: object() }, record('kept')]));
  await before.commit(transaction([record('kept too')], blog));
  backUpLedger(path, copy);
  for (let n = 0; n < 5; n += 1) await before.commit(transaction([record('lost')]));
  expect(await codeOf(restoreLedger(path, copy, real))).toBe('ledger/locked');
  expect(await awaitsConfirmation(before, shop)).toBe(false);
  await before.close();
  await (await openSqliteLedger(path, real)).close();

  const report = await restoreLedger(path, copy, real);
  expect(report).toMatchObject({ path, lineage: before.lineage, epoch: 3 });
  expect(report.serial).toBeGreaterThan(7);
  expect(verifySqliteLedger(path)).toEqual([]);
  expect(verifySqliteLedger(report.replaced ?? '')).toEqual([]);
  const ledger = await openSqliteLedger(path, real);
  expect(ledger.epoch).toBe(4);
  expect(await ledger.objects({})).toEqual([object()]);
  expect((await ledger.history({ scope: shop, limit: 9 })).map(({ event }) => event)).toEqual([
    'ledger.restored',
    'kept',
  ]);
  expect(await ledger.scopes()).toEqual([shop, blog]);
  expect([await awaitsConfirmation(ledger, shop), await awaitsConfirmation(ledger, 'never seen')]).toEqual([
    true,
    true,
  ]);
  await ledger.commit(transaction([confirmScope(shop, ledger.epoch), record('ledger.confirmed')]));
  expect([await awaitsConfirmation(ledger, shop), await awaitsConfirmation(ledger, blog)]).toEqual([false, true]);
  await ledger.close();
  expect(readdirSync(directory.path).filter((name) => name.includes('restoring'))).toEqual([]);
});

test('a backup of an older schema is brought to the newest on the way', async () => {
  using directory = temporaryDirectory();
  const [path, copy] = [join(directory.path, 'ledger.db'), join(directory.path, 'copy.db')];
  const ledger = await openSqliteLedger(path, real);
  await ledger.commit(transaction([record('kept')]));
  backUpLedger(path, copy);
  await ledger.close();
  const steps = [...migrations, { to: newestSchema(migrations) + 1, sql: 'ALTER TABLE fact ADD COLUMN note TEXT' }];
  const report = await restoreLedger(path, copy, { ...real, migrations: steps });
  expect(report.schema).toBe(newestSchema(steps));
  expect(readdirSync(directory.path).filter((name) => name.includes('restoring'))).toEqual([]);
  const restored = await openSqliteLedger(path, { ...real, migrations: steps });
  expect((await restored.history({ limit: 9 })).map(({ event }) => event)).toEqual(['ledger.restored', 'kept']);
  await restored.close();
});

test('a ledger beyond repair is replaced, and kept with its log', async () => {
  using directory = temporaryDirectory();
  const [path, copy] = [join(directory.path, 'ledger.db'), join(directory.path, 'copy.db')];
  const ledger = await openSqliteLedger(path, real);
  await ledger.commit(transaction([record('kept')]));
  backUpLedger(path, copy);
  await ledger.close();
  writeFileSync(path, 'noise'.repeat(3000));
  writeFileSync(`${path}-wal`, 'more noise');
  const report = await restoreLedger(path, copy, real);
  expect(readFileSync(report.replaced ?? '', 'utf8')).toBe('noise'.repeat(3000));
  const restored = await openSqliteLedger(path, real);
  expect((await restored.history({ limit: 9 })).map(({ event }) => event)).toEqual(['ledger.restored', 'kept']);
  await restored.close();
});

test('a damaged backup is not put in a sound ledger’s place', async () => {
  using directory = temporaryDirectory();
  const [path, copy] = [join(directory.path, 'ledger.db'), join(directory.path, 'copy.db')];
  const ledger = await openSqliteLedger(path, real);
  await ledger.commit(transaction([record('kept')]));
  backUpLedger(path, copy);
  const raw = new DatabaseSync(copy);
  raw.exec("UPDATE history SET event = 'forged'");
  raw.close();
  await ledger.close();
  const before = readFileSync(path);
  expect(await codeOf(restoreLedger(path, copy, real))).toBe('ledger/corrupt');
  expect(await codeOf(restoreLedger(path, join(directory.path, 'nowhere.db'), real))).toBe('ledger/missing');
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(existsSync(join(directory.path, 'nowhere.db'))).toBe(false);
});

test('compaction forgets what is old and settled, and keeps what is pending, recent, or an object’s last rows', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const ledger = await openSqliteLedger(path, real);
  const at = async (dayNumber: number, operations: readonly LedgerOperation[]) =>
    ledger.commit({ ...transaction(operations), atMs: dayNumber * day });
  await at(0, [{ op: 'put-object', object: object() }]);
  for (let n = 0; n < 1_300; n += 1) await at(0, [record(`old ${n}`, 'u1')]);
  await at(0, [record('old, of no object')]);
  const intents = [
    intent({ id: 'settled', uid: 'u1', createdMs: 0 }),
    intent({ id: 'open', uid: 'u2', createdMs: 0 }),
    intent({ id: 'unknown', uid: 'u3', createdMs: 0 }),
    intent({ id: 'recent', uid: 'u4', createdMs: 75 * day }),
  ];
  await at(
    0,
    intents.map((row) => ({ op: 'open-intent', intent: row })),
  );
  await at(1, [
    { op: 'move-intent', id: 'settled', state: 'applied' },
    { op: 'move-intent', id: 'unknown', state: 'unknown' },
    { op: 'move-intent', id: 'recent', state: 'applied' },
  ]);
  for (const id of ['snapshot-1', 's2', 's3'])
    await at(1, [{ op: 'accept-snapshot', snapshot: snapshot({ id, acceptedMs: 1 }) }]);
  await at(99, [record('new, of no object')]);

  const report = await ledger.compact({ nowMs: 100 * day, actor: 'test', keepMs: 20 * day });
  // With the line that only sealed the object.
  expect(report).toEqual({ history: 1_252, intents: 1, snapshots: 1 });
  expect((await ledger.intents({})).map(({ id }) => id)).toEqual(['open', 'recent', 'unknown']);
  expect((await ledger.lastSnapshot('default'))?.id).toBe('s3');
  const rows = await ledger.history({ limit: 5_000 });
  expect(
    rows
      .filter(({ uid }) => uid === 'u1')
      .map(({ event }) => event)
      .slice(0, 2),
  ).toEqual(['old 1299', 'old 1298']);
  expect(rows.filter(({ uid }) => uid === 'u1')).toHaveLength(50);
  expect(rows.filter(({ uid }) => uid === null).map(({ event }) => event)).toEqual([
    'ledger.compacted',
    'ledger.compacted',
    'ledger.compacted',
    'new, of no object',
  ]);
  expect(verifySqliteLedger(path)).toEqual([]);
  expect(await ledger.compact({ nowMs: 100 * day, actor: 'test', keepMs: 20 * day })).toEqual({
    history: 0,
    intents: 0,
    snapshots: 0,
  });
  await ledger.close();
  const reader = await openSqliteLedger(path, { ...real, readOnly: true });
  expect(await codeOf(reader.compact({ nowMs: 0, actor: 'test' }))).toBe('ledger/read-only');
  await reader.close();
});

test('compaction makes the file smaller', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const ledger = await openSqliteLedger(path, real);
  const filler: LedgerOperation = { op: 'record', event: 'big', detail: 'x'.repeat(20_000) };
  for (let n = 0; n < 100; n += 1) await ledger.commit({ ...transaction([filler]), atMs: 0 });
  await ledger.close();
  const before = statSync(path).size;
  const again = await openSqliteLedger(path, real);
  await again.compact({ nowMs: 100 * day, actor: 'test' });
  await again.close();
  expect(statSync(path).size).toBeLessThan(before / 4);
});

test('an export has every row once, in the model’s own names, and matches what the ledger shows', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const ledger = await openSqliteLedger(path, real);
  await ledger.commit(
    transaction([
      { op: 'accept-snapshot', snapshot: snapshot() },
      { op: 'put-object', object: object() },
      { op: 'open-intent', intent: intent() },
      { op: 'set-fact', key: 'one', value: '1' },
      record('a'),
    ]),
  );
  await ledger.commit(transaction([record('b')], blog));
  const lines = [...exportNdjson(path)].map((line) => JSON.parse(line) as { type: string });
  expect(lines).toEqual([
    { type: 'ledger', lineage: ledger.lineage, schema: newestSchema(fileSteps()), serial: 2, epoch: 1 },
    { type: 'snapshot', ...snapshot() },
    { type: 'fact', key: 'one', value: '1' },
    { type: 'object', ...object() },
    { type: 'intent', ...intent() },
    ...(await ledger.history({ limit: 9 })).toReversed().map((row) => ({ type: 'history', ...row })),
  ]);
  await ledger.close();
  expect(() => [...exportNdjson(join(directory.path, 'nowhere.db'))]).toThrow(PortolanError);
});
