import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { networkFilesystemOf } from '../../src/ledger/files.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { PortolanError } from '../../src/model/errors.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { codeOf, intent, object, real, record, temporaryDirectory, transaction, viewOf, errorOf } from './fixtures.ts';

test('a new ledger is readable by its owner only, in a directory made for it', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'state', 'ledger.db');
  const ledger = await openSqliteLedger(path, real);
  await ledger.commit(transaction([record('a')]));
  const modes = readdirSync(join(directory.path, 'state')).map((name) => [
    name,
    (statSync(join(directory.path, 'state', name)).mode & 0o777).toString(8),
  ]);
  expect(Object.fromEntries(modes)).toEqual({
    'ledger.db': '600',
    'ledger.db-shm': '600',
    'ledger.db-wal': '600',
    'ledger.db.lock': '600',
    'ledger.db.serial': '600',
  });
  expect((statSync(join(directory.path, 'state')).mode & 0o777).toString(8)).toBe('700');
  await ledger.close();
});

test('a ledger that was asked nothing is closed like any other: SQLite takes its log away with the last connection', async () => {
  using directory = temporaryDirectory();
  const ledger = await openSqliteLedger(join(directory.path, 'ledger.db'), real);
  expect(readdirSync(directory.path)).toContain('ledger.db-wal');
  await ledger.close();
  expect(readdirSync(directory.path).sort()).toEqual(['ledger.db', 'ledger.db.lock', 'ledger.db.serial']);
});

test('a second opening for writing is refused at once, in the same process and under another name too', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const clock: Clock = { ...real.clock, now: () => Date.UTC(2026, 10, 20, 3) };
  const first = await openSqliteLedger(path, { ...real, clock, actor: 'portolan run on host-1, pid 7' });
  symlinkSync(path, join(directory.path, 'alias.db'));
  for (const name of ['ledger.db', 'alias.db']) {
    const error = await errorOf(openSqliteLedger(join(directory.path, name), real));
    expect([error.code, error.disposition]).toEqual(['ledger/locked', 'locked']);
    expect(error.message).toContain('portolan run on host-1, pid 7, since 2026-11-20T03:00:00.000Z');
    expect(error.remedy).toContain('cannot do, stop it first;');
  }
  await first.commit(transaction([record('still ours')]));
  await first.close();
  await (await openSqliteLedger(path, real)).close();
});

test('reading goes on beside a writer, sees what it commits, and writes nothing', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const writer = await openSqliteLedger(path, real);
  const reader = await openSqliteLedger(path, { ...real, readOnly: true });
  await writer.commit(transaction([{ op: 'put-object', object: object() }, record('a')]));
  expect(await viewOf(reader)).toEqual(await viewOf(writer));
  expect([reader.lineage, reader.epoch]).toEqual([writer.lineage, 1]);
  expect(await codeOf(reader.commit(transaction([record('b')])))).toBe('ledger/read-only');
  await reader.close();
  await writer.commit(transaction([record('c')]));
  await writer.close();
  const later = await openSqliteLedger(path, { ...real, readOnly: true });
  expect([later.epoch, (await later.history({ limit: 9 })).length]).toEqual([1, 2]);
  await later.close();
});

test('reading never creates a ledger', async () => {
  using directory = temporaryDirectory();
  const error = await errorOf(openSqliteLedger(join(directory.path, 'ledger.db'), { ...real, readOnly: true }));
  expect([error.code, error.disposition]).toEqual(['ledger/missing', 'invalid']);
  expect(readdirSync(directory.path)).toEqual([]);
});

test('a ledger whose lock file somebody deleted is fenced by the process that opened it since', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const stale = await openSqliteLedger(path, real);
  await stale.commit(transaction([{ op: 'open-intent', intent: intent() }]));
  // Another process that could take the lock would do exactly this to the file.
  const raw = new DatabaseSync(path);
  raw.exec("UPDATE meta SET v = '2' WHERE k = 'epoch'");
  raw.close();
  const error = await errorOf(stale.commit(transaction([{ op: 'move-intent', id: 'intent-1', state: 'applied' }])));
  expect([error.code, error.disposition]).toEqual(['ledger/fenced', 'locked']);
  expect(await stale.intents({ states: ['open'] })).toHaveLength(1);
  await stale.close();
});

