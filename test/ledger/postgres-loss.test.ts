import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { awaitsConfirmation } from '../../src/ledger/confirmation.ts';
import { databaseOf, openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { recordLoss } from '../../src/ledger/postgres/records-lost.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import type { Lead, SharedLedger } from '../../src/ledger/shared.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { postgresUrl } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedPort, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { standbyOf } from './failover.ts';
import { codeOf, errorOf, real, record, shop, transaction } from './fixtures.ts';

/** The database has lost records, or only seems to: what other processes do then, and after a restart. */

const LEASE_MS = 1_000;

async function shared(schema: string, options: { readonly leaseMs?: number } = {}): Promise<SharedLedger> {
  const ledger = await openSharedLedger(trusting(await sharedUrl(schema)), { ...real, ...options, replica: 'one' });
  onTestFinished(() => ledger.close());
  return ledger;
}

async function lead(ledger: SharedLedger): Promise<Lead> {
  const led = await ledger.lead('platform:default');
  if (led === undefined) throw new Error('another process leads the platform');
  return led;
}

const OTHER = 'other/team-a/region-1/42';

const step = (n: number) => transaction([record(`step ${n}`)], shop);

/** Leads a platform whose second record a failover loses. */
async function withLoss(schema: string, ledger: SharedLedger): Promise<Lead> {
  const led = await lead(ledger);
  await led.ledger.commit(step(1));
  const failover = await standbyOf(schema);
  await led.ledger.commit(step(2));
  await failover();
  return led;
}

const losses = async ({ reader }: SharedLedger) =>
  (await reader.history({ limit: 100 })).filter(({ event }) => event === 'ledger.restored').map(({ detail }) => detail);

async function untilLed(ledger: SharedLedger): Promise<void> {
  await expect.poll(() => ledger.lead('platform:default')).toBeDefined();
}

/** A session that locks what others wait for. */
async function sharedSession(schema: string): Promise<pg.Client> {
  const client = new pg.Client(postgresUrl(await sharedPort(), schema).replace(/\?.*$/, ''));
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Waits until so many sessions wait for a lock. */
async function waiting(sessions: number): Promise<void> {
  await expect
    .poll(async () => {
      const [row] = await querySharedServer(
        "SELECT count(*) AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'portolan'",
      );
      return Number(row?.['waiting']);
    })
    .toBeGreaterThanOrEqual(sessions);
}

test('once a loss was noticed, installs wait whoever continues, until each application is confirmed', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema), await shared(schema)];
  const led = await withLoss(schema, one);
  expect(await awaitsConfirmation(two.reader, shop)).toBe(false);
  const error = await errorOf(led.ledger.commit(step(3)));
  expect([error.code, error.disposition]).toEqual(['ledger/replaced', 'ask-human']);
  expect(error.remedy).toMatch(/Installs of all applications wait.*`portolan ledger confirm SCOPE --ledger URL`/);
  expect(await awaitsConfirmation(two.reader, shop)).toBe(true);
  expect(await losses(two)).toEqual([
    {
      lost: expect.stringMatching(/^the last record of platform:default has the serial \d+, and \d+ was recorded$/),
      epoch: 2,
    },
  ]);
  expect(led.over.aborted, 'the lease is kept').toBe(false);
  // Each further attempt is refused, and records nothing more.
  expect(await codeOf(led.ledger.commit(step(4)))).toBe('ledger/replaced');
  expect(await losses(two)).toHaveLength(1);
});

test('a loss that cannot be recorded at first has another remedy, and is recorded when the process ends', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema), await shared(schema)];
  const led = await withLoss(schema, one);
  await querySharedServer(
    `CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END';
     CREATE TRIGGER refuse BEFORE INSERT ON ${schema}.history EXECUTE FUNCTION ${schema}.refuse()`,
  );
  const error = await errorOf(led.ledger.commit(step(3)));
  expect(error.remedy).toMatch(
    /`portolan ledger backup FILE --ledger URL`.*`portolan ledger restore FILE --ledger URL`.*confirm/,
  );
  expect(await awaitsConfirmation(two.reader, shop)).toBe(false);
  await querySharedServer(`DROP TRIGGER refuse ON ${schema}.history`);
  await led.ledger.close();
  expect(await awaitsConfirmation(two.reader, shop)).toBe(true);
});

