import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { textOf } from '../docs/markdown.ts';
import { until } from '../processes/place.ts';
import { postgresUrl } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedPort, trusting } from '../support/postgres-shared.ts';
import { real } from './fixtures.ts';

/** How many connections a process has while all its statements wait, so that the limits of a database can be planned. */

/** A ledger of a role of its own, whose statements wait from `hold` until `free`. */
async function crowded() {
  const schema = freshSchema();
  const role = `crowd_${schema}`;
  await querySharedServer(`CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE portolan TO ${role}`);
  const port = await sharedPort();
  const client = new pg.Client(postgresUrl(port, schema));
  await client.connect();
  onTestFinished(() => client.end());
  return {
    access: trusting(postgresUrl(port, schema, role)),
    hold: async () => client.query(`BEGIN; LOCK TABLE ${schema}.history`),
    free: async () => client.query('COMMIT'),
    count: async (): Promise<number> => {
      const [row] = await querySharedServer(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename = '${role}'`,
      );
      return Number(row?.['count']);
    },
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
  await hold();
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
  await hold();
  const reads = MANY.map(async () => ledger.history({ limit: 1 }));
  await until(async () => (await count()) >= 4);
  expect(await count()).toBeLessThanOrEqual(most);
  await free();
  await Promise.all(reads);
  await ledger.close();
});
