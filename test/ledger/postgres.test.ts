import { awaitsConfirmation } from '../../src/ledger/confirmation.ts';
import { expect, test } from 'vitest';
import { migrations, newestSchema } from '../../src/ledger/migrations.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import {
  migratePostgresLedger,
  openPostgresLedger,
  type PostgresLedgerOptions,
} from '../../src/ledger/postgres/open.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { postgresUrl } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedPort, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { standbyOf } from './failover.ts';
import { codeOf, errorOf, intent, object, real, record, transaction, viewOf } from './fixtures.ts';

/** What is special about a ledger in PostgreSQL. What every ledger does is in `contract.test.ts`. */

/** Opens a ledger as a process would. @param options of this process. */
async function opened(schema: string, options: Partial<PostgresLedgerOptions> = {}) {
  return openPostgresLedger(trusting(await sharedUrl(schema)), { ...real, ...options });
}

/** A clock that never wakes a sleeper. @param slept gets the times that were asked for. */
function stillClock(slept: number[] = []): Clock {
  const sleep = (ms: number, signal?: AbortSignal): Promise<never> => {
    slept.push(ms);
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  };
  return { ...real.clock, sleep };
}

/** Ends the lease of a process that gives no sign, as time would. */
async function expire(schema: string): Promise<void> {
  await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = 1`);
}

test('a second process is refused while the first one renews its lease, and has it at once when that ends', async () => {
  const schema = freshSchema();
  const first = await opened(schema, { leaseMs: 3_000, actor: 'portolan run by ann on host-1' });
  const error = await errorOf(opened(schema));
  expect([error.code, error.disposition]).toEqual(['ledger/locked', 'locked']);
  expect(error.message).toContain('portolan run by ann on host-1');
  await first.commit(transaction([record('unharmed')]));
  await first.close();
  const slept: number[] = [];
  const second = await opened(schema, { clock: stillClock(slept), leaseMs: 3_000 });
  expect([second.epoch, slept]).toEqual([2, [1_000]]); // It slept once: until the first renewal.
  await second.close();
});

test('the lease of a process that gives no sign is taken over when it expires, and the former holder is fenced', async () => {
  const schema = freshSchema();
  // It never renews.
  const clock = stillClock();
  const stale = await opened(schema, { clock, leaseMs: 700 });
  await stale.commit(transaction([{ op: 'open-intent', intent: intent() }]));
  const next = await opened(schema);
  expect(next.epoch).toBe(2);
  expect(await next.intents({ states: ['open'] })).toHaveLength(1);
  const before = await viewOf(next);
  const error = await errorOf(stale.commit(transaction([{ op: 'move-intent', id: 'intent-1', state: 'applied' }])));
  expect([error.code, error.disposition]).toEqual(['ledger/fenced', 'locked']);
  expect(await viewOf(next)).toEqual(before);
  await next.commit(transaction([record('ours')]));
  await stale.close();
  await next.commit(transaction([record('still ours: a fenced process releases nothing')]));
  await next.close();
});

test('a lease that expired is still good while nobody has taken it', async () => {
  const schema = freshSchema();
  const ledger = await opened(schema);
  await expire(schema);
  await ledger.commit(transaction([record('after the pause')]));
  const [lease] = await querySharedServer(`SELECT expires_ms > 1 AS renewed FROM ${schema}.lease`);
  expect(lease).toEqual({ renewed: true });
  await ledger.close();
});

test('a takeover waits for a transaction that has proved its lease', async () => {
  const schema = freshSchema();
  const first = await opened(schema);
  await first.commit(transaction([record('a')]));
  await expire(schema);
  const slow = querySharedServer(
    `BEGIN; UPDATE ${schema}.lease SET serial = serial; SELECT pg_sleep(1); UPDATE ${schema}.meta SET v = '77' WHERE k = 'serial'; COMMIT`,
  );
  const sleeping = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%${schema}.%'`;
  while ((await querySharedServer(sleeping)).length === 0);
  const next = await opened(schema);
  await next.commit(transaction([record('b')]));
  await slow;
  expect((await next.history({ limit: 1 }))[0]?.serial).toBe(78);
  await next.close();
  await first.close();
});