test.for<{ name: string; damage: (path: string) => void; message?: RegExp }>([
  { name: 'an empty file', damage: (path) => truncateSync(path, 0), message: /the file is empty/ },
  {
    name: 'text',
    damage: (path) => writeFileSync(path, 'not a database, but long enough to look at it as one'.repeat(20)),
  },
  { name: 'half of the file', damage: (path) => truncateSync(path, 4096 * 3) },
  {
    name: 'pages of noise',
    damage: (path) => {
      const bytes = readFileSync(path);
      bytes.fill(0xa5, 4096 * 2, 4096 * 6);
      writeFileSync(path, bytes);
    },
  },
  {
    name: 'noise in one page that opening does not read',
    damage: (path) => {
      const raw = new DatabaseSync(path, { readOnly: true });
      const { rootpage } = raw.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'history'").get() ?? {};
      raw.close();
      const bytes = readFileSync(path);
      bytes.fill(0xa5, 4096 * (Number(rootpage) - 1), 4096 * Number(rootpage));
      writeFileSync(path, bytes);
    },
  },
  {
    name: 'a value that no ledger writes',
    damage: (path) => {
      const raw = new DatabaseSync(path);
      raw.exec("PRAGMA ignore_check_constraints = ON; UPDATE object SET origin = 'stolen'");
      raw.close();
    },
    message: /CHECK constraint failed in object/,
  },
  {
    name: 'another program’s database',
    damage: (path) => {
      truncateSync(path, 0);
      const raw = new DatabaseSync(path);
      raw.exec('CREATE TABLE meta (k TEXT, v TEXT)');
      raw.close();
    },
  },
])(
  '$name in a ledger’s place is left as it is, and never replaced by an empty ledger',
  async ({ damage, message = /is damaged: .+ It was left exactly as it is/ }) => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'ledger.db');
    const ledger = await openSqliteLedger(path, real);
    await ledger.commit(transaction([{ op: 'put-object', object: object() }, record('a')]));
    await ledger.close();
    damage(path);
    const before = readFileSync(path);
    const error = await errorOf(openSqliteLedger(path, real));
    expect([error.code, error.disposition]).toEqual(['ledger/corrupt', 'give-up']);
    expect(error.message).toMatch(message);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(await codeOf(openSqliteLedger(path, real))).toBe('ledger/corrupt'); // not `locked`: the lock was given back
  },
);

test('a ledger whose file vanished beside its log is not created anew', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  writeFileSync(`${path}-wal`, 'last transactions');
  expect(await codeOf(openSqliteLedger(path, real))).toBe('ledger/corrupt');
  expect(existsSync(path)).toBe(false);
});

test('a creation that a crash cut short is begun again', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  writeFileSync(`${path}.creating`, 'half');
  const ledger = await openSqliteLedger(path, real);
  expect(ledger.epoch).toBe(1);
  expect(readdirSync(directory.path)).not.toContain('ledger.db.creating');
  await ledger.close();
});

test('a row that is no JSON any more is damage, not a crash', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const ledger = await openSqliteLedger(path, real);
  await ledger.commit(transaction([{ op: 'put-object', object: object() }]));
  const raw = new DatabaseSync(path);
  raw.exec("UPDATE object SET last_applied = '{'");
  raw.close();
  expect(await codeOf(ledger.objects({}))).toBe('ledger/corrupt');
  await ledger.close();
});

test('a commit waits while another program has the ledger locked, and says so when that lasts', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const slept: number[] = [];
  let onSleep = () => {};
  const clock: Clock = {
    ...real.clock,
    sleep: async (ms) => {
      slept.push(ms);
      onSleep();
    },
  };
  const ledger = await openSqliteLedger(path, { ...real, clock });
  const shell = new DatabaseSync(path);
  shell.exec('BEGIN IMMEDIATE');
  const error = await errorOf(ledger.commit(transaction([record('a')])));
  expect([error.code, error.disposition, slept.length]).toEqual(['ledger/busy', 'retry', 7]);
  onSleep = () => slept.length === 9 && shell.exec('ROLLBACK');
  await ledger.commit(transaction([record('b')]));
  expect(slept).toHaveLength(9);
  expect((await ledger.history({ limit: 9 })).map(({ event }) => event)).toEqual(['b']);
  shell.close();
  await ledger.close();
});

test.for([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB (cifs)'],
  [0x65735546, 'FUSE'],
  [0xef53, undefined], // ext4
  [0x01021994, undefined], // tmpfs
  [0x794c7630, undefined], // overlayfs, as in a container
] as const)('file system %s is network file system %s', ([type, name]) => {
  expect(networkFilesystemOf('/somewhere', () => type)).toBe(name);
});

test('a directory that cannot be written is an error of its own', async () => {
  using directory = temporaryDirectory();
  writeFileSync(join(directory.path, 'file'), '');
  const error = await errorOf(openSqliteLedger(join(directory.path, 'file', 'ledger.db'), real));
  expect([error.code, error.disposition]).toEqual(['ledger/io', 'retry']);
  mkdirSync(join(directory.path, 'ledger.db'));
  expect(await codeOf(openSqliteLedger(join(directory.path, 'ledger.db'), { ...real, readOnly: true }))).toBe(
    'ledger/io',
  );
});

test('a full disk refuses commits, keeps reading, and takes commits again once there is space', async () => {
  using directory = temporaryDirectory();
  const ledger = await openSqliteLedger(join(directory.path, 'ledger.db'), { ...real, pagesMax: 60 });
  const big = (n: number) => object({ naturalKey: `big-${n}`, lastApplied: { filler: 'x'.repeat(12_000) } });
  let stored = 0;
  let refusal: PortolanError | undefined;
  for (; refusal === undefined && stored < 100; stored += 1) {
    const before = await viewOf(ledger);
    try {
      await ledger.commit(transaction([{ op: 'put-object', object: big(stored) }, record('put')]));
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      refusal = error;
      expect(await viewOf(ledger)).toEqual(before);
      break;
    }
  }
  expect([refusal?.code, refusal?.disposition]).toEqual(['ledger/full', 'retry']);
  expect(stored).toBeGreaterThan(3);
  expect(await ledger.objects({})).toHaveLength(stored);
  await ledger.commit(transaction([0, 1].map((n) => ({ op: 'drop-object', uid: big(n).uid }))));
  await ledger.commit(transaction([{ op: 'put-object', object: big(stored) }, record('put')]));
  expect(await ledger.objects({})).toHaveLength(stored - 1);
  await ledger.close();
});
