import { expect, test } from 'vitest';
import { historyRows, historyRowsOf, historyWithin } from '../../src/ledger/history-rows.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { real, record, shop, transaction } from './fixtures.ts';

const PAGES = 4;

/** A ledger with some pages of rows, in transactions of this size. */
async function longHistory(rowsOfTransaction: number): Promise<Ledger> {
  const ledger = await openSqliteLedger(':memory:', real);
  for (let rows = 0; rows < PAGES * 1_000; rows += rowsOfTransaction)
    await ledger.commit(transaction(Array.from({ length: rowsOfTransaction }, (_, at) => record(`row-${rows + at}`))));
  return ledger;
}

test('other work runs while rows are searched in a long history: a ledger in a file blocks the process', async () => {
  const ledger = await longHistory(500);
  const searches = {
    'one resource': () =>
      Array.fromAsync(historyRowsOf(ledger, { scope: shop, resource: 'Port/none', limit: 1, pause })),
    'some of very many scopes': () => historyWithin(manyScopes(ledger), (scope) => scope !== shop, { limit: 1, pause }),
  };
  const pause = (): Promise<void> => systemClock.sleep(0);
  for (const [name, search] of Object.entries(searches)) {
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setTimeout(turn, 0);
    };
    setTimeout(turn, 0);
    expect(await search(), name).toEqual([]);
    isOver = true;
    expect(turns, name).toBeGreaterThanOrEqual(PAGES - 1);
  }
  await ledger.close();
});

/** The ledger, as if it had more scopes than a statement can name. */
function manyScopes(ledger: Ledger): Ledger {
  return {
    ...ledger,
    history: (filter) => ledger.history(filter),
    scopes: async () => Array.from({ length: 6_000 }, (_, at) => `default/team/region/${at}`),
  };
}

test('all rows of a scope are found, also of a transaction that is longer than a page', async () => {
  const ledger = await longHistory(2_500);
  const events = (await Array.fromAsync(historyRows(ledger, shop))).map(({ event }) => event);
  const written = Array.from({ length: 5_000 }, (_, at) => `row-${at}`);
  expect(events).toEqual(written.toReversed());
  await ledger.close();
});