test('processes that start at once make one ledger, and one of them has it', async () => {
  const schema = freshSchema();
  const attempts = await Promise.allSettled(Array.from({ length: 6 }, () => opened(schema, { leaseMs: 6_000 })));
  const winners = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
  const codes = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason.code] : []));
  expect([winners.length, codes]).toEqual([1, Array.from({ length: 5 }, () => 'ledger/locked')]);
  expect(await querySharedServer(`SELECT v FROM ${schema}.meta WHERE k IN ('lineage', 'schema') ORDER BY k`)).toEqual([
    { v: winners[0]?.lineage },
    { v: String(newestSchema(migrations)) },
  ]);
  await winners[0]?.close();
});

test('reading needs no lease, works beside a writer, writes nothing and creates nothing', async () => {
  const schema = freshSchema();
  expect(await codeOf(opened(schema, { readOnly: true }))).toBe('ledger/missing');
  expect(await querySharedServer(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`)).toEqual([]);
  const writer = await opened(schema);
  const reader = await opened(schema, { readOnly: true });
  await writer.commit(transaction([{ op: 'put-object', object: object() }, record('a')]));
  expect(await viewOf(reader)).toEqual(await viewOf(writer));
  expect([reader.lineage, reader.epoch]).toEqual([writer.lineage, 1]);
  expect(await codeOf(reader.commit(transaction([record('b')])))).toBe('ledger/read-only');
  await reader.close();
  await writer.close();
});

test('a ledger of a newer schema is refused before its lease is taken', async () => {
  const schema = freshSchema();
  const holder = await opened(schema);
  await querySharedServer(`UPDATE ${schema}.meta SET v = '99' WHERE k = 'schema'`);
  for (const readOnly of [false, true]) expect(await codeOf(opened(schema, { readOnly }))).toBe('ledger/newer');
  await holder.commit(transaction([record('unharmed')]));
  await holder.close();
});

test('an older schema is migrated by the process that has the lease, as a whole or not at all', async () => {
  const schema = freshSchema();
  const first = await opened(schema);
  await first.commit(transaction([{ op: 'put-object', object: object() }, record('a')]));
  const before = await viewOf(first);
  await first.close();
  const newest = newestSchema(migrations);
  const next = { to: newest + 1, sql: 'CREATE TABLE extra (n INTEGER NOT NULL, t TEXT) STRICT;' };
  const steps = [...migrations, next];
  const broken = [...steps, { to: newest + 2, sql: 'CREATE TABLE extra (n INTEGER) STRICT;' }];
  expect(await errorOf(opened(schema, { migrations: broken })).catch((error: unknown) => String(error))).toMatch(
    /extra/,
  );
  expect(await querySharedServer(`SELECT v FROM ${schema}.meta WHERE k = 'schema'`)).toEqual([{ v: String(newest) }]);
  expect(await codeOf(opened(schema, { migrations: steps, readOnly: true }))).toBe('ledger/older');
  const migrated = await opened(schema, { migrations: steps });
  expect(await viewOf(migrated)).toEqual(before);
  await querySharedServer(`INSERT INTO ${schema}.extra VALUES (9007199254740991, 'x')`);
  await migrated.close();
});

test('every step of the schema has a counterpart in PostgreSQL', () => {
  expect(migrations.filter(({ run, postgres }) => run !== undefined && postgres === undefined)).toEqual([]);
});

test('a database that cannot store every text is refused', async () => {
  await querySharedServer("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
  const url = postgresUrl(await sharedPort(), freshSchema()).replace('/portolan?', '/latin?');
  const error = await errorOf(openPostgresLedger(trusting(url), real));
  expect([error.code, error.disposition]).toEqual(['ledger/refused', 'invalid']);
  expect([error.message, error.remedy]).toEqual([
    `The ledger ${url} cannot be used: the database has the encoding LATIN1, which cannot store every text. Nothing was recorded.`,
    'Create a database with the encoding UTF8 (createdb --encoding UTF8 --template template0), and name it in the URL of --ledger.',
  ]);
});

test('a schema with tables of another application is refused, and nothing is created', async () => {
  const remedy =
    'Name a schema of its own with ?schema=NAME. If this one contained a ledger, restore its database instead: an empty ledger owns ' +
    'nothing, and may install twice.';
  for (const [table, message] of [
    ['meta', 'contains a table meta that is not one of a ledger'],
    ['session', 'contains tables, but no ledger (relation "session" already exists)'],
  ] as const) {
    const schema = freshSchema();
    await querySharedServer(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.${table} (k INT, name TEXT)`);
    const access = trusting(await sharedUrl(schema));
    for (const open of [
      () => openSharedLedger(access, { ...real, replica: 'one' }),
      () => openPostgresLedger(access, real),
      () => migratePostgresLedger(access, real),
    ]) {
      const error = await errorOf(open());
      expect([error.code, error.disposition]).toEqual(['ledger/refused', 'invalid']);
      expect([error.message, error.remedy]).toEqual([
        `The ledger ${access.address.location} cannot be used: the schema ${schema} ${message}. Nothing was recorded.`,
        remedy,
      ]);
    }
    expect(await querySharedServer(`SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`)).toEqual([
      { tablename: table },
    ]);
  }
});

