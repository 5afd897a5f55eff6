import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { copyContents } from '../../src/ledger/copy.ts';
import { backupPlace } from '../../src/ledger/file-place.ts';
import { type Migration, migrations, newestSchema } from '../../src/ledger/migrations.ts';
import { withPostgresContents } from '../../src/ledger/postgres/contents.ts';
import { migratePostgresLedger, openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import type { SharedLedger } from '../../src/ledger/shared.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { codeOf, errorOf, real, record, temporaryDirectory, transaction } from './fixtures.ts';

/** Two versions of Portolan that run together: the older one is this version, and the newer one has one step more. */

const step: Migration = {
  to: newestSchema(migrations) + 1,
  sql: 'ALTER TABLE fact ADD COLUMN note TEXT; CREATE TABLE extra (n INTEGER NOT NULL) STRICT;',
};

async function opened(
  schema: string,
  replica: string,
  steps: readonly Migration[] = migrations,
  source?: string,
): Promise<SharedLedger> {
  const options = { ...real, replica, actor: replica, leaseMs: 3_000, migrations: steps, source };
  return openSharedLedger(trusting(await sharedUrl(schema)), options);
}

const schemaOf = async (schema: string): Promise<number> =>
  Number((await querySharedServer(`SELECT v FROM ${schema}.meta WHERE k = 'schema'`))[0]?.['v']);

test('a step that only expands is made beside an older process, which keeps its leases and takes no other', async () => {
  const schema = freshSchema();
  const old = await opened(schema, 'old');
  const east = await old.lead('platform:east');
  const next = await opened(schema, 'next', [...migrations, { ...step, expands: true }]);
  expect(await schemaOf(schema)).toBe(step.to);
  const commit = transaction([record('old'), { op: 'set-fact', key: 'one', value: '1' }], 'platform:east');
  await east?.ledger.commit(commit);
  expect([...(await next.factsSince(0, ['one'])).facts]).toEqual([['one', '1']]);
  const refused = await errorOf(old.lead('platform:west'));
  expect([refused.code, refused.disposition]).toEqual(['ledger/newer', 'invalid']);
  expect((await next.leaders()).map(({ unit }) => unit)).toEqual(['platform:east']);
  expect(await codeOf(opened(schema, 'late'))).toBe('ledger/newer');
  await (await next.lead('platform:west'))?.ledger.commit(transaction([record('next')], 'platform:west'));
  await east?.ledger.close();
  expect(await codeOf(old.lead('platform:east'))).toBe('ledger/newer');
  expect(await next.lead('platform:east')).toBeDefined();
  for (const ledger of [old, next]) await ledger.close();
});

test('a newer version that works on another source migrates nothing before the others have ended', async () => {
  const schema = freshSchema();
  const shop = await opened(schema, 'shop', migrations, 'shop');
  await shop.lead('platform:east');
  const steps: readonly Migration[] = [...migrations, { ...step, expands: true }];
  expect(await codeOf(opened(schema, 'blog', steps, 'blog'))).toBe('controller/other-source');
  expect(await schemaOf(schema)).toBe(newestSchema(migrations));
  await shop.close();
  const blog = await opened(schema, 'blog', steps, 'blog');
  expect(await schemaOf(schema)).toBe(step.to);
  await blog.close();
});

test('any other step waits until no process leads', async () => {
  const schema = freshSchema();
  const old = await opened(schema, 'old');
  await old.lead('platform:east');
  const steps = [...migrations, step];
  expect(await codeOf(opened(schema, 'next', steps))).toBe('ledger/locked');
  expect(await schemaOf(schema)).toBe(newestSchema(migrations));
  await old.close();
  const next = await opened(schema, 'next', steps);
  expect(await schemaOf(schema)).toBe(step.to);
  await next.close();
});

test('a backup from before a migration is made by the former version, as the error of the newer one says', async () => {
  const access = trusting(await sharedUrl());
  await (await openPostgresLedger(access, { ...real, migrations: migrations.slice(0, -1) })).close();
  using folder = temporaryDirectory();
  const place = backupPlace(join(folder.path, 'backup.db'), real.random);
  const backedUp = withPostgresContents(access, (contents) => copyContents(contents, place, 'damaged'));
  const error = await errorOf(backedUp);
  expect([error.code, error.remedy]).toEqual([
    'ledger/older',
    'Make a `portolan ledger backup` with the former version of Portolan, migrate it with `portolan ledger migrate`, and read it again.',
  ]);
});

const expanding = [...migrations, { ...step, expands: true as const }];

/** A server with the two roles of `examples/postgres`, and the tables of this version. */
async function withRoles() {
  const server = await PostgresServer.create();
  onTestFinished(() => server.remove());
  const example = (name: string): string =>
    readFileSync(new URL(`../../examples/postgres/${name}`, import.meta.url), 'utf8');
  const as = (role: string) => trusting(postgresUrl(server.port, 'portolan', role));
  const migrate = (steps = migrations) =>
    migratePostgresLedger(as('portolan_owner'), { ...real, actor: 'owner', migrations: steps });
  const grant = () => server.query(example('grants.sql'));
  const replica = (name: string, steps = migrations) =>
    openSharedLedger(as('portolan'), { ...real, replica: name, actor: name, migrations: steps });
  await server.query(example('roles.sql'));
  await migrate();
  await grant();
  const schema = async () => Number((await server.query("SELECT v FROM portolan.meta WHERE k = 'schema'"))[0]?.['v']);
  return { server, migrate, grant, replica, schema };
}

const east = (n: number) =>
  transaction([record('old'), { op: 'set-fact', key: 'one', value: `${n}` }], 'platform:east');

test('the owner makes a step that only expands while a replica leads and writes, and a newer replica starts', async () => {
  const { migrate, grant, replica, schema } = await withRoles();
  const old = await replica('old');
  const lead = await old.lead('platform:east');
  await lead?.ledger.commit(east(1));
  // Two jobs may run at once.
  const [first, second] = await Promise.all([migrate(expanding), migrate(expanding)]);
  expect([first, await schema()]).toEqual([second, step.to]);
  await lead?.ledger.commit(east(2));
  await grant();
  const next = await replica('next', expanding);
  await lead?.ledger.commit(east(3));
  expect([...(await next.factsSince(0, ['one'])).facts]).toEqual([['one', '3']]);
  await lead?.ledger.close();
  await (await next.lead('platform:east'))?.ledger.commit(east(4));
  await old.close();
  expect(await migrate(expanding)).toEqual({ ...first, epoch: first.epoch + 1 });
  await next.close();
});

test('a step that does not only expand is refused as long as a replica leads', async () => {
  const { migrate, replica, schema } = await withRoles();
  const old = await replica('old');
  await old.lead('platform:east');
  const refused = await errorOf(migrate([...expanding, { ...step, to: step.to + 1, sql: 'DROP TABLE extra' }]));
  expect([refused.code, refused.disposition, refused.message]).toEqual([
    'ledger/locked',
    'locked',
    expect.stringContaining('held by old'),
  ]);
  expect(await schema()).toBe(newestSchema(migrations));
  await old.close();
});

test('a step that waits for a long reader does not keep a replica from writing', async () => {
  const { server, migrate, replica, schema } = await withRoles();
  const old = await replica('old');
  const lead = await old.lead('platform:east');
  const backup = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'administrator', database: 'portolan' });
  await backup.connect();
  await backup.query('BEGIN; SELECT count(*) FROM portolan.fact');
  const migrated = migrate(expanding);
  const isWaiting = async () =>
    (await server.query('SELECT 1 FROM pg_locks WHERE NOT granted AND relation IS NOT NULL')).length > 0;
  while (!(await isWaiting()));
  await lead?.ledger.commit(east(1));
  expect(await schema()).toBe(newestSchema(migrations));
  await backup.end();
  await migrated;
  expect(await schema()).toBe(step.to);
  await lead?.ledger.commit(east(2));
  await old.close();
});

