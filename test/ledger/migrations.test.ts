import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { type Migration, migrations, newestSchema } from '../../src/ledger/migrations.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { codeOf, object, real, record, temporaryDirectory, transaction, viewOf } from './fixtures.ts';

/** A ledger as version 0 would have left it: no tables yet but `meta`, and a serial that says it was used. */
function olderLedger(path: string, schema: number, sql: string): void {
  const raw = new DatabaseSync(path);
  raw.exec(`PRAGMA application_id = 0x5072746c; CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL); ${sql};
    INSERT INTO meta VALUES ('lineage', 'older'), ('schema', '${schema}'), ('serial', '41'), ('epoch', '6')`);
  raw.close();
}

const next: Migration = {
  to: newestSchema(migrations) + 1,
  sql: "ALTER TABLE fact ADD COLUMN note TEXT; UPDATE fact SET note = 'from schema 1'; CREATE TABLE extra (k TEXT PRIMARY KEY)",
};

test('an older ledger is backed up, brought to the newest schema, and keeps what it knows', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const first = migrations[0]?.sql ?? '';
  olderLedger(path, 1, `${first}; INSERT INTO fact VALUES ('one', '1')`);
  const ledger = await openSqliteLedger(path, { ...real, migrations: [...migrations, next] });
  expect([ledger.lineage, ledger.epoch, await ledger.fact('one')]).toEqual(['older', 7, '1']);
  await ledger.commit(transaction([{ op: 'put-object', object: object() }, record('a')]));
  expect((await ledger.history({ limit: 1 }))[0]?.serial).toBe(42);
  await ledger.close();

  const migrated = new DatabaseSync(path, { readOnly: true });
  expect({ ...migrated.prepare('SELECT * FROM fact').get() }).toEqual({
    key: 'one',
    value: '1',
    note: 'from schema 1',
  });
  expect({ ...migrated.prepare("SELECT v FROM meta WHERE k = 'schema'").get() }).toEqual({ v: String(next.to) });
  migrated.close();

  const backup = join(directory.path, 'ledger.db.backup-1-41.db');
  expect((statSync(backup).mode & 0o777).toString(8)).toBe('600');
  const before = await openSqliteLedger(backup, { ...real, readOnly: true });
  expect([before.lineage, before.epoch, await before.fact('one')]).toEqual(['older', 6, '1']);
  await before.close();

  // Once migrated there is nothing to keep a backup of.
  await (await openSqliteLedger(path, { ...real, migrations: [...migrations, next] })).close();
  expect(readdirSync(directory.path).filter((name) => name.includes('backup'))).toEqual(['ledger.db.backup-1-41.db']);
});

test('a ledger made by migrating from nothing equals a new one', async () => {
  using directory = temporaryDirectory();
  const old = join(directory.path, 'old.db');
  olderLedger(old, 0, '');
  const [migrated, fresh] = [
    await openSqliteLedger(old, real),
    await openSqliteLedger(join(directory.path, 'new.db'), real),
  ];
  for (const ledger of [migrated, fresh]) await ledger.commit(transaction([{ op: 'put-object', object: object() }]));
  expect(await viewOf(migrated)).toEqual(await viewOf(fresh));
  const tables = (path: string) => {
    const raw = new DatabaseSync(path, { readOnly: true });
    const rows = raw.prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE '%meta%' ORDER BY name").all();
    raw.close();
    return rows.map((row) => ({ ...row }));
  };
  expect(tables(old)).toEqual(tables(join(directory.path, 'new.db')));
  await migrated.close();
  await fresh.close();
});

test('a step that fails leaves the older schema whole, and the next opening tries again', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  olderLedger(path, 1, `${migrations[0]?.sql}; INSERT INTO fact VALUES ('one', '1')`);
  const broken: Migration = {
    to: newestSchema(migrations) + 1,
    sql: 'CREATE TABLE half (k TEXT); CREATE TABLE half (k TEXT)',
  };
  await expect(openSqliteLedger(path, { ...real, migrations: [...migrations, broken] })).rejects.toThrow(
    'already exists',
  );
  const raw = new DatabaseSync(path, { readOnly: true });
  expect(raw.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'half'").get()).toBeUndefined();
  raw.close();
  const ledger = await openSqliteLedger(path, { ...real, migrations: [...migrations, next] });
  expect(await ledger.fact('one')).toBe('1');
  await ledger.close();
});

test('a newer ledger is refused, for reading and for writing, and not touched', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await (await openSqliteLedger(path, { ...real, migrations: [...migrations, next] })).close();
  for (const readOnly of [false, true]) {
    expect(await codeOf(openSqliteLedger(path, { ...real, readOnly }))).toBe('ledger/newer');
  }
  const again = await openSqliteLedger(path, { ...real, migrations: [...migrations, next] });
  expect(again.epoch).toBe(2);
  await again.close();
});

test('reading does not migrate an older ledger', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  olderLedger(path, 0, '');
  expect(await codeOf(openSqliteLedger(path, { ...real, readOnly: true }))).toBe('ledger/older');
  expect(readdirSync(directory.path)).toEqual(['ledger.db']);
});