test('a process that ends before it noticed a loss notices it then, and does not give its lease away', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema, { leaseMs: LEASE_MS }), await shared(schema)];
  await withLoss(schema, one);
  await one.close();
  expect(await two.lead('platform:default')).toBeUndefined();
  await untilLed(two);
  expect(await awaitsConfirmation(two.reader, shop)).toBe(true);
});

test.for(['a commit', 'a renewal'] as const)('%s notices that the takeover itself was lost', async (who) => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema, { leaseMs: LEASE_MS }), await shared(schema)];
  const former = await lead(two);
  await former.ledger.commit(step(1));
  await former.ledger.close();
  const failover = await standbyOf(schema);
  const led = await lead(one);
  await failover();
  if (who === 'a commit') expect(await codeOf(led.ledger.commit(step(2)))).toBe('ledger/replaced');
  await expect.poll(() => led.over.aborted).toBe(true);
  expect(led.over.reason).toMatchObject({ code: 'ledger/replaced' });
  expect(await awaitsConfirmation(two.reader, shop)).toBe(true);
  await real.clock.sleep(2 * LEASE_MS);
  expect(await two.lead('platform:default'), 'the process has taken the lease again, to keep it').toBeUndefined();
});

test('a lease that was lost, and that another process took at the same epoch, was not taken over', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema), await shared(schema)];
  const failover = await standbyOf(schema);
  const led = await lead(one);
  await failover();
  const next = await lead(two);
  expect(next.ledger.epoch).toBe(led.ledger.epoch);
  expect(await codeOf(led.ledger.commit(step(2)))).toBe('ledger/replaced');
  expect(await awaitsConfirmation(next.ledger, shop)).toBe(true);
  await next.ledger.commit(step(3));
});

test('a process that only reads notices the loss of what another one recorded before it died', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema), await shared(schema)];
  const led = await lead(one);
  await led.ledger.commit(step(1));
  const failover = await standbyOf(schema);
  await led.ledger.commit(step(2));
  const { serial } = await two.factsSince(0, ['status ']);
  expect((await two.factsSince(serial, ['status '])).serial).toBe(serial);
  expect(await awaitsConfirmation(two.reader, shop)).toBe(false);
  await failover();
  const found = await two.factsSince(serial, ['status ']);
  expect(await awaitsConfirmation(two.reader, shop)).toBe(true);
  expect(await losses(two)).toEqual([{ lost: expect.stringContaining(`had the serial ${serial}`), epoch: 2 }]);
  await two.factsSince(found.serial, ['status ']);
  expect(await losses(two)).toHaveLength(1);
});

test.for(['the leaders', 'the facts'] as const)(
  'a survivor that commits before it reads %s notices what a leader recorded that died with the primary',
  async (what) => {
    const schema = freshSchema();
    const [one, two] = [await shared(schema), await shared(schema)];
    const [led, other] = [await lead(one), await two.lead('platform:other')];
    const elsewhere = (n: number) => other?.ledger.commit(transaction([record(`other ${n}`)], OTHER));
    await led.ledger.commit(step(1));
    await elsewhere(1);
    const failover = await standbyOf(schema);
    await led.ledger.commit(step(2));
    const { serial } = await two.factsSince(0, ['status ']);
    const read = async () => {
      if (what === 'the leaders') await two.leaders();
      else await two.factsSince(serial, ['status ']);
    };
    await read();
    await failover();
    // The serial is as high as before, and the lease of this process is as it left it.
    await elsewhere(2);
    expect((await two.reader.history({ limit: 1 }))[0]?.serial).toBe(serial);
    await read();
    expect(await awaitsConfirmation(two.reader, shop)).toBe(true);
    expect(await losses(two)).toEqual([
      { lost: expect.stringMatching(/^the last record of platform:default had the serial 3/), epoch: 3 },
    ]);
    await Promise.all([two.leaders(), two.factsSince(serial, [])]);
    expect(await losses(two), 'it is recorded once').toHaveLength(1);
    await elsewhere(3);
  },
);