test('the files with roles and grants change nothing if one of their statements fails', async () => {
  const { server } = await withRoles();
  const granted = () =>
    server.query(
      "SELECT table_name, privilege_type FROM information_schema.role_table_grants WHERE grantee = 'portolan' ORDER BY 1, 2",
    );
  await server.query('ALTER TABLE portolan.session RENAME TO absent');
  const before = await granted();
  // As psql sends them: one after another, past the one that fails.
  const statement = /^[^-\s][^;]*;/gm;
  for (const [name, fault] of [
    ['grants.sql', 'portolan.session'],
    ['roles.sql', 'portolan'],
  ] as const) {
    const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'administrator', database: 'portolan' });
    await client.connect();
    if (name === 'roles.sql') await client.query('ALTER ROLE portolan_owner RENAME TO former_owner');
    const text = readFileSync(new URL(`../../examples/postgres/${name}`, import.meta.url), 'utf8');
    const faults: string[] = [];
    for (const [sql] of text.matchAll(statement))
      await client.query(sql).catch((error: Error) => faults.push(error.message));
    expect(faults[0], name).toContain(fault);
    await client.end();
  }
  expect(await granted()).toEqual(before);
  expect(await server.query("SELECT 1 FROM pg_roles WHERE rolname = 'portolan_owner'")).toEqual([]);
});
