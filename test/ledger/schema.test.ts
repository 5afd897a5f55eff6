import { expect, test } from 'vitest';
import type { HistoryRow } from '../../src/model/owned.ts';
import {
  historyColumns,
  historyOf,
  intentOf,
  intentRow,
  objectOf,
  objectRow,
  snapshotOf,
  snapshotRow,
} from '../../src/ledger/schema.ts';
import { intent, object, shop, snapshot } from './fixtures.ts';

/** A row as a driver gives it whose 64-bit integers are text. */
function withTexts<Row extends object>(row: Row): Row {
  const texts = Object.entries(row).map(([column, value]) => [
    column,
    typeof value === 'number' ? String(value) : value,
  ]);
  return Object.fromEntries(texts) as Row;
}

const line: HistoryRow = {
  serial: 7,
  scope: shop,
  atMs: 1_790_000_000_000,
  actor: 'test',
  event: 'applied',
  uid: null,
  detail: { n: 1 },
  previousHash: 'a',
  hash: 'b',
};
const lineRow = {
  ...Object.fromEntries(
    Object.entries(historyColumns).map(([column, field]) => [
      column,
      field === 'detail' ? JSON.stringify(line.detail) : line[field],
    ]),
  ),
  line: 3,
  objects: null,
} as unknown as Parameters<typeof historyOf>[0];

test.for([
  ['an object', object({ failures: 3 }), objectOf(withTexts(objectRow(object({ failures: 3 }), 5)))],
  ['an intent', intent({ settleMs: 12 }), intentOf(withTexts(intentRow(intent({ settleMs: 12 }), 5)))],
  ['a snapshot', snapshot(), snapshotOf(withTexts(snapshotRow(snapshot(), 5)))],
  ['a line of the history', line, historyOf(withTexts(lineRow))],
] as const)('%s has numbers, whatever the driver gives for them', ([, expected, found]) => {
  expect(found).toEqual(expected);
});

test.for([true, false])('pruneOk: %s of a snapshot stays what it is, whatever the driver gives for it', (pruneOk) => {
  const row = snapshotRow(snapshot({ pruneOk }), 5);
  expect(snapshotOf(row).pruneOk).toBe(pruneOk);
  expect(snapshotOf(withTexts(row)).pruneOk).toBe(pruneOk);
});
