import { LEASE_MS } from '../../src/ledger/postgres/lease.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { MemoryDatabase } from '../support/memory-database.ts';
import { MemoryStore } from '../support/memory-ledger.ts';
import { openMemoryShared } from '../support/memory-shared.ts';
import { freshSchema, querySharedServer, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { real, stillClock } from './fixtures.ts';
import { sharedContract } from './shared-contract.ts';

sharedContract('PostgreSQL', async () => {
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  return {
    open: (replica, source) =>
      openSharedLedger(access, { ...real, clock: stillClock, replica, actor: `test ${replica}`, source }),
    expire: async (unit) => {
      await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = 1 WHERE scope = '${unit}'`);
    },
    setClock: async (byMs) => {
      await querySharedServer(`UPDATE ${schema}.replica SET seen_ms = seen_ms - (${byMs})`);
    },
  };
});

sharedContract('memory', async () => {
  let nowMs = 1_000;
  const database = new MemoryDatabase(new MemoryStore('lineage'), () => nowMs);
  return {
    open: async (replica, source) =>
      openMemoryShared(database, { ...real, clock: stillClock, replica, actor: `test ${replica}`, source }),
    expire: async () => {
      nowMs += LEASE_MS;
    },
    setClock: async (byMs) => {
      nowMs += byMs;
    },
  };
});
