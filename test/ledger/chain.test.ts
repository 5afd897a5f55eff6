import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KnownHeads } from '../../src/ledger/chain.ts';
import type { Ledger, LedgerOperation } from '../../src/ledger/ledger.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { verifyPostgresLedger } from '../../src/ledger/postgres/verify.ts';
import type { SqlLedger } from '../../src/ledger/sql-ledger.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { verifySqliteLedger } from '../../src/ledger/verify.ts';
import { sharedUrl, trusting } from '../support/postgres-shared.ts';
import { blog, codeOf, intent, real, record, temporaryDirectory, transaction } from './fixtures.ts';

/** A process remembers where the chains of its scopes end. What it remembers may be wrong, and the chain may not. */

const open: LedgerOperation = { op: 'open-intent', intent: intent() };

const kinds = [
  {
    name: 'a file',
    create: async () => {
      const directory = temporaryDirectory();
      onTestFinished(() => directory[Symbol.dispose]());
      const path = join(directory.path, 'ledger.db');
      return { ledger: await openSqliteLedger(path, real), findings: async () => verifySqliteLedger(path) };
    },
  },
  {
    name: 'PostgreSQL',
    create: async () => {
      const access = trusting(await sharedUrl());
      return {
        ledger: await openPostgresLedger(access, real),
        findings: async () => (await verifyPostgresLedger(access)).findings,
      };
    },
  },
];

const events = async (ledger: Ledger): Promise<readonly string[]> =>
  (await ledger.history({ limit: 20 })).map(({ event }) => event).toReversed();

test.for(kinds)(
  'in $name, the chain goes on after commits that overlap, that are refused, and compaction',
  async ({ create }) => {
    const { ledger, findings }: { readonly ledger: SqlLedger; readonly findings: () => Promise<readonly unknown[]> } =
      await create();
    onTestFinished(() => ledger.close());
    await ledger.commit(transaction([open, record('opened')]));
    const overlapping = ['one', 'two', 'three'].map((event) =>
      ledger.commit(transaction([record(event), record('more')])),
    );
    await Promise.all([...overlapping, ledger.commit(transaction([record('other')], blog))]);
    expect(await codeOf(ledger.commit(transaction([record('never'), open])))).toBe('ledger/conflict');
    await ledger.commit(transaction([record('after the refusal')]));
    expect(await events(ledger)).toEqual([
      'opened',
      'one',
      'more',
      'two',
      'more',
      'three',
      'more',
      'other',
      'after the refusal',
    ]);
    expect(await findings()).toEqual([]);

    await ledger.compact({ nowMs: 1e12, actor: 'test', keepMs: 1, keepPerObject: 0 });
    const compacted = await events(ledger);
    await ledger.commit(transaction([record('after compaction')]));
    expect(await events(ledger)).toEqual([...compacted, 'after compaction']);
    expect(compacted).toContain('ledger.compacted');
    expect(await findings()).toEqual([]);
  },
);

test('the end of a chain is kept for the scopes that were written last', () => {
  const heads = new KnownHeads();
  const head = { lines: 1, hash: 'a' };
  for (let n = 0; n < 1_000; n += 1) heads.keep(`scope ${n}`, head);
  heads.keep('scope 0', { lines: 2, hash: 'b' });
  heads.keep('scope 1000', head);
  expect([heads.get('scope 0'), heads.get('scope 1'), heads.get('scope 2')]).toEqual([
    { lines: 2, hash: 'b' },
    undefined,
    head,
  ]);
});
