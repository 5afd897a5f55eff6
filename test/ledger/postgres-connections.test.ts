import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createRedaction } from '../../src/cli/session/redaction.ts';
import { openReplica } from '../../src/cli/session/replica.ts';
import { openPostgresLedger, withDatabase } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { openPool } from '../../src/ledger/postgres/pool.ts';
import type { PostgresTables } from '../../src/ledger/postgres/tables.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { createTextLog } from '../../src/runtime/text-log.ts';
import { textOf } from '../docs/markdown.ts';
import { until } from '../processes/place.ts';
import { postgresUrl } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedPort, trusting } from '../support/postgres-shared.ts';
import { real } from './fixtures.ts';

/** How many connections a process has while all its statements wait, so that the limits of a database can be planned. */

/** A ledger of a role of its own, whose statements on some tables wait from `hold` until `free`. */
async function crowded() {
  const schema = freshSchema();
  const role = `crowd_${schema}`;
  await querySharedServer(`CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE portolan TO ${role}`);
  const port = await sharedPort();
  const client = new pg.Client(postgresUrl(port, schema));
  await client.connect();
  onTestFinished(() => client.end());
  const url = postgresUrl(port, schema, role);
  return {
    url,
    access: trusting(url),
    hold: async (...tables: readonly string[]) =>
      client.query(`BEGIN; LOCK TABLE ${tables.map((table) => `${schema}.${table}`).join(', ')}`),
    free: async () => client.query('COMMIT'),
    revoke: async (table: string) => querySharedServer(`REVOKE UPDATE ON ${schema}.${table} FROM ${role}`),
    grant: async (table: string) => querySharedServer(`GRANT UPDATE ON ${schema}.${table} TO ${role}`),
    count: async (): Promise<number> => {
      const [row] = await querySharedServer(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename = '${role}'`,
      );
      return Number(row?.['count']);
    },
    /** The sessions that listen for signals. */
    pids: async (): Promise<readonly unknown[]> =>
      (
        await querySharedServer(
          `SELECT pid FROM pg_stat_activity WHERE usename = '${role}' AND query LIKE 'LISTEN%' ORDER BY backend_start`,
        )
      ).map(({ pid }) => pid),
  };
}

const MANY = Array.from({ length: 30 }, (_, at) => at);

test('a replica has at most the connections that the page names, and a command not more', async () => {
  const { access, hold, free, count } = await crowded();
  const shared = await openSharedLedger(access, { ...real, replica: 'one' });
  let heard = 0;
  shared.onSignal(() => void (heard += 1));
  await shared.beat({ name: 'one', version: '1', address: null, startedMs: 1, facts: null }, false);
  // Its renewals use their connection again and again.
  await shared.lead('platform:east');
  await until(() => heard > 0);
  await hold('history');
  const waiting = MANY.map(async () => shared.reader.history({ limit: 1 }));
  await until(async () => (await count()) >= 6);
  const most = await count();
  await free();
  await Promise.all(waiting);
  expect(most).toBe(6);
  const [, stated] = /At most (\d+) for each process/.exec(textOf('docs/how-to/several-controllers.md')) ?? [];
  expect(stated).toBe(String(most));
  await shared.close();

  const ledger = await openPostgresLedger(access, real);
  await hold('history');
  const reads = MANY.map(async () => ledger.history({ limit: 1 }));
  await until(async () => (await count()) >= 4);
  expect(await count()).toBeLessThanOrEqual(most);
  await free();
  await Promise.all(reads);
  await ledger.close();
});

test('the tests run on the version of PostgreSQL that the pages name', async () => {
  const [row] = await querySharedServer('SHOW server_version');
  const major = Number.parseInt(String(row?.['server_version']), 10);
  expect(textOf('docs/how-to/several-controllers.md')).toContain(`| Which PostgreSQL? | ${major}. `);
  expect(textOf('docs/concepts/ledger.md')).toContain(`The tests run on PostgreSQL ${major}.`);
});

test('while a lock is held on its tables, the attempts that a replica gives up take no more connections', async () => {
  const { access, hold, free, count } = await crowded();
  // So short that a heartbeat is given up after half a second.
  const shared = await openSharedLedger(access, { ...real, replica: 'one', leaseMs: 1_500 });
  shared.onSignal(() => {});
  const beat = () => shared.beat({ name: 'one', version: '1', address: null, startedMs: 1, facts: null }, false);
  await beat();
  await hold('replica', 'meta');
  const events = MANY.map(async (n) => shared.events.append([n]));
  const counts: number[] = [];
  for (let attempt = 0; attempt < 14; attempt += 1) {
    await expect(beat()).rejects.toThrow();
    counts.push(await count());
  }
  // The server may be late to end one, but not all of them.
  expect(Math.min(...counts.slice(7)), counts.join()).toBeLessThanOrEqual(6);
  await free();
  await Promise.all(events);
  await shared.close();
});

test('the server ends a slow statement before its process gives the connection up', async () => {
  const { access } = await crowded();
  const pool = openPool(access);
  onTestFinished(() => pool.end());
  const client = await pool.connect();
  await expect(client.query('SELECT pg_sleep(60)', [])).rejects.toMatchObject({ code: '57014' });
  // The connection is as good as before.
  expect((await client.query('SELECT 1 AS one', [])).rows).toEqual([{ one: '1' }]);
  client.release();
  // Behind a pooler, others get the connections of renewals, whose own limit is shorter.
  const short = openPool(access, { statementMsMax: 2_000 });
  onTestFinished(() => short.end());
  const renewal = await short.connect();
  expect((await renewal.query('SHOW statement_timeout', [])).rows).toEqual([{ statement_timeout: '14s' }]);
  renewal.release();
});

test('work on a whole ledger may wait for a lock for long', async () => {
  const { access } = await crowded();
  const limitOf = async (db: Kysely<PostgresTables>): Promise<unknown> =>
    (
      await sql<{ limits: string }>`select array_agg(setting order by name)::text as limits from pg_settings
        where name in ('lock_timeout', 'statement_timeout')`.execute(db)
    ).rows[0]?.limits;
  expect(await withDatabase(access, limitOf)).toBe('{599000,599000}');
  const whole = withDatabase(access, (db) =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (transaction) => limitOf(transaction)),
  );
  expect(await whole).toBe('{0,0}');
});

test('the connection for signals ends at its greatest age, as those of the pool, and signals arrive on the next one', async () => {
  const { access, pids } = await crowded();
  let isLate = false;
  const clock: Clock = {
    ...real.clock,
    monotonic: () => real.clock.monotonic() + (isLate ? 600_000 : 0),
    // The wait for the next probe, and the one for the next connection.
    sleep: async (ms, signal) => real.clock.sleep(ms === 30_000 || ms === 1_000 ? 20 : ms, signal),
  };
  const shared = await openSharedLedger(access, { ...real, clock, replica: 'one' });
  let heard = 0;
  shared.onSignal((topic) => void (heard += topic === 'event' ? 1 : 0));
  await until(() => heard > 0);
  const [first] = await pids();
  isLate = true;
  await until(async () => (await pids()).some((pid) => pid !== first));
  isLate = false;
  await until(async () => !(await pids()).includes(first));
  const before = heard;
  await shared.events.append([1]);
  await until(() => heard > before);
  await shared.close();
});

test.for(['ledger/busy', 'ledger/refused'])(
  'a controller logs leases that cannot be renewed once, with %s, and once more when they are renewed again',
  async (code) => {
    const { url, hold, free, revoke, grant } = await crowded();
    const lines: string[] = [];
    const log = createTextLog('info', (line) => void lines.push(line), real.clock);
    const options = { ledger: url, name: 'one', source: 'default', actor: 'test', leaseMs: 1_500, log };
    const { replicas } = await openReplica(options, { ...real, env: {}, redaction: createRedaction() });
    onTestFinished(() => replicas.shared.close());
    // This role owns the tables.
    expect(lines.splice(0)).toEqual([expect.stringContaining('may change and remove the history')]);
    const lead = await replicas.shared.lead('platform:east');
    await (code === 'ledger/busy' ? hold('lease') : revoke('lease'));
    await until(() => lines.length > 0);
    await until(() => (lead?.validUntilMs() ?? 0) < real.clock.monotonic());
    expect(lines).toEqual([expect.stringMatching(`warn .*half of their length.*code=${code} remedy=`)]);
    await (code === 'ledger/busy' ? free() : grant('lease'));
    await until(() => lines.length > 1);
    expect(lines.slice(1)).toEqual([expect.stringContaining('leases are renewed again')]);
  },
);
