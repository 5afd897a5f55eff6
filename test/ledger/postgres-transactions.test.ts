import { sql } from 'kysely';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openPostgresLedger, withDatabase } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { verifyPostgresLedger } from '../../src/ledger/postgres/verify.ts';
import { sharedUrl, trusting } from '../support/postgres-shared.ts';
import { real, record, transaction } from './fixtures.ts';

/** What a transaction sends to PostgreSQL, and when. */

/** Records the messages of all connections of this process from now on. @param refused how many of them fail and are not sent. */
function messages(refused = 0): string[] {
  const sent: string[] = [];
  const query = pg.Client.prototype.query;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...args: readonly unknown[]
  ) {
    sent.push(String(args[0]));
    if (sent.length <= refused) return Promise.reject(new Error('canceled')) as never;
    return Reflect.apply(query, this, args) as never;
  });
  onTestFinished(() => spy.mockRestore());
  return sent;
}

test('a commit begins in the message of its first statement', async () => {
  const ledger = await openPostgresLedger(trusting(await sharedUrl()), real);
  onTestFinished(() => ledger.close());
  const sent = messages();
  await ledger.commit(transaction([record('first')]));
  expect(sent[0]).toMatch(
    /^begin isolation level read committed; .*; update "\w+"\."meta" set "v" = [^;]*; set local lock_timeout = \d+; update "\w+"\."lease" set [^;]* returning "serial"$/,
  );
  // Each of two rows is waited for twice at most, and the server gives up before this process does.
  const limitsMs = [...(sent[0] ?? '').matchAll(/lock_timeout = (\d+)/g)].map(([, ms]) => 2 * Number(ms));
  expect([limitsMs.length, limitsMs.reduce((sum, ms) => sum + ms, 0)]).toEqual([2, 14_000]);
  expect(sent.slice(1).filter((text) => text.includes('begin'))).toEqual([]);
  expect(sent.at(-1)).toBe('commit');
  expect((await ledger.history({ limit: 10 })).map(({ event }) => event)).toContain('first');
});

test('a commit to a scope whose last line is of the same process reads nothing', async () => {
  const ledger = await openPostgresLedger(trusting(await sharedUrl()), real);
  onTestFinished(() => ledger.close());
  await ledger.commit(transaction([record('first')]));
  const sent = messages();
  await ledger.commit(transaction([record('second')]));
  expect(sent.map((text) => text.replace(/^begin .*; update/, 'update').replace(/^(\w+(?: into)?).*$/, '$1'))).toEqual([
    'update',
    'update',
    'insert into',
    'commit',
  ]);
  expect(await ledger.history({ limit: 10 })).toMatchObject([{ event: 'second' }, { event: 'first' }]);
});

test('a chain that another process went on with is read again', async () => {
  const access = trusting(await sharedUrl());
  const scope = 'source:fleet';
  const [one, two] = await Promise.all(
    (['one', 'two'] as const).map(async (replica) => {
      const shared = await openSharedLedger(access, { ...real, replica });
      onTestFinished(() => shared.close());
      return shared.lead(`platform:${replica}`);
    }),
  );
  await one?.ledger.commit(transaction([record('first')], scope));
  await two?.ledger.commit(transaction([record('second')], scope));
  await one?.ledger.commit(transaction([record('third')], scope));
  await two?.ledger.commit(transaction([record('fourth')], scope));
  const rows = (await one?.ledger.history({ scope, limit: 10 })) ?? [];
  expect(rows.map(({ event }) => event)).toEqual(['fourth', 'third', 'second', 'first']);
  expect((await verifyPostgresLedger(access)).findings).toEqual([]);
});

test('a transaction that asks nothing sends nothing', async () => {
  await withDatabase(trusting(await sharedUrl()), async (db) => {
    await sql`select 1`.execute(db);
    const sent = messages();
    expect(await db.transaction().execute(async () => 'done')).toBe('done');
    const failed = new Error('before the first statement');
    await expect(
      db.transaction().execute(async () => {
        throw failed;
      }),
    ).rejects.toBe(failed);
    expect(sent).toEqual([]);
  });
});

test.for([
  { name: 'without values', first: sql`select 1 / 0` },
  { name: 'with values', first: sql`select 1 / ${0}::int` },
])('a first statement $name that fails ends its transaction only', async ({ first }) => {
  await withDatabase(trusting(await sharedUrl()), async (db) => {
    const open = sql<{ open: boolean }>`select now() <> statement_timestamp() as open`;
    await expect(db.transaction().execute(async (own) => first.execute(own))).rejects.toThrow('division by zero');
    // The one connection is not in a transaction any more.
    await sql`select pg_sleep(0.01)`.execute(db);
    expect((await open.execute(db)).rows).toEqual([{ open: 'f' }]);
    const inside = await db.transaction().execute(async (own) => {
      await sql`select pg_sleep(${0.01})`.execute(own);
      return open.execute(own);
    });
    expect(inside.rows).toEqual([{ open: 't' }]);
  });
});

test.for([
  { name: 'without values', first: sql`select 1` },
  { name: 'with values', first: sql`select ${1}::int` },
])('after a begin that failed, with a statement $name, nothing runs outside a transaction', async ({ first }) => {
  await withDatabase(trusting(await sharedUrl()), async (db) => {
    await sql`select 1`.execute(db);
    const sent = messages(1);
    await db.transaction().execute(async (own) => {
      await expect(first.execute(own)).rejects.toThrow('canceled');
      await sql`select 2`.execute(own);
    });
    expect(sent.map((text) => text.replace(/^begin .*?(; select 2)?$/, 'begin$1'))).toEqual([
      'begin',
      'begin; select 2',
      'commit',
    ]);
  });
});
