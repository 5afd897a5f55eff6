import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { migrations } from '../../src/ledger/migrations.ts';
import { withPostgresContents } from '../../src/ledger/postgres/contents.ts';
import { explainPostgres } from '../../src/ledger/postgres/faults.ts';
import { migratePostgresLedger, openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import type { PostgresAccess } from '../../src/ledger/postgres/pool.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import type { PortolanError } from '../../src/model/errors.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { freshSchema, trusting } from '../support/postgres-shared.ts';
import { errorOf, object, real, record, transaction } from './fixtures.ts';

/** What an administrator sets for a database or a role, also while replicas run. */

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.create({ settings: ['max_notify_queue_pages=64'] });
});
afterAll(() => server.remove());

/** A ledger of a role of its own. @param settings of the role, such as `timezone = 'Asia/Tokyo'`. */
async function withSettings(...settings: readonly string[]) {
  const schema = freshSchema();
  const role = `role_${schema}`;
  await server.query(`CREATE ROLE ${role} LOGIN SUPERUSER`);
  const set = async (setting: string) => server.query(`ALTER ROLE ${role} SET ${setting}`);
  for (const setting of settings) await set(setting);
  return { schema, role, set, access: trusting(postgresUrl(server.port, schema, role)) };
}

const REPEATABLE_READ = "default_transaction_isolation = 'repeatable read'";

test('replicas that start at once make one ledger, whatever isolation is the default', async () => {
  const { schema, access } = await withSettings(REPEATABLE_READ);
  const opened = await Promise.all(['a', 'b', 'c'].map((replica) => openSharedLedger(access, { ...real, replica })));
  for (const one of opened) await one.close();
  expect(await server.query(`SELECT count(*)::int AS lineages FROM ${schema}.meta WHERE k = 'lineage'`)).toEqual([
    { lineages: 1 },
  ]);
});

test('processes that migrate at once do it once, whatever isolation is the default', async () => {
  const { schema, access } = await withSettings(REPEATABLE_READ);
  await (await openPostgresLedger(access, { ...real, migrations: migrations.slice(0, 3) })).close();
  await Promise.all([1, 2].map(async () => migratePostgresLedger(access, real)));
  expect(await server.query(`SELECT v FROM ${schema}.meta WHERE k = 'schema'`)).toEqual([{ v: '4' }]);
});

test('a statement that waits for a lock sees what was committed meanwhile, whatever isolation is the default', async () => {
  const { schema, access } = await withSettings(REPEATABLE_READ);
  const waits: number[] = [];
  const clock: Clock = {
    ...real.clock,
    sleep: async (ms, signal) => {
      waits.push(ms);
      await real.clock.sleep(ms, signal);
    },
  };
  const shared = await openSharedLedger(access, { ...real, clock, replica: 'a' });
  onTestFinished(() => shared.close());
  const lead = await shared.lead('platform:default');
  const other = new pg.Client(postgresUrl(server.port, schema));
  await other.connect();
  onTestFinished(() => other.end());
  await other.query(`BEGIN; UPDATE ${schema}.meta SET v = (v::bigint + 1)::text WHERE k IN ('serial', 'event')`);
  waits.length = 0;
  const waiting = [lead?.ledger.commit(transaction([record('a')])), shared.events.append(['b'])];
  const blocked = `SELECT count(*)::int AS blocked FROM pg_stat_activity
    WHERE usename = '${access.address.user}' AND wait_event_type = 'Lock'`;
  while ((await server.query(blocked))[0]?.['blocked'] !== 2) await sleep(5);
  await other.query('COMMIT');
  for (const one of waiting) await one;
  expect((await shared.reader.history({ limit: 1 }))[0]?.serial).toBe(2);
  expect((await shared.events.since(0, 10)).events).toEqual([{ sequence: 2, event: 'b' }]);
  // No attempt failed, so none waited for the next one.
  expect(waits.filter((ms) => ms <= 1_500)).toEqual([]);
});

/** Tables whose changes must survive a power cut once they are confirmed. */
const DURABLE = ['meta', 'history', 'fact', 'chain', 'object', 'intent', 'lease', 'event', 'command', 'session'];

/** Records, in a table of its own, whether each change of a ledger is durable when its transaction commits. */
async function watchCommits(schema: string): Promise<() => Promise<unknown>> {
  await server.query(
    `CREATE TABLE ${schema}_seen (name TEXT, setting TEXT);
    CREATE FUNCTION ${schema}_see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO public.${schema}_seen VALUES (TG_TABLE_NAME, current_setting('synchronous_commit')); RETURN NULL; END $$;
    ${DURABLE.map(
      (table) =>
        `CREATE CONSTRAINT TRIGGER see AFTER INSERT OR UPDATE OR DELETE ON ${schema}.${table}
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.${schema}_see()`,
    ).join(';')}`,
  );
  return async () => server.query(`SELECT DISTINCT name, setting FROM ${schema}_seen ORDER BY 1, 2`);
}

