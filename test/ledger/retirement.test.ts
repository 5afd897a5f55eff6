import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { backUpLedger, restoreLedger } from '../../src/ledger/backup.ts';
import { awaitsConfirmation } from '../../src/ledger/confirmation.ts';
import { copyContents, copyLedger, type LedgerPlace } from '../../src/ledger/copy.ts';
import { backupPlace, filePlace } from '../../src/ledger/file-place.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { withPostgresContents } from '../../src/ledger/postgres/contents.ts';
import { inDatabase as withFile } from '../../src/ledger/open-database.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { postgresPlace } from '../../src/ledger/postgres/place.ts';
import { restorePostgresLedger } from '../../src/ledger/postgres/restore.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { postgresUrl } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedPort, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { codeOf, errorOf, object, real, record, shop, temporaryDirectory, transaction } from './fixtures.ts';

/** A ledger that was copied does not know what is done with the copy: two processes could install the same twice. */

interface Side {
  readonly place: LedgerPlace;
  open(readOnly?: boolean): Promise<Ledger>;
  backUp(file: string): Promise<unknown>;
  restore(backup: string): Promise<unknown>;
}

function inFile(path: string): Side {
  return {
    place: filePlace(path, real.random),
    open: (readOnly = false) => openSqliteLedger(path, { ...real, readOnly }),
    backUp: async (file) => backUpLedger(path, file),
    restore: (backup) => restoreLedger(path, backup, real),
  };
}

async function inDatabase(schema = freshSchema()): Promise<Side> {
  const access = trusting(await sharedUrl(schema));
  const place = postgresPlace(access, real.clock);
  return {
    place,
    open: (readOnly = false) => openPostgresLedger(access, { ...real, readOnly }),
    backUp: (file) =>
      withPostgresContents(access, (contents) => copyContents(contents, backupPlace(file, real.random), 'damaged')),
    restore: (backup) => restorePostgresLedger({ access, backup, kept: `${backup}.kept`, options: real }),
  };
}

async function fill({ open }: Side): Promise<void> {
  const ledger = await open();
  await ledger.commit(transaction([{ op: 'put-object', object: object() }, record('first')]));
  await ledger.close();
}

const copied = (from: Side, to: Side) => copyLedger(from.place, to.place, real.clock);

test.for(['a file', 'a database'] as const)('%s that was copied is only read from then on', async (kind) => {
  using directory = temporaryDirectory();
  const [file, database] = [inFile(join(directory.path, 'ledger.db')), await inDatabase()];
  const [from, to] = kind === 'a file' ? [file, database] : [database, file];
  await fill(from);
  const before = Date.now();
  await copied(from, to);
  const error = await errorOf(from.open());
  expect([error.code, error.disposition]).toEqual(['ledger/retired', 'invalid']);
  const [, copy, at] = /was copied to (\S+) at (\S+), and/.exec(error.message) ?? [];
  expect(copy).toBe(to.place.location);
  expect(Date.parse(at ?? '')).toBeGreaterThanOrEqual(before);
  const role = kind === 'a file' ? ', with the role of the controllers in its URL' : '';
  expect(error.remedy).toContain(`Use ${to.place.location}${role}.`);
  const reading = await from.open(true);
  expect(await reading.objects({ scope: shop })).toHaveLength(1);
  await reading.close();
  const other = inFile(join(directory.path, 'other.db'));
  expect(await codeOf(copied(from, other)), 'nor is it copied again').toBe('ledger/retired');
  expect(await codeOf(other.open(true))).toBe('ledger/missing');
  const writing = await to.open();
  await writing.commit(transaction([record('continued')]));
  await writing.close();
});

test('a database that was copied to a file names its absolute path and its machine', async () => {
  using directory = temporaryDirectory();
  const [path, database] = [join(directory.path, 'back.db'), await inDatabase()];
  await fill(database);
  await copyLedger(database.place, filePlace(relative(process.cwd(), path), real.random), real.clock, 'host-1');
  const { message, remedy } = await errorOf(database.open());
  expect(message).toContain(`was copied to ${path} on host-1 at 20`);
  expect(remedy).toContain(`Use ${path} on host-1. To use this one again`);
});

test.for(['a file', 'a database'] as const)(
  'a backup of %s that was copied can be restored, and waits',
  async (kind) => {
    using directory = temporaryDirectory();
    const [file, database] = [inFile(join(directory.path, 'ledger.db')), await inDatabase()];
    const [from, to] = kind === 'a file' ? [file, database] : [database, file];
    await fill(from);
    await copied(from, to);
    const backup = join(directory.path, 'backup.db');
    await from.backUp(backup);
    await from.restore(backup);
    const ledger = await from.open();
    expect(await awaitsConfirmation(ledger, shop)).toBe(true);
    await ledger.commit(transaction([record('continued')]));
    await ledger.close();
  },
);