test('a process notices once what it finds by several reads at the same moment', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema), await shared(schema)];
  const led = await lead(one);
  const failover = await standbyOf(schema);
  await led.ledger.commit(step(1));
  const { serial } = await two.factsSince(0, []);
  await failover();
  await Promise.all([two.leaders(), two.factsSince(serial, []), two.leaders()]);
  expect(await losses(two)).toHaveLength(1);
});

test.for([
  'was never led before',
  'another process has taken at the same epoch',
  'another process has released',
] as const)('a process notices that the takeover of a unit was lost that %s', async (what) => {
  const schema = freshSchema();
  const [one, two, three] = [await shared(schema), await shared(schema), await shared(schema)];
  if (what === 'another process has released') await (await lead(three)).ledger.close();
  const failover = await standbyOf(schema);
  const led = await lead(one);
  await two.leaders();
  await failover();
  if (what === 'another process has taken at the same epoch')
    expect((await lead(three)).ledger.epoch).toBe(led.ledger.epoch);
  await two.leaders();
  expect(await awaitsConfirmation(two.reader, shop)).toBe(true);
});

test('a loss of what a command with the whole ledger recorded is noticed, too', async () => {
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  await (await openPostgresLedger(access, real)).close();
  const replica = await shared(schema);
  const failover = await standbyOf(schema);
  const command = await openPostgresLedger(access, real);
  await command.commit(step(1));
  await command.close();
  await replica.leaders();
  await failover();
  await querySharedServer(`UPDATE ${schema}.meta SET v = '9' WHERE k = 'serial'`);
  await replica.leaders();
  expect(await awaitsConfirmation(replica.reader, shop)).toBe(true);
});

test('takeovers, and ends of leases by a command with the whole ledger, are no loss', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema), await shared(schema)];
  const led = await lead(one);
  await led.ledger.commit(step(1));
  await two.leaders();
  await led.ledger.close();
  await two.leaders();
  const command = await openPostgresLedger(trusting(await sharedUrl(schema)), real);
  await two.leaders();
  await command.close();
  const next = await lead(two);
  await two.leaders();
  await next.ledger.commit(step(2));
  await one.leaders();
  expect(await losses(one)).toEqual([]);
});

test.for([
  ['serial', (serial: number) => `UPDATE $.meta SET v = '${serial}' WHERE k = 'serial'`],
  ['lease', (serial: number) => `UPDATE $.lease SET serial = ${serial} WHERE scope = 'platform:default'`],
] as const)(
  'where the primary server has the %s, as behind a standby that was late, no loss is recorded',
  async ([_, update]) => {
    const schema = freshSchema();
    const [one, two] = [await shared(schema), await shared(schema)];
    const led = await lead(one);
    await led.ledger.commit(step(1));
    await led.ledger.commit(step(2));
    const { serial } = await two.factsSince(0, []);
    const late = (to: number): string => update(to).replace('$', schema);
    // What a late standby shows to the reader, and the primary server once the loss would be recorded.
    await querySharedServer(late(serial - 1));
    const locks = await sharedSession(schema);
    await locks.query(`BEGIN; UPDATE ${schema}.meta SET v = v WHERE k = 'serial'; ${late(serial)}`);
    const read = two.factsSince(serial, []);
    await waiting(1);
    await locks.query('COMMIT');
    await read;
    expect(await losses(two)).toEqual([]);
    expect(await awaitsConfirmation(two.reader, shop)).toBe(false);
    // It still knows what it knew.
    await querySharedServer(late(serial - 1));
    await two.leaders();
    expect(await losses(two)).toHaveLength(1);
  },
);