test('a database that accepts no writes is refused as a standby until it does', async () => {
  const schema = freshSchema();
  await (await opened(schema)).close();
  await querySharedServer(
    'DROP ROLE IF EXISTS reading; CREATE ROLE reading LOGIN SUPERUSER; ALTER ROLE reading SET default_transaction_read_only = on',
  );
  const access = trusting(postgresUrl(await sharedPort(), schema, 'reading'));
  for (const open of [
    () => openSharedLedger(access, { ...real, replica: 'one' }),
    () => openPostgresLedger(access, real),
    () => migratePostgresLedger(access, real),
  ]) {
    const error = await errorOf(open());
    expect([error.code, error.disposition]).toEqual(['ledger/refused', 'retry']);
    expect([error.message, error.remedy]).toEqual([
      expect.stringContaining('the database is read-only, as a standby is'),
      expect.stringMatching(/primary server.*default_transaction_read_only/),
    ]);
  }
  await (await openPostgresLedger(access, { ...real, readOnly: true })).close();
  await querySharedServer('ALTER ROLE reading RESET default_transaction_read_only');
  const shared = await openSharedLedger(access, { ...real, replica: 'one' });
  expect(await shared.lead('platform:east')).toBeDefined();
  await shared.close();
});

test('a database that went back in time is noticed by the process that holds the ledger', async () => {
  const schema = freshSchema();
  const ledger = await opened(schema);
  await ledger.commit(transaction([record('a')]));
  const failover = await standbyOf(schema);
  await ledger.commit(transaction([record('b')]));
  await failover();
  const error = await errorOf(ledger.commit(transaction([record('d')])));
  expect([error.code, error.disposition]).toEqual(['ledger/replaced', 'ask-human']);
  expect(error.remedy).toMatch(/Installs of all applications wait, also after a restart.*confirm/);
  await ledger.close();
  const next = await opened(schema);
  expect(await awaitsConfirmation(next, 'default/team-a/region-1/42')).toBe(true);
  await next.close();
});

test('text sorts by its bytes, and large integers keep their value', async () => {
  const schema = freshSchema();
  const ledger = await opened(schema);
  const keys = ['b', 'B', 'a', 'ä', '_', '~', 'Z'];
  const atMs = Number.MAX_SAFE_INTEGER;
  await ledger.commit({
    ...transaction(keys.map((naturalKey) => ({ op: 'put-object', object: object({ naturalKey }) }))),
    atMs,
  });
  await ledger.commit({ ...transaction([record('late')]), atMs });
  expect((await ledger.objects({})).map(({ naturalKey }) => naturalKey)).toEqual(['B', 'Z', '_', 'a', 'b', '~', 'ä']);
  expect((await ledger.history({ limit: 1 }))[0]?.atMs).toBe(atMs);
  await ledger.close();
});

test('a text that PostgreSQL cannot store is refused with a remedy, and nothing is recorded', async () => {
  const ledger = await opened(freshSchema());
  const error = await errorOf(ledger.commit(transaction([record('a'), { op: 'set-fact', key: 'x', value: 'a\0b' }])));
  expect([error.code, error.disposition]).toEqual(['ledger/refused', 'retry']);
  expect(await ledger.history({ limit: 9 })).toEqual([]);
  await ledger.close();
});

test('compaction keeps the chain, as in a file', async () => {
  const ledger = await opened(freshSchema());
  for (let n = 0; n < 5; n += 1)
    await ledger.commit(transaction([{ op: 'put-object', object: object({ failures: n }) }, record(`old-${n}`)]));
  const removed = await ledger.compact({ nowMs: 2_000, actor: 'test', keepMs: 1, keepPerObject: 0 });
  expect(removed).toEqual({ history: 5, intents: 0, snapshots: 0 });
  expect((await ledger.history({ limit: 9 })).map(({ event }) => event)).toEqual(['ledger.compacted']);
  await ledger.close();
});
