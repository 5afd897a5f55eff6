import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { verifyPostgresLedger } from '../../src/ledger/postgres/verify.ts';
import { runHere } from '../cli/running.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { freshSchema, trusting } from '../support/postgres-shared.ts';
import { object, real, record, transaction } from './fixtures.ts';

/** How much `ledger verify` sees of the tables in a database, and what it says where it may not look. */

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.create();
});
afterAll(() => server.remove());

async function filled(url: string): Promise<void> {
  const ledger = await openPostgresLedger(trusting(url), real);
  await ledger.commit(transaction([{ op: 'put-object', object: object() }, record('a')]));
  await ledger.close();
}

/** Changes a ledger in a schema `$`, and returns the messages of its findings. */
async function findingsAfter(change: string, schema = freshSchema()): Promise<readonly string[]> {
  const url = server.url(schema);
  await filled(url);
  await server.query(change.replaceAll('$', schema));
  const { findings, unchecked } = await verifyPostgresLedger(trusting(url));
  expect(unchecked).toBeUndefined();
  return findings.map(({ area, message }) => `${area}: ${message}`);
}

test.for([
  ['ALTER TABLE $.fact DISABLE TRIGGER number_fact', ['schema: the trigger number_fact is disabled']],
  [
    `DROP TRIGGER announce_event ON $.event;
    CREATE TRIGGER announce_event AFTER INSERT ON $.event FOR EACH STATEMENT EXECUTE FUNCTION $.announce('fact')`,
    ['schema: the trigger announce_event was changed'],
  ],
  [
    "CREATE OR REPLACE FUNCTION $.announce() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    ['schema: the function announce was changed'],
  ],
  [
    "UPDATE pg_index SET indisvalid = false WHERE indexrelid = '$.intent_one_install'::regclass",
    ['schema: the index intent_one_install is not valid'],
  ],
  ['DROP INDEX $.intent_one_install', ['schema: the index intent_one_install is missing']],
  ['CREATE UNIQUE INDEX one_actor ON $.history (actor)', ['schema: the index one_actor does not belong to a ledger']],
  [
    'CREATE TABLE $.more (n INT)',
    ['schema: the column more.n does not belong to a ledger', 'schema: the table more does not belong to a ledger'],
  ],
  ['CREATE INDEX history_at ON $.history (at_ms)', []],
  ["CREATE FUNCTION $.more() RETURNS int LANGUAGE sql AS 'SELECT 1'", []],
] as const)('after %s, verify finds %j', async ([change, expected]) => {
  expect(await findingsAfter(change)).toEqual(expected);
});

test('a ledger is intact in a schema whose name is a word of a trigger, and with names that are always quoted', async () => {
  onTestFinished(async () => void (await server.query('ALTER ROLE administrator RESET quote_all_identifiers')));
  expect(await findingsAfter('ALTER ROLE administrator SET quote_all_identifiers = on', 'old')).toEqual([]);
  await server.query('ALTER ROLE administrator RESET quote_all_identifiers');
  expect((await verifyPostgresLedger(trusting(server.url('old')))).findings).toEqual([]);
});

test('what to do about a change of the schema is not to restore a backup over it', async () => {
  const url = server.url(freshSchema());
  await filled(url);
  const schema = new URL(url).searchParams.get('schema') ?? '';
  await server.query(`ALTER TABLE ${schema}.fact DISABLE TRIGGER number_fact`);
  const changed = await runHere(['ledger', 'verify', '--ledger', url]);
  expect([changed.code, changed.out, changed.err]).toEqual([
    1,
    'schema: the trigger number_fact is disabled\n',
    '1 finding. No record was found to be damaged. Undo the changes of the schema as the owner of the tables; if that is not possible, put ' +
      'the tables aside, create them with portolan ledger migrate, and restore a backup.\n',
  ]);
  await server.query(`UPDATE ${schema}.history SET actor = 'mallory'`);
  const damaged = await runHere(['ledger', 'verify', '--ledger', url]);
  expect([damaged.code, damaged.err]).toEqual([
    1,
    `2 findings. Keep a copy of ${url}, and restore a backup: portolan ledger restore BACKUP.\n`,
  ]);
});

test('a role that may make no temporary tables, a role that only reads and a standby verify the records, and say what was not compared', async () => {
  const own = await PostgresServer.create();
  onTestFinished(() => own.remove());
  const example = (name: string): string =>
    readFileSync(new URL(`../../examples/postgres/${name}`, import.meta.url), 'utf8');
  const url = (role: string): string => postgresUrl(own.port, 'portolan', role);
  await own.query(example('roles.sql'));
  await filled(url('portolan_owner'));
  await own.query(example('grants.sql'));
  await own.query('ALTER ROLE portolan SET default_transaction_read_only = on');
  const inventory = { objects: 1, since: 0 };
  const intact = { findings: [], inventory, unchecked: undefined };
  expect(await verifyPostgresLedger(trusting(url('portolan')))).toEqual(intact);
  await own.query(
    'ALTER ROLE portolan RESET default_transaction_read_only; REVOKE TEMPORARY ON DATABASE portolan FROM PUBLIC',
  );
  const reason = 'permission denied to create temporary tables in database "portolan"';
  expect(await verifyPostgresLedger(trusting(url('portolan')))).toEqual({ ...intact, unchecked: reason });
  const run = await runHere(['ledger', 'verify', '--ledger', url('portolan')]);
  expect([run.code, run.out, run.err]).toEqual([
    0,
    expect.stringContaining('is intact'),
    `Its tables, indexes and triggers were not compared with those of a new ledger (${reason}). For that, grant the role TEMPORARY on the ` +
      'database, or name the owner of the tables in the URL; a standby cannot compare them.\n',
  ]);
  expect(await verifyPostgresLedger(trusting(url('administrator')))).toEqual(intact);

  await own.stop();
  writeFileSync(join(own.folder, 'data', 'standby.signal'), '');
  await own.start();
  expect(await verifyPostgresLedger(trusting(url('administrator')))).toEqual({
    ...intact,
    unchecked: 'cannot set transaction read-write mode during recovery',
  });
});
