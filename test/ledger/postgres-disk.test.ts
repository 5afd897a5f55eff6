import { expect, onTestFinished, test } from 'vitest';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { verifyPostgresLedger } from '../../src/ledger/postgres/verify.ts';
import { canMountDisks, PostgresServer } from '../support/postgres.ts';
import { trusting } from '../support/postgres-shared.ts';
import { codeOf, intent, real, record, transaction } from './fixtures.ts';

const UNIT = 'platform:east';
const SCOPE = 'east/team-a/region-1/42';

// An ordinary user cannot make a disk of its own.
test.skipIf(!canMountDisks())(
  'a full disk of the database refuses transactions as a whole, until there is space',
  async () => {
    const server = await PostgresServer.create({ diskMib: 320, settings: ['max_wal_size=64MB', 'min_wal_size=32MB'] });
    onTestFinished(() => server.remove());
    const access = trusting(server.url('full'));
    const ledger = await openSharedLedger(access, { ...real, replica: 'one' });
    onTestFinished(() => ledger.close());
    const lead = await ledger.lead(UNIT);
    if (lead === undefined) throw new Error('nobody else can have it');
    let count = 0;
    const commit = (): Promise<void> => {
      count += 1;
      const opened = intent({ id: `${count}`, uid: `${count}`, scope: SCOPE, epoch: lead.ledger.epoch });
      return lead.ledger.commit(transaction([{ op: 'open-intent', intent: opened }, record('x'.repeat(2_000))], SCOPE));
    };
    await commit();
    const free = server.fillDisk();
    let code: string | undefined;
    while (code === undefined && count < 10_000) code = await codeOf(commit());
    expect(code).toBe('ledger/full');
    expect(await ledger.reader.intents({}), 'all but the last one').toHaveLength(count - 1);
    free();
    await commit();
    expect(await ledger.reader.intents({})).toHaveLength(count - 1);
    expect((await verifyPostgresLedger(access)).findings).toEqual([]);
  },
);