/** Forwards to the server, but takes back what a connection sets for its session, as a pooler in transaction mode may do. */
async function forgetful(): Promise<number> {
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(server.port, '127.0.0.1');
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}));
    client.on('data', (data) => {
      const text = data.toString('latin1').replace('; set synchronous_commit = on', '; set synchronous_commit =off');
      upstream.write(text, 'latin1');
    });
    upstream.pipe(client);
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return (proxy.address() as { readonly port: number }).port;
}

/** Does everything that is confirmed to others. The release of a lease is not: without it, the lease expires. */
async function changeAll(access: PostgresAccess): Promise<void> {
  const shared = await openSharedLedger(access, { ...real, replica: 'a', leaseMs: 300 });
  onTestFinished(() => shared.close());
  const lead = await shared.lead('platform:default');
  if (lead === undefined) throw new Error('another process leads');
  const operations = [
    { op: 'put-object', object: object() } as const,
    { op: 'set-fact', key: 'one', value: '1' } as const,
    record('a'),
  ];
  await lead.ledger.commit(transaction(operations));
  const id = await shared.commands.add({ unit: 'platform:default', method: 'sync', args: null, by: 'ann' });
  await shared.commands.finish(lead, id, 'done');
  await shared.events.append([1]);
  await shared.sessions.start('hash', null);
  await shared.sessions.end(['hash']);
  // A renewal.
  await sleep(150);
}

test('commits are durable, whatever the database or the role has, also behind a pooler', async () => {
  for (const port of [server.port, await forgetful()]) {
    const { schema, role } = await withSettings('synchronous_commit = off');
    const access = trusting(postgresUrl(port, schema, role));
    await migratePostgresLedger(access, real);
    const seen = await watchCommits(schema);
    await changeAll(access);
    expect(await seen()).toEqual(
      ['chain', 'command', 'event', 'fact', 'history', 'lease', 'meta', 'object', 'session'].map((name) => {
        return { name, setting: 'on' };
      }),
    );
  }
});

test('the identity of the server does not depend on the time zone of a session', async () => {
  const { set, access } = await withSettings("timezone = 'UTC'");
  const before = await openSharedLedger(access, { ...real, replica: 'a' });
  const { server: first } = await before.events.since(0, 1);
  await before.close();
  await set("timezone = 'Asia/Tokyo'");
  const after = await openSharedLedger(access, { ...real, replica: 'a' });
  const { server: second } = await after.events.since(0, 1);
  await after.close();
  expect(second).toBe(first);
});

test('limits for statements and transactions do not end a backup, an export or a copy', async () => {
  const { set, access } = await withSettings();
  await migratePostgresLedger(access, real);
  for (const name of ['statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout'])
    await set(`${name} = '200ms'`);
  const read = withPostgresContents(access, async (contents, db) => {
    await sleep(300);
    const rows = await Array.fromAsync(contents.rows('object'));
    await sleep(300);
    return [rows.length, typeof db];
  });
  expect(await read).toEqual([0, 'object']);
});

test('a database that allows no connections for a while is out of reach, and the ledger recovers by itself', async () => {
  const { access } = await withSettings();
  // Waits between attempts pass at once.
  const clock: Clock = { ...real.clock, sleep: async (ms, signal) => real.clock.sleep(ms > 4_000 ? ms : 1, signal) };
  const shared = await openSharedLedger(access, { ...real, clock, replica: 'a' });
  const lead = await shared.lead('platform:default');
  await server.query('ALTER DATABASE portolan ALLOW_CONNECTIONS false', 'postgres');
  onTestFinished(async () => void (await server.query('ALTER DATABASE portolan ALLOW_CONNECTIONS true', 'postgres')));
  await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'portolan'", 'postgres');
  for (const work of [
    async () => shared.commands.open('platform:default'),
    async () => lead?.ledger.commit(transaction([record('a')])),
    async () => openSharedLedger(access, { ...real, replica: 'b' }),
  ]) {
    const error = await errorOf(work());
    expect([error.code, error.disposition]).toEqual(['ledger/unreachable', 'retry']);
    expect(error.message).toContain('database "portolan" is not currently accepting connections');
  }
  await server.query('ALTER DATABASE portolan ALLOW_CONNECTIONS true', 'postgres');
  await lead?.ledger.commit(transaction([record('b')]));
  expect((await shared.reader.history({ limit: 9 })).map(({ event }) => event)).toEqual(['b']);
  await server.query('ALTER DATABASE portolan ALLOW_CONNECTIONS false', 'postgres');
  await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'portolan'", 'postgres');
  // A release that fails is no error: the lease expires.
  await shared.close();
});

