import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { hasPgBouncer, PgBouncer } from '../support/pgbouncer.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { freshSchema, trusting } from '../support/postgres-shared.ts';
import { real, stillClock } from './fixtures.ts';
import { sharedContract } from './shared-contract.ts';
import { leadOf } from './shared-steps.ts';

/** What the page for several controllers says of PgBouncer, with a real one, where one is installed. */
describe.skipIf(!hasPgBouncer())('through PgBouncer in transaction mode', () => {
  let server: PostgresServer;
  let pooler: PgBouncer;
  beforeAll(async () => {
    server = await PostgresServer.create();
    pooler = await PgBouncer.before(server, 1);
  });
  afterAll(async () => {
    await pooler?.stop();
    await server?.remove();
  });

  sharedContract(
    'PostgreSQL',
    async () => {
      const schema = freshSchema();
      const access = trusting(postgresUrl(pooler.port, schema));
      return {
        open: (replica, source) =>
          openSharedLedger(access, { ...real, clock: stillClock, replica, actor: `test ${replica}`, source }),
        expire: async (unit) => {
          await server.query(`UPDATE ${schema}.lease SET expires_ms = 1 WHERE scope = '${unit}'`);
        },
        setClock: async (byMs) => {
          await server.query(`UPDATE ${schema}.replica SET seen_ms = seen_ms - (${byMs})`);
        },
      };
    },
    false,
  );

  test.for([
    { loginRetryS: 1, lives: true },
    { loginRetryS: 15, lives: false },
  ])('a lease through a restart of the database, with server_login_retry = $loginRetryS: $lives', async (setting) => {
    const slow = await PgBouncer.before(server, setting.loginRetryS);
    const ledger = await openSharedLedger(trusting(postgresUrl(slow.port, freshSchema())), { ...real, replica: 'one' });
    try {
      const lead = await leadOf(ledger, 'platform:east');
      await server.stop('SIGINT');
      // Long enough for a renewal that finds no server.
      await sleep(7_000);
      await server.start();
      await sleep(12_000);
      expect(lead.validUntilMs() > real.clock.monotonic()).toBe(setting.lives);
    } finally {
      await ledger.close();
      await slow.stop();
    }
  });
});
