import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { awaitsConfirmation } from '../../src/ledger/confirmation.ts';
import { copyContents, copyLedger, type LedgerPlace } from '../../src/ledger/copy.ts';
import { backupPlace, filePlace } from '../../src/ledger/file-place.ts';
import { withPostgresContents } from '../../src/ledger/postgres/contents.ts';
import { openPostgresLedger, type PostgresLedgerOptions } from '../../src/ledger/postgres/open.ts';
import { postgresPlace } from '../../src/ledger/postgres/place.ts';
import { restorePostgresLedger } from '../../src/ledger/postgres/restore.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { verifyPostgresLedger } from '../../src/ledger/postgres/verify.ts';
import { verifySqliteLedger } from '../../src/ledger/verify.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { postgresUrl } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedPort, sharedUrl, trusting } from '../support/postgres-shared.ts';
import {
  codeOf,
  errorOf,
  object,
  real,
  record,
  shop,
  stillClock,
  temporaryDirectory,
  transaction,
} from './fixtures.ts';

/** A ledger in a database with one object, and the commands on it. */
async function scene() {
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  const folder = temporaryDirectory();
  onTestFinished(() => folder[Symbol.dispose]());
  const [backup, kept] = [join(folder.path, 'backup.db'), join(folder.path, 'kept.db')];
  const ledger = await openPostgresLedger(access, real);
  await ledger.commit(transaction([{ op: 'put-object', object: object() }, record('a')]));
  await ledger.close();
  const share = async (replica: string) => {
    const shared = await openSharedLedger(access, { ...real, replica });
    onTestFinished(() => shared.close());
    return shared;
  };
  const backUp = () =>
    withPostgresContents(access, (contents) => copyContents(contents, backupPlace(backup, real.random), 'damaged'));
  const restore = (options: Partial<Pick<PostgresLedgerOptions, 'clock' | 'random'>> = {}) =>
    restorePostgresLedger({ access, backup, kept, options: { ...real, ...options } });
  return { schema, access, folder: folder.path, backup, kept, share, backUp, restore };
}

/** A clock that does something when a process begins to wait, and then waits no longer than a moment. */
function whenWaiting(act: () => Promise<unknown>): Clock {
  return { ...real.clock, sleep: async () => void (await act()) };
}

/** Waits until so many statements on a ledger wait for a lock. */
async function blocked(schema: string, statements: number): Promise<void> {
  const query = `SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position('${schema}' IN query) > 0`;
  await expect.poll(async () => Number((await querySharedServer(query))[0]?.['n'])).toBe(statements);
}

