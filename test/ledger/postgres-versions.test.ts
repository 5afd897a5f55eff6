import { expect, test } from 'vitest';
import { type Migration, migrations, newestSchema } from '../../src/ledger/migrations.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import type { SharedLedger } from '../../src/ledger/shared.ts';
import { freshSchema, querySharedServer, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { codeOf, errorOf, real, record, transaction } from './fixtures.ts';

/** Two versions of Portolan that run together: the older one is this version, and the newer one has one step more. */

const step: Migration = {
  to: newestSchema(migrations) + 1,
  sql: 'ALTER TABLE fact ADD COLUMN note TEXT; CREATE TABLE extra (n INTEGER NOT NULL) STRICT;',
};

async function opened(schema: string, replica: string, steps = migrations): Promise<SharedLedger> {
  const options = { ...real, replica, actor: replica, leaseMs: 3_000, migrations: steps };
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
