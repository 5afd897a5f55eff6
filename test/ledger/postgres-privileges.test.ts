import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { verifyPostgresLedger } from '../../src/ledger/postgres/verify.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { trusting } from '../support/postgres-shared.ts';
import { codeOf, errorOf, intent, object, real, record, snapshot, transaction } from './fixtures.ts';

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
  expect(refused.remedy).toContain('Only the owner of the tables may run `portolan ledger migrate`, `compact`');
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

/** Every statement that a replica sends. */
async function replicate(round: number): Promise<void> {
  const shared = await openSharedLedger(as('portolan'), { ...real, replica: 'one' });
  try {
    const [platform, source] = [await shared.lead('platform:default'), await shared.lead('source:default')];
    if (platform === undefined || source === undefined) throw new Error('another process leads');
    const { epoch } = platform.ledger;
    const own = object({ uid: `uid-${round}`, naturalKey: `key-${round}` });
    const opened = intent({ id: `intent-${round}`, uid: own.uid, epoch });
    await source.ledger.commit(
      transaction([{ op: 'accept-snapshot', snapshot: snapshot() }, record('s')], 'source:default'),
    );
    await platform.ledger.commit(
      transaction([{ op: 'put-object', object: own }, { op: 'open-intent', intent: opened }, record('all')]),
    );
    await platform.ledger.commit(
      transaction([{ op: 'move-intent', id: opened.id, state: 'applied' }, record('moved')]),
    );
    await platform.ledger.commit(transaction([{ op: 'drop-object', uid: own.uid }]));
    await platform.ledger.commit(transaction([{ op: 'set-fact', key: 'one', value: `${round}` }], 'platform:default'));
    const report = { name: 'one', version: '1', address: null, startedMs: 1, facts: null };
    expect(await shared.beat(report, false)).toHaveLength(1);
    await shared.leave();
    await shared.events.append([1]);
    const id = await shared.commands.add({ unit: 'platform:default', method: 'sync', args: null, by: 'ann' });
    await shared.commands.finish(platform, id, 'done');
    await shared.sessions.start('hash', null);
    await shared.sessions.use(['hash']);
    await shared.sessions.end(['hash']);
    expect((await shared.factsSince(0, ['one'])).facts.size).toBe(1);
    expect(await shared.leaders()).toHaveLength(2);
    expect(await shared.reader.history({ limit: 1 })).toHaveLength(1);
  } finally {
    await shared.close();
  }
}

test('the role of a controller shares a ledger with other replicas, and needs each of its privileges', async () => {
  await (await openPostgresLedger(as('portolan_owner'), real)).close();
  await server.query(example('grants.sql'));
  await replicate(0);
  const granted = await server.query(
    "SELECT table_name, privilege_type FROM information_schema.role_table_grants WHERE grantee = 'portolan' ORDER BY 1, 2",
  );
  const names = granted.map(({ table_name: table, privilege_type: privilege }) => `${privilege} ON portolan.${table}`);
  expect(names.length).toBeGreaterThan(20);
  const needless: string[] = [];
  const unsaid: string[] = [];
  for (const [at, name] of names.entries()) {
    await server.query(`REVOKE ${name} FROM portolan`);
    // The start finds what is missing, before any write.
    const start = await errorOf(openSharedLedger(as('portolan'), { ...real, replica: 'one' }));
    if (!start.message.includes(`the role portolan lacks ${name}.`) || !start.remedy.includes('grants.sql'))
      unsaid.push(`${name}: ${start.message}`);
    const code = await codeOf(replicate(at + 1));
    if (code !== 'ledger/refused') needless.push(`${name} (${code})`);
    await server.query(`GRANT ${name} TO portolan; UPDATE portolan.lease SET expires_ms = 0`);
  }
  expect([needless, unsaid]).toEqual([[], []]);
  await replicate(names.length + 1);
});

test('a controller is told if its role may change the history', async () => {
  const warned: string[] = [];
  const opening = { ...real, replica: 'a', source: 'default', onStrongRole: (role: string) => void warned.push(role) };
  for (const role of ['portolan', 'portolan_owner', 'administrator'])
    await (await openSharedLedger(as(role), opening)).close();
  expect(warned).toEqual(['portolan_owner', 'administrator']);
});

