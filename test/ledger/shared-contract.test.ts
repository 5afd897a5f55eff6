import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { freshSchema, querySharedServer, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { real, stillClock } from './fixtures.ts';
import { sharedContract } from './shared-contract.ts';

sharedContract('PostgreSQL', async () => {
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  return {
    open: (replica) => openSharedLedger(access, { ...real, clock: stillClock, replica, actor: `test ${replica}` }),
    expire: async (unit) => {
      await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = 1 WHERE scope = '${unit}'`);
    },
  };
});