test('a copy of a backup retires the backup, and neither the ledger nor its process', async () => {
  using directory = temporaryDirectory();
  const [file, database] = [inFile(join(directory.path, 'ledger.db')), await inDatabase()];
  await fill(file);
  const ledger = await file.open();
  const backup = join(directory.path, 'backup.db');
  await file.backUp(backup);
  await copied(inFile(backup), database);
  expect(await codeOf(inFile(backup).open())).toBe('ledger/retired');
  await ledger.commit(transaction([record('continued')]));
  await ledger.close();
  await (await file.open()).close();
});

test('a copy that fails retires nothing', async () => {
  using directory = temporaryDirectory();
  const [file, database] = [inFile(join(directory.path, 'ledger.db')), await inDatabase()];
  for (const side of [file, database]) await fill(side);
  expect(await codeOf(copied(file, database))).toBe('ledger/not-empty');
  expect(await codeOf(copied(database, file))).toBe('ledger/not-empty');
  for (const side of [file, database]) await (await side.open()).close();
});

test('a ledger that cannot be retired is said to be so, with the copy', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const [file, database] = [inFile(path), await inDatabase()];
  await fill(file);
  const jamming: LedgerPlace = {
    ...database.place,
    filling: async (standing, fillIt) => {
      const result = await database.place.filling(standing, fillIt);
      withFile(path, { readOnly: false }, (opened) =>
        opened.exec("CREATE TRIGGER no BEFORE INSERT ON meta BEGIN SELECT RAISE(ABORT, 'no room'); END"),
      );
      return result;
    },
  };
  const error = await errorOf(copyLedger(file.place, jamming, real.clock));
  expect([error.code, error.message]).toEqual(['ledger/not-retired', expect.stringMatching(/no room.*wrote both/)]);
  expect(error.remedy).toContain(`use only ${path}`);
});

test.for([
  ['was carried out', 'answers', false, undefined, 'ledger/retired'],
  ['was not carried out', 'requests', false, 'ledger/not-retired', undefined],
  ['cannot be looked up', 'answers', true, 'ledger/unanswered', 'ledger/retired'],
] as const)('a retirement whose commit is not answered, and %s', async ([, direction, isGone, code, opened]) => {
  using directory = temporaryDirectory();
  const schema = freshSchema();
  const [file, database] = [inFile(join(directory.path, 'ledger.db')), await inDatabase(schema)];
  await fill(database);
  const proxy = await CuttingProxy.before(await sharedPort());
  onTestFinished(() => proxy.close());
  const clock: Clock = { ...real.clock, sleep: async () => {} };
  const place: LedgerPlace = {
    ...file.place,
    filling: async (standing, fillIt) => {
      const result = await file.place.filling(standing, fillIt);
      proxy.cutAfter(direction, 1, isGone ? () => proxy.refuse() : undefined);
      return result;
    },
  };
  const from = postgresPlace(trusting(postgresUrl(proxy.port, schema)), clock);
  expect(await codeOf(copyLedger(from, place, clock))).toBe(code);
  expect(proxy.cuts).toBeGreaterThan(0);
  expect(await codeOf(database.open().then((ledger) => ledger.close()))).toBe(opened);
  const copy = await file.open(true);
  expect(await copy.objects({ scope: shop })).toHaveLength(1);
  await copy.close();
});

/** As that of a process that is suspended: it never renews its lease. */
const frozenClock: Clock = {
  ...real.clock,
  sleep: (_ms, signal) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })),
};

test('a process that slept through the copy cannot write when it wakes up, nor can one that asked meanwhile', async () => {
  using directory = temporaryDirectory();
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  const [database, file] = [await inDatabase(schema), inFile(join(directory.path, 'ledger.db'))];
  const options = { ...real, leaseMs: 2_000 };
  const asleep = await openSharedLedger(access, { ...options, clock: frozenClock, replica: 'asleep' });
  const east = await asleep.lead('platform:east');
  await east?.ledger.commit(transaction([record('first')], 'platform:east'));
  const other = await openSharedLedger(access, { ...options, replica: 'other' });
  let asked: Promise<string | undefined> | undefined;
  const place: LedgerPlace = {
    ...file.place,
    filling: async (standing, fillIt) => {
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"${schema}"."meta"%'`;
      asked = codeOf(other.lead('platform:west'));
      await expect.poll(() => querySharedServer(waiting)).not.toEqual([]);
      return file.place.filling(standing, fillIt);
    },
  };
  await copyLedger(database.place, place, real.clock);
  expect(await asked).toBe('ledger/retired');
  expect(await codeOf(other.lead('platform:east'))).toBe('ledger/retired');
  expect(await codeOf(east?.ledger.commit(transaction([record('late')], 'platform:east')) ?? Promise.resolve())).toBe(
    'ledger/fenced',
  );
  expect(await codeOf(openSharedLedger(access, { ...options, replica: 'late' }))).toBe('ledger/retired');
  await other.close();
  await asleep.close();
});