test('the grants also give back the right to look into the schema', async () => {
  await server.query('REVOKE USAGE ON SCHEMA portolan FROM portolan');
  const refused = await errorOf(openSharedLedger(as('portolan'), { ...real, replica: 'one' }));
  expect([refused.code, refused.remedy]).toEqual(['ledger/refused', expect.stringContaining('grants.sql')]);
  await server.query(`SET ROLE portolan_owner; ${example('grants.sql')}`);
  const shared = await openSharedLedger(as('portolan'), { ...real, replica: 'one' });
  await shared.close();
});

test('a role that must not connect to the database is given that right, and no other', async () => {
  await server.query('REVOKE CONNECT ON DATABASE portolan FROM PUBLIC');
  onTestFinished(async () => void (await server.query('GRANT CONNECT ON DATABASE portolan TO PUBLIC')));
  const refused = await errorOf(openSharedLedger(as('portolan'), { ...real, replica: 'one' }));
  expect([refused.code, refused.disposition, refused.remedy]).toEqual([
    'ledger/refused',
    'invalid',
    expect.stringMatching(/^The role must not connect to the database\..*GRANT CONNECT/),
  ]);
  await server.query('GRANT CONNECT ON DATABASE portolan TO portolan, portolan_owner');
  const shared = await openSharedLedger(as('portolan'), { ...real, replica: 'one' });
  await shared.close();
});

test('a database without a ledger, in which the role must not create one, is perhaps the wrong one', async () => {
  await server.query('CREATE DATABASE other');
  const url = postgresUrl(server.port, 'portolan', 'portolan').replace('/portolan?', '/other?');
  const error = await errorOf(openSharedLedger(trusting(url), { ...real, replica: 'one' }));
  expect([error.code, error.disposition]).toEqual(['ledger/refused', 'invalid']);
  expect([error.message, error.remedy]).toEqual([
    expect.stringContaining(
      'there is no ledger, and the role must not create one (permission denied for database other)',
    ),
    expect.stringMatching(/^Correct the database and the schema in the URL.*roles\.sql.*several-controllers\.md/),
  ]);
});

test('a replica starts with all that the grants contain, and names everything that is missing at once', async () => {
  await server.query(
    'REVOKE ALL ON ALL TABLES IN SCHEMA portolan FROM portolan; GRANT SELECT ON portolan.meta TO portolan',
  );
  const refused = await errorOf(openSharedLedger(as('portolan'), { ...real, replica: 'one' }));
  expect([refused.code, refused.disposition]).toEqual(['ledger/refused', 'invalid']);
  expect(refused.message.match(/ ON portolan\./g)).toHaveLength(37);
  await server.query(example('grants.sql'));
  const shared = await openSharedLedger(as('portolan'), { ...real, replica: 'one' });
  await shared.close();
});

test('the roles of a ledger see nothing else in its database', async () => {
  await server.query('CREATE SCHEMA payroll; CREATE TABLE payroll.salary (n int); CREATE TABLE public.shared (n int)');
  for (const role of ['portolan', 'portolan_owner'])
    for (const statement of [
      'SELECT * FROM payroll.salary',
      'SELECT * FROM public.shared',
      'CREATE TABLE public.mine (n int)',
      'CREATE ROLE mallory',
      "COPY portolan.meta TO '/tmp/copy'",
      "SELECT pg_read_file('/etc/passwd')",
    ])
      await expect(server.query(`SET ROLE ${role}; ${statement}`), `${role}: ${statement}`).rejects.toThrow(
        /permission denied/,
      );
});

test('an administrator who is not a superuser, as in a managed database, prepares a ledger and puts its tables aside', async () => {
  const managed = await PostgresServer.create();
  onTestFinished(() => managed.remove());
  await managed.query('CREATE ROLE manager LOGIN CREATEROLE CREATEDB');
  await managed.query('CREATE DATABASE fleet', 'postgres', 'manager');
  const url = (user: string): string => postgresUrl(managed.port, 'portolan', user).replace('/portolan?', '/fleet?');
  await managed.query(example('roles.sql'), 'fleet', 'manager');
  await (await openPostgresLedger(trusting(url('portolan_owner')), real)).close();
  await managed.query(example('grants.sql'), 'fleet', 'portolan_owner');
  const shared = await openSharedLedger(trusting(url('portolan')), { ...real, replica: 'one' });
  await shared.close();
  await managed.query("ALTER ROLE portolan PASSWORD 'secret'", 'fleet', 'manager');
  await managed.query(
    'ALTER SCHEMA portolan RENAME TO former; CREATE SCHEMA portolan AUTHORIZATION portolan_owner',
    'fleet',
    'manager',
  );
  await managed.query('CREATE DATABASE rehearsal OWNER portolan_owner', 'postgres', 'manager');
});