async function session(schema: string): Promise<pg.Client> {
  const client = new pg.Client(postgresUrl(await sharedPort(), schema).replace(/\?.*$/, ''));
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const SUSPEND = { unit: 'platform:default', method: 'suspend', args: null, by: 'ann' } as const;

const report = { version: '1.0.0', address: 'http://127.0.0.1:8080', startedMs: 1_764_000_000_000, facts: {} } as const;

test('a restore is done as a whole, also if a standby takes over at once', async () => {
  const { access, backup, kept, share, backUp, restore } = await scene();
  await backUp();
  const standby = await share('a');
  // The former ledger gets into its file while the transaction is open, so the standby waits for the end of that.
  let asked: Promise<unknown> | undefined;
  const hex = (bytes: number): string => {
    asked ??= standby.lead('platform:default');
    return real.random.hex(bytes);
  };
  expect(await restore({ random: { ...real.random, hex } })).toEqual({
    path: access.address.location,
    lineage: standby.reader.lineage,
    schema: 4,
    // The former one, the restore itself, and a record for the only scope and for the ledger.
    serial: 4,
    epoch: 2,
    replaced: kept,
    refused: [],
  });
  expect(await asked).toBeDefined();
  const ledger = await openPostgresLedger(access, { ...real, readOnly: true });
  const [restored, ...others] = await ledger.history({ scope: shop, limit: 9 });
  expect([restored?.event, restored?.detail]).toEqual(['ledger.restored', { backup, epoch: 2 }]);
  expect(others.map(({ event }) => event)).toEqual(['a']);
  expect(await awaitsConfirmation(ledger, shop)).toBe(true);
  expect((await verifyPostgresLedger(access)).findings).toEqual([]);
  expect(verifySqliteLedger(kept)).toEqual([]);
  await ledger.close();
});

test('a restore that is refused leaves no file behind', async () => {
  const { schema, folder, backUp, restore } = await scene();
  await backUp();
  await querySharedServer(
    `CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE insufficient_privilege USING MESSAGE = ''refused''; END';
    CREATE TRIGGER refuse BEFORE DELETE ON ${schema}.history FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse()`,
  );
  expect(await codeOf(restore())).toBe('ledger/refused');
  expect(readdirSync(folder)).toEqual(['backup.db']);
  await querySharedServer(`DROP TRIGGER refuse ON ${schema}.history`);
  await restore();
  expect(readdirSync(folder).toSorted()).toEqual(['backup.db', 'kept.db']);
});

test('a process that slept through a restore cannot write when it wakes up', async () => {
  const { access, backUp, restore } = await scene();
  await backUp();
  const asleep = await openPostgresLedger(access, { ...real, leaseMs: 500, clock: stillClock });
  await restore();
  expect(await codeOf(asleep.commit(transaction([record('late')])))).toBe('ledger/fenced');
  await asleep.close();
});

test('a replica that runs reads the facts of a restored ledger', async () => {
  const { share, backUp, restore } = await scene();
  const replica = await share('a');
  const lead = await replica.lead('source:default');
  const set = async (value: string) =>
    lead?.ledger.commit(transaction([{ op: 'set-fact', key: 'accepted default', value }], 'source:default'));
  await set('old');
  await backUp();
  await set('new');
  const { serial } = await replica.factsSince(0, ['accepted']);
  await lead?.ledger.close();
  await restore();
  expect([...(await replica.factsSince(serial, ['accepted'])).facts]).toEqual([['accepted default', 'old']]);
  await replica.leaders();
  const found = (await replica.reader.history({ limit: 100 })).filter(({ event }) => event === 'ledger.restored');
  expect(found.map(({ detail }) => detail)).toEqual([expect.not.objectContaining({ lost: expect.anything() })]);
});

test('a serial never decreases, also if a process commits and ends while a restore waits for it', async () => {
  const { access, backUp, restore } = await scene();
  await backUp();
  const ledger = await openPostgresLedger(access, real);
  const clock = whenWaiting(async () => {
    for (let n = 0; n < 20; n += 1) await ledger.commit(transaction([record('later')]));
    await ledger.close();
  });
  expect(await restore({ clock })).toMatchObject({ serial: 24, epoch: 3 });
});

test('nothing is restored or copied while a replica lives, even one that leads nothing', async () => {
  const { schema, access, folder, share, backUp, restore } = await scene();
  await backUp();
  const replica = await share('a');
  const beat = () => replica.beat({ name: 'a', ...report }, false);
  await beat();
  const beating = whenWaiting(async () => {
    await sleep(5);
    await beat();
  });
  const file = join(folder, 'copy.db');
  const copied = (clock: Clock) =>
    copyLedger(postgresPlace(access, clock), filePlace(file, real.random), clock).then(() => {});
  for (const attempt of [() => restore({ clock: beating }), () => copied(beating)]) {
    const error = await errorOf(attempt());
    expect([error.code, error.message]).toEqual([
      'ledger/locked',
      expect.stringContaining(
        'is held by portolan run as replica a, API at http://127.0.0.1:8080, since 2025-11-24T16:00:00.000Z. It was not opened',
      ),
    ]);
    expect(error.remedy).toContain(
      'stop all controllers of the ledger first, which `portolan replicas --ledger URL` lists;',
    );
  }
  // One that died gives no sign any more, and is not waited for longer than for its lease.
  const dead = whenWaiting(() => querySharedServer(`UPDATE ${schema}.replica SET seen_ms = seen_ms - 15000`));
  await restore({ clock: dead });
  await beat();
  await replica.leave();
  await copied(real.clock);
});

test('a heartbeat from before the clock of the database was set back keeps nothing waiting', async () => {
  const { schema, backUp, share, restore } = await scene();
  await backUp();
  await (await share('dead')).beat({ name: 'dead', ...report }, false);
  await querySharedServer(`UPDATE ${schema}.replica SET seen_ms = seen_ms + 3600000`);
  const clock = whenWaiting(() => Promise.reject(new Error('it waits')));
  expect((await restore({ clock })).refused).toEqual([]);
});

test('commands without a result are no part of a restore, which names them, and a copy is refused', async () => {
  const { access, folder, share, backUp, restore } = await scene();
  await backUp();
  const replica = await share('a');
  const args = { args: ['demo/shop', 'ann', 'an incident'], scope: shop };
  const given = { unit: 'platform:default', method: 'suspend', args, by: 'ann' } as const;
  await replica.commands.add(given);
  await replica.commands.add({ ...given, method: 'resume', args: 'of another version' });
  // A question of another replica, whose user has gone.
  await replica.commands.add({ ...given, method: 'details', by: '' });
  const lead = await replica.lead('platform:default');
  const finished = await replica.commands.add({ ...given, method: 'approve' });
  if (lead !== undefined) await replica.commands.finish(lead, finished, null);
  await lead?.ledger.close();

  const error = await errorOf(
    copyLedger(postgresPlace(access, real.clock), filePlace(join(folder, 'copy.db'), real.random), real.clock),
  );
  expect([error.code, error.disposition]).toEqual(['ledger/open-commands', 'ask-human']);
  expect(error.message).toMatch(
    /: suspend of demo\/shop by ann at 20\S+Z; resume of platform:default by ann at 20\S+Z\. Nothing was changed\.$/,
  );
  const { refused } = await restore();
  const addedMs = expect.any(Number) as number;
  const named = [
    { method: 'suspend', subject: 'demo/shop', by: 'ann', addedMs },
    { method: 'resume', subject: 'platform:default', by: 'ann', addedMs },
  ];
  expect(refused).toEqual(named.map((command) => ({ ...command, unit: 'platform:default' })));
  expect(await replica.commands.open('platform:default')).toEqual([]);
  const history = await replica.reader.history({ scope: 'platform:default', limit: 9 });
  expect(history.map(({ event, detail }) => [event, detail])).toEqual(
    named.toReversed().map((detail) => ['command.refused', detail]),
  );
});

test('a replica that starts while the ledger is copied confirms no command, because the ledger is retired then', async () => {
  const { schema, access, folder, share } = await scene();
  const to = filePlace(join(folder, 'copy.db'), real.random);
  let asked: Promise<string | undefined> | undefined;
  const slow: LedgerPlace = {
    ...to,
    filling: async (standing, fill) => {
      asked = codeOf((await share('late')).commands.add(SUSPEND));
      await Promise.race([asked, blocked(schema, 1)]);
      return to.filling(standing, fill);
    },
  };
  await copyLedger(postgresPlace(access, real.clock), slow, real.clock);
  expect(await asked).toBe('ledger/retired');
  expect(await querySharedServer(`SELECT id FROM ${schema}.command`)).toEqual([]);
});

test('a command that is recorded while a copy begins prevents it', async () => {
  const { schema, access, folder } = await scene();
  const other = await session(schema);
  await other.query(
    `BEGIN; INSERT INTO ${schema}.command (id, unit, method, args, requester, added_ms) VALUES ('1', 'platform:default', 'suspend', 'null', 'ann', 1)`,
  );
  const copied = codeOf(
    copyLedger(postgresPlace(access, real.clock), filePlace(join(folder, 'copy.db'), real.random), real.clock),
  );
  await blocked(schema, 1);
  await other.query('COMMIT');
  expect(await copied).toBe('ledger/open-commands');
});

test('a command that is given while the ledger is restored is recorded once it is, and not removed', async () => {
  const { schema, share, backUp, restore } = await scene();
  await backUp();
  const replica = await share('a');
  const other = await session(schema);
  // The open commands are listed before.
  await other.query(`BEGIN; SELECT FROM ${schema}.object FOR UPDATE`);
  const restored = restore();
  await blocked(schema, 1);
  const added = replica.commands.add(SUSPEND);
  await Promise.race([added, blocked(schema, 2)]);
  await other.query('ROLLBACK');
  expect((await restored).refused).toEqual([]);
  const id = await added;
  expect((await replica.commands.open(SUSPEND.unit)).map((command) => command.id)).toEqual([id]);
});