test('a limit of connections is named: of the role, or of the database', async () => {
  const { role, access } = await withSettings();
  await migratePostgresLedger(access, real);
  await server.query(`ALTER ROLE ${role} NOSUPERUSER`);
  const limit = async (text: string): Promise<void> => void (await server.query(text, 'postgres'));
  onTestFinished(() => limit('ALTER DATABASE portolan CONNECTION LIMIT -1'));
  for (const [named, statement, remedy] of [
    ['role', `ALTER ROLE ${role} CONNECTION LIMIT 0`, /^Raise the CONNECTION LIMIT of the role.*several-controllers/],
    [
      'database',
      `ALTER ROLE ${role} CONNECTION LIMIT -1; ALTER DATABASE portolan CONNECTION LIMIT 0`,
      /^Raise the CONNECTION LIMIT of the database/,
    ],
  ] as const) {
    await limit(statement);
    const error = await errorOf(openPostgresLedger(access, { ...real, readOnly: true }));
    expect([error.code, error.disposition]).toEqual(['ledger/unreachable', 'retry']);
    expect([error.message, error.remedy]).toEqual([
      expect.stringContaining(`too many connections for ${named}`),
      expect.stringMatching(remedy),
    ]);
  }
});

test('a role that does not exist is not asked for a password', async () => {
  const error = await errorOf(openPostgresLedger(trusting(postgresUrl(server.port, 'portolan', 'nemo')), real));
  expect([error.code, error.message, error.remedy]).toEqual([
    'ledger/refused',
    expect.stringContaining('role "nemo" does not exist'),
    expect.stringContaining('Correct the user in the URL of --ledger'),
  ]);
});

test.for([
  ['53300', 'sorry, too many clients already', /^Raise max_connections of the server/],
  ['28000', 'no pg_hba.conf entry for host "192.0.2.7", user "a", database "b", no encryption', /^Use TLS/],
  ['28000', 'no pg_hba.conf entry for host "192.0.2.7", user "a", database "b", SSL off', /^Use TLS/],
  ['28000', 'no pg_hba.conf entry for host "192.0.2.7", user "a", database "b", SSL encryption', /^Allow this role/],
] as const)('the server refuses a connection with %s and "%s"', ([code, message, remedy]) => {
  const refusal = Object.assign(new Error(message), { code, severity: 'FATAL' });
  const error = explainPostgres(refusal, 'postgres://a@db.example.com/b') as PortolanError;
  expect([error.message, error.remedy]).toEqual([expect.stringContaining(message), expect.stringMatching(remedy)]);
});

/** Fills the queue for notifications of the whole server. @returns empties it. */
async function fillQueue(): Promise<() => Promise<void>> {
  const [listener, sender] = [1, 2].map(() => new pg.Client(postgresUrl(server.port, 'public')));
  if (listener === undefined || sender === undefined) throw new Error('no client was made');
  for (const client of [listener, sender]) await client.connect();
  await listener.query('LISTEN anything');
  await listener.query('BEGIN; SELECT 1');
  const fill = async (): Promise<void> => {
    for (;;) await sender.query("SELECT pg_notify('anything', n || repeat('x', 7000)) FROM generate_series(1, 10) n");
  };
  await expect(fill()).rejects.toThrow('too many notifications in the NOTIFY queue');
  return async () => {
    for (const client of [listener, sender]) await client.end();
    while ((await server.query('SELECT pg_notification_queue_usage() > 0.5 AS full'))[0]?.['full'] === true)
      await sleep(5);
  };
}

test('without its synchronous standby nothing is confirmed and reads work, and it is all recorded once that is back', async () => {
  const { access } = await withSettings();
  const shared = await openSharedLedger(access, { ...real, replica: 'a' });
  onTestFinished(() => shared.close());
  const lead = await shared.lead('platform:default');
  if (lead === undefined) throw new Error('another process leads');
  await lead.ledger.commit(transaction([record('before')]));
  const setStandby = async (name: string): Promise<void> => {
    await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await server.query('SELECT pg_reload_conf()');
  };
  onTestFinished(() => setStandby(''));
  await setStandby('away');
  const confirmed: string[] = [];
  const report = { name: 'a', version: '1', address: null, startedMs: 1, facts: null };
  const waiting = [
    lead.ledger.commit(transaction([record('during')])).then(() => confirmed.push('commit')),
    shared.beat(report, false).then(() => confirmed.push('heartbeat')),
  ];
  const blocked = `SELECT count(*)::int AS blocked FROM pg_stat_activity
    WHERE usename = '${access.address.user}' AND wait_event = 'SyncRep'`;
  while ((await server.query(blocked))[0]?.['blocked'] !== 2) await sleep(5);
  const lines = async () => (await shared.reader.history({ limit: 9 })).length;
  expect([await lines(), confirmed]).toEqual([1, []]);
  await setStandby('');
  await Promise.all(waiting);
  expect([...confirmed].sort()).toEqual(['commit', 'heartbeat']);
  expect(await lines()).toBe(2);
});