test('a loss is recorded with a serial of its own, whatever other leaders record at the same time', async () => {
  const schema = freshSchema();
  const [one, two, three] = [await shared(schema), await shared(schema), await shared(schema)];
  const led = await lead(one);
  const other = await two.lead('platform:other');
  await led.ledger.commit(step(1));
  const locks = await sharedSession(schema);
  await locks.query(`BEGIN; SELECT FROM ${schema}.lease WHERE scope = 'platform:default' FOR UPDATE`);
  const first = led.ledger.commit(step(2));
  await waiting(1);
  const second = other?.ledger.commit(transaction([record('other')], OTHER));
  await waiting(2);
  const db = await databaseOf(trusting(await sharedUrl(schema)));
  onTestFinished(() => db.destroy());
  const loss = recordLoss({ db, location: 'postgres', clock: real.clock, actor: 'a test' }, 'something');
  await waiting(3);
  await locks.query('ROLLBACK');
  await Promise.all([first, second, loss]);
  const rows = await querySharedServer(`SELECT serial FROM ${schema}.history ORDER BY serial`);
  const serials = rows.map(({ serial }) => Number(serial));
  expect(new Set(serials).size).toBe(serials.length);
  const { serial } = await three.factsSince(0, []);
  expect(serial).toBe(serials.at(-1));
  await three.factsSince(serial, []);
  expect(await losses(three)).toHaveLength(1);
});

test('a lease is released although a transaction that nobody waits for is under way', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema), await shared(schema)];
  const led = await lead(one);
  await led.ledger.commit(step(1));
  const locks = await sharedSession(schema);
  await locks.query(`BEGIN; SELECT FROM ${schema}.chain FOR UPDATE`);
  const commit = led.ledger.commit(step(2));
  await waiting(1);
  const closed = led.ledger.close();
  await waiting(2);
  await locks.query('ROLLBACK');
  await Promise.all([commit, closed]);
  expect(await two.lead('platform:default')).toBeDefined();
  expect(await awaitsConfirmation(two.reader, shop)).toBe(false);
});

test('a database that is read-only for a while, as a standby that is late, has lost nothing', async () => {
  const schema = freshSchema();
  await querySharedServer('CREATE ROLE late LOGIN SUPERUSER');
  const [one, two] = [
    await shared(schema),
    await openSharedLedger(trusting(postgresUrl(await sharedPort(), schema, 'late')), { ...real, replica: 'two' }),
  ];
  onTestFinished(() => two.close());
  const led = await lead(one);
  const failover = await standbyOf(schema);
  await led.ledger.commit(step(1));
  const { serial } = await two.factsSince(0, []);
  await querySharedServer('ALTER ROLE late SET default_transaction_read_only = on');
  await querySharedServer("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'late'");
  // What the reader finds on a standby that has not received the last record.
  await failover();
  await expect.poll(() => codeOf(two.factsSince(serial, []))).toBe('ledger/refused');
  await querySharedServer(
    `UPDATE ${schema}.meta SET v = '${serial}' WHERE k = 'serial'; UPDATE ${schema}.lease SET serial = ${serial} WHERE scope = '${led.unit}'`,
  );
  await querySharedServer('ALTER ROLE late RESET default_transaction_read_only');
  expect((await two.factsSince(serial, [])).serial).toBe(serial);
  expect(await losses(two)).toEqual([]);
});

test('a commit without an answer is found, also where the address leads to a standby meanwhile', async () => {
  const schema = freshSchema();
  await querySharedServer('CREATE ROLE asking LOGIN SUPERUSER');
  const proxy = await CuttingProxy.before(await sharedPort());
  onTestFinished(() => proxy.close());
  const ledger = await openPostgresLedger(trusting(postgresUrl(proxy.port, schema, 'asking')), real);
  await ledger.commit(step(1));
  const before = proxy.answered;
  await ledger.commit(step(2));
  const size = proxy.answered - before;
  // Only of sessions from now on.
  await querySharedServer('ALTER ROLE asking SET default_transaction_read_only = on');
  // The last message is the answer to the commit.
  proxy.cutAfter('answers', size - 3, () => proxy.heal());
  const commit = ledger.commit(step(3));
  await expect.poll(() => proxy.cuts).toBe(1);
  await real.clock.sleep(600);
  await querySharedServer('ALTER ROLE asking RESET default_transaction_read_only');
  await commit;
  await ledger.commit(step(4));
  expect((await ledger.history({ limit: 100 })).map(({ event }) => event).toSorted()).toEqual(
    [1, 2, 3, 4].map((n) => `step ${n}`),
  );
  await ledger.close();
});
