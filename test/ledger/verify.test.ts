import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { chainHash } from '../../src/ledger/inventory.ts';
import type { HistoryTable } from '../../src/ledger/schema.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { verifySqliteLedger } from '../../src/ledger/verify.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { blog, object, real, record, shop, temporaryDirectory, transaction } from './fixtures.ts';

const day = 86_400_000;

/** A ledger with two scopes, part of whose history was compacted away in two rounds. */
async function usedLedger(path: string): Promise<void> {
  const ledger = await openSqliteLedger(path, real);
  await ledger.commit({ ...transaction([record('kept for ever', 'seldom')]), atMs: 0 });
  for (let n = 1; n <= 8; n += 1) {
    const operations = [record(`first ${n}`, object().uid), record(`second ${n}`)];
    await ledger.commit({ ...transaction(operations, n % 3 === 0 ? blog : shop), atMs: n * day });
  }
  await ledger.compact({ nowMs: 93 * day, actor: 'test', keepPerObject: 4 });
  await ledger.commit({ ...transaction([record('between', object().uid)]), atMs: 94 * day });
  await ledger.compact({ nowMs: 97 * day, actor: 'test', keepPerObject: 2 });
  await ledger.commit({ ...transaction([record('last')]), atMs: 97 * day });
  await ledger.close();
}

test('a ledger is sound as it was written, while in use and after compaction', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  expect(verifySqliteLedger(path)).toEqual([]);
  const ledger = await openSqliteLedger(path, real);
  await ledger.commit(transaction([record('more')]));
  expect(verifySqliteLedger(path)).toEqual([]);
  await ledger.close();
});

test('flipping any byte of any row of the history is found', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  const raw = new DatabaseSync(path);
  const columns = raw
    .prepare("SELECT name FROM pragma_table_info('history')")
    .all()
    .map(({ name }) => String(name));
  const rows = raw.prepare('SELECT * FROM history').all();
  expect([columns.length, rows.length]).toEqual([11, 10]);
  let flips = 0;
  for (const row of rows) {
    for (const column of columns) {
      const value = row[column];
      if (value === null || value === undefined) continue;
      const set = raw.prepare(`UPDATE OR IGNORE history SET "${column}" = ? WHERE scope = ? AND line = ?`);
      const variants = typeof value === 'number' ? numberFlips(value) : textFlips(String(value));
      for (const changed of variants) {
        const key = [row.scope as string, row.line as number] as const;
        const { changes } = set.run(changed, ...key);
        if (changes === 0) continue; // It would collide with another line's key.
        const findings = verifySqliteLedger(path);
        expect(
          findings.length,
          `${column} of line ${key[1]} in ${key[0]}: ${String(value)} → ${changed}`,
        ).toBeGreaterThan(0);
        flips += 1;
        set.run(
          value as string,
          column === 'scope' ? String(changed) : key[0],
          column === 'line' ? Number(changed) : key[1],
        );
      }
    }
  }
  raw.close();
  expect(flips).toBeGreaterThan(150);
  expect(verifySqliteLedger(path)).toEqual([]);
});

/** One bit of the first, a middle and the last byte. */
function textFlips(text: string): string[] {
  const places = [0, Math.floor(text.length / 2), text.length - 1];
  return places.map((at) => text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1));
}

function numberFlips(value: number): number[] {
  return [value ^ 1, value ^ 64, value + 2 ** 40];
}

test.for([
  [
    'the newest line is deleted',
    `DELETE FROM history WHERE scope = '${shop}' AND line = (SELECT max(line) FROM history WHERE scope = '${shop}')`,
    /ends at line/,
  ],
  [
    'a line in the middle is deleted',
    `DELETE FROM history WHERE scope = '${shop}' AND event = 'between'`,
    /are missing/,
  ],
  ['a whole scope is deleted', `DELETE FROM history WHERE scope = '${blog}'`, /ends at line 0/],
  ['the length of a history is forgotten', `DELETE FROM chain WHERE scope = '${blog}'`, /does not say how long/],
  ['what compaction wrote is deleted', "DELETE FROM history WHERE event = 'ledger.compacted'", /are missing/],
  ['the serial goes back', "UPDATE meta SET v = '3' WHERE k = 'serial'", /later than the ledger's own 3/],
] as const)('it is found when %s', async ([, sql, message]) => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  const raw = new DatabaseSync(path);
  raw.exec(sql);
  raw.close();
  expect(
    verifySqliteLedger(path)
      .map((finding) => finding.message)
      .join('\n'),
  ).toMatch(message);
});

test('a line that was rewritten together with its own hash is found by the lines around it, wherever it stands', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  const raw = new DatabaseSync(path);
  const rows = raw.prepare('SELECT * FROM history').all() as unknown as HistoryTable[];
  const set = raw.prepare('UPDATE history SET event = ?, prev_hash = ?, hash = ? WHERE scope = ? AND line = ?');
  for (const row of rows) {
    const { scope, line, serial, actor, uid, detail, at_ms: atMs } = row;
    for (const previous of [row.prev_hash, 'f'.repeat(64)]) {
      const forged = chainHash(previous, { scope, line, serial, atMs, actor, event: 'forged', uid, detail });
      set.run('forged', previous, forged, scope, line);
      expect(verifySqliteLedger(path), `line ${line} of ${scope}`).not.toEqual([]);
      set.run(row.event, row.prev_hash, row.hash, scope, line);
    }
  }
  raw.close();
  expect(verifySqliteLedger(path)).toEqual([]);
});

test('a chain stays whole when compaction comes back after the traces of the first one have aged', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  const ledger = await openSqliteLedger(path, real);
  const { history } = await ledger.compact({ nowMs: 1_000 * day, actor: 'test', keepPerObject: 1 });
  expect(history).toBeGreaterThan(0);
  expect(verifySqliteLedger(path)).toEqual([]);
  await ledger.close();
});

test('a file that is no database is a finding, and one that is missing an error', () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  expect(() => verifySqliteLedger(path)).toThrow(PortolanError);
  writeFileSync(path, 'x'.repeat(5000));
  expect(verifySqliteLedger(path)).toMatchObject([{ area: 'structure' }]);
});
