import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { verifyPostgresLedger } from '../../src/ledger/postgres/verify.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { trusting } from '../support/postgres-shared.ts';
import { errorOf, intent, object, real, record, snapshot, transaction } from './fixtures.ts';

/** The roles of `examples/postgres`: the controller's can write a ledger, and nothing else. */

const example = (name: string): string =>
  readFileSync(new URL(`../../examples/postgres/${name}`, import.meta.url), 'utf8');

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.create();
  await server.query(example('roles.sql'));
});
afterAll(() => server.remove());

const as = (role: string) => trusting(postgresUrl(server.port, 'portolan', role));

test('the role of a controller writes and verifies a ledger, and cannot change tables or history', async () => {
  const early = await errorOf(openPostgresLedger(as('portolan'), real));
  expect([early.code, early.remedy]).toEqual(['ledger/refused', expect.stringContaining('portolan ledger migrate')]);
  await (await openPostgresLedger(as('portolan_owner'), real)).close();
  await server.query(example('grants.sql'));

  const ledger = await openPostgresLedger(as('portolan'), real);
  await ledger.commit(
    transaction([
      { op: 'put-object', object: object() },
      { op: 'open-intent', intent: intent({ epoch: ledger.epoch }) },
      { op: 'accept-snapshot', snapshot: snapshot() },
      { op: 'set-fact', key: 'one', value: '1' },
      record('all'),
    ]),
  );
  await ledger.commit(transaction([{ op: 'move-intent', id: 'intent-1', state: 'applied' }, record('moved')]));
  await ledger.commit(transaction([{ op: 'drop-object', uid: object().uid }]));
  const refused = await errorOf(ledger.compact({ nowMs: 1e12, actor: 'test', keepMs: 1, keepPerObject: 0 }));
  expect([refused.code, refused.remedy]).toEqual(['ledger/refused', expect.stringContaining('grants.sql')]);
  await ledger.close();
  expect((await verifyPostgresLedger(as('portolan'))).findings).toEqual([]);
  for (const statement of [
    'DELETE FROM portolan.history',
    "UPDATE portolan.history SET actor = 'mallory'",
    'TRUNCATE portolan.history',
    'DELETE FROM portolan.intent',
    'DELETE FROM portolan.meta',
    'DELETE FROM portolan.lease',
    'DROP TABLE portolan.fact',
    'DROP INDEX portolan.intent_one_install',
    'ALTER TABLE portolan.history ADD COLUMN n int',
    'CREATE TABLE portolan.more (n int)',
    'CREATE SCHEMA more',
  ])
    await expect(server.query(`SET ROLE portolan; ${statement}`), statement).rejects.toThrow(
      /permission denied|must be owner/,
    );
  const owner = await openPostgresLedger(as('portolan_owner'), real);
  expect(await owner.compact({ nowMs: 1e12, actor: 'test', keepMs: 1, keepPerObject: 0 })).toMatchObject({
    history: 3,
  });
  await owner.close();
});

test('the role of a controller shares a ledger with other replicas', async () => {
  await (await openPostgresLedger(as('portolan_owner'), real)).close();
  await server.query(example('grants.sql'));
  const shared = await openSharedLedger(as('portolan'), { ...real, replica: 'one' });
  const lead = await shared.lead('platform:default');
  if (lead === undefined) throw new Error('the platform is led');
  await lead.ledger.commit(transaction([{ op: 'set-fact', key: 'one', value: '1' }], 'platform:default'));
  const report = { name: 'one', version: '1', address: null, startedMs: 1, facts: null };
  expect(await shared.beat(report, false)).toHaveLength(1);
  await shared.leave();
  await shared.events.append([1]);
  const id = await shared.commands.add({ unit: 'platform:default', method: 'sync', args: null, by: 'ann' });
  await shared.commands.finish(lead, id, 'done');
  await shared.sessions.start('hash', null);
  await shared.sessions.use(['hash']);
  await shared.sessions.end(['hash']);
  expect((await shared.factsSince(0, ['one'])).facts.size).toBe(1);
  await shared.close();
});