test('a limit of the database is an error with a remedy, and not a bug', async () => {
  const { access } = await withSettings();
  const shared = await openSharedLedger(access, { ...real, replica: 'a' });
  onTestFinished(() => shared.close());
  const lead = await shared.lead('platform:default');
  const long = Array.from({ length: 4_000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7_919) % 20_000))).join('');
  const tooLong = await errorOf(
    lead?.ledger.commit(transaction([{ op: 'set-fact', key: long, value: '1' }])) ?? Promise.resolve(),
  );
  expect([tooLong.code, tooLong.disposition]).toEqual(['ledger/refused', 'retry']);
  expect([tooLong.message, tooLong.remedy]).toEqual([
    expect.stringMatching(/index row (?:size|requires).*Nothing was recorded\.$/),
    expect.stringContaining('must become shorter in the manifest'),
  ]);
  const empty = await fillQueue();
  const full = await errorOf(shared.events.append([1]));
  await empty();
  expect([full.code, full.disposition]).toEqual(['ledger/refused', 'retry']);
  expect([full.message, full.remedy]).toEqual([
    expect.stringMatching(/too many notifications in the NOTIFY queue.*Nothing was recorded\.$/),
    expect.stringContaining('pg_stat_activity'),
  ]);
  await shared.events.append([2]);
  expect((await shared.events.since(0, 9)).events.map(({ event }) => event)).toEqual([2]);
});

test('a lease whose release the database refuses expires, and the end of the process is no bug', async () => {
  const { schema, access } = await withSettings();
  const shared = await openSharedLedger(access, { ...real, replica: 'a' });
  await shared.lead('platform:default');
  await server.query(
    `CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''frozen''; END';
    CREATE TRIGGER refuse BEFORE UPDATE ON ${schema}.lease FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse()`,
  );
  await shared.close();
  expect(await server.query(`SELECT expires_ms > 0 AS held FROM ${schema}.lease WHERE scope <> '*'`)).toEqual([
    { held: true },
  ]);
});

test.for(['on', 'off'])(
  'names with quotes and backslashes prove a lease with standard_conforming_strings = %s',
  async (value) => {
    const { access } = await withSettings(`standard_conforming_strings = ${value}`);
    const unit = "platform:it's \\ \u{1F600}" as const;
    const shared = await openSharedLedger(access, { ...real, replica: "o'hara\\" });
    onTestFinished(() => shared.close());
    const lead = await shared.lead(unit);
    await lead?.ledger.commit(transaction([record('first')], unit));
    expect(await shared.reader.history({ limit: 10 })).toMatchObject([{ scope: unit, event: 'first' }]);
  },
);

test('a lease is released although the network fails for a moment', async () => {
  const { schema, access } = await withSettings();
  const shared = await openSharedLedger(access, { ...real, replica: 'a' });
  await shared.lead('platform:default');
  await server.query(
    `CREATE SEQUENCE ${schema}.attempt;
    CREATE FUNCTION ${schema}.cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('${schema}.attempt') < 3 THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); END IF;
      RETURN new; END $$;
    CREATE TRIGGER cut BEFORE UPDATE ON ${schema}.lease FOR EACH ROW WHEN (new.expires_ms = 0)
    EXECUTE FUNCTION ${schema}.cut()`,
  );
  await shared.close();
  expect(await server.query(`SELECT expires_ms, holder <> '' AS held FROM ${schema}.lease WHERE scope <> '*'`)).toEqual(
    [{ expires_ms: '0', held: true }],
  );
  expect(await server.query(`SELECT last_value FROM ${schema}.attempt`)).toEqual([{ last_value: '3' }]);
});

test('a counter of the ledger that is not a number is damage', async () => {
  const { schema, access } = await withSettings();
  const shared = await openSharedLedger(access, { ...real, replica: 'a' });
  onTestFinished(() => shared.close());
  await server.query(`UPDATE ${schema}.meta SET v = 'x' WHERE k = 'event'`);
  const error = await errorOf(shared.events.append([1]));
  expect([error.code, error.disposition]).toEqual(['ledger/corrupt', 'give-up']);
  expect(error.message).toContain('invalid input syntax for type bigint: "x"');
  const lead = await shared.lead('platform:a');
  await server.query(`DELETE FROM ${schema}.meta WHERE k = 'serial'`);
  const missing = await errorOf(lead?.ledger.commit(transaction([record('a')], 'platform:a')) ?? Promise.resolve());
  expect([missing.code, missing.disposition]).toEqual(['ledger/corrupt', 'give-up']);
});
