import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { verifySqliteLedger } from '../../src/ledger/verify.ts';
import { runHere } from '../cli/running.ts';
import { blog, codeOf, object, real, record, shop, temporaryDirectory, transaction } from './fixtures.ts';

const DAY_MS = 86_400_000;
const other = object({ naturalKey: 'svc/8080/other.example.test/', resource: 'HttpGatewayRule/other' });
const elsewhere = object({ scope: blog });

/** A ledger with three objects in two scopes, one that was dropped, and one that was changed without a word. */
async function usedLedger(path: string): Promise<void> {
  const ledger = await openSqliteLedger(path, real);
  const gone = object({ naturalKey: 'svc/8080/gone.example.test/' });
  await ledger.commit(transaction([{ op: 'put-object', object: object() }, record('created', object().uid)]));
  await ledger.commit(transaction([{ op: 'put-object', object: other }, record('created', other.uid)]));
  await ledger.commit(transaction([{ op: 'put-object', object: gone }, record('created', gone.uid)]));
  await ledger.commit(transaction([{ op: 'put-object', object: elsewhere }, record('created', elsewhere.uid)], blog));
  await ledger.commit(transaction([{ op: 'put-object', object: { ...object(), failures: 2 } }]));
  await ledger.commit(transaction([{ op: 'drop-object', uid: gone.uid }, record('forgotten', gone.uid)]));
  await ledger.close();
}

function edit(path: string, sql: string): void {
  const raw = new DatabaseSync(path);
  raw.exec(sql);
  raw.close();
}

function findings(path: string): string {
  return verifySqliteLedger(path)
    .map(({ area, scope, message }) => `${area} ${scope ?? '-'}: ${message}`)
    .join('\n');
}

const where = `WHERE uid = '${other.uid}'`;
const columns =
  'platform, source, kind, resource, remote_id, remote_aux, origin, state, last_applied, obligation, failures, last_snapshot, serial';
const insertCopy = `INSERT INTO object (uid, scope, natural_key, ${columns})
  SELECT 'default:${shop}:HttpGatewayRule:forged', scope, 'forged', ${columns} FROM object ${where}`;

test.for([
  ['deleted', `DELETE FROM object ${where}`, `${shop}: ${other.uid}, recorded in line 2, is missing`],
  ['inserted', insertCopy, ':HttpGatewayRule:forged is in no line of the history'],
  [
    'given another origin',
    `UPDATE object SET origin = 'adopted' ${where}`,
    'recorded it (origin adopted, id rule-1 now)',
  ],
  [
    'given another id',
    `UPDATE object SET remote_id = 'rule-2' ${where}`,
    'recorded it (origin created, id rule-2 now)',
  ],
  ['moved to another scope', `UPDATE object SET scope = '${blog}' ${where}`, `${blog}: ${other.uid} is in no`],
  ['given other fields', `UPDATE object SET last_applied = '{}' ${where}`, `${other.uid} is not as line 2 recorded it`],
  ['given an obligation', `UPDATE object SET obligation = '{"outer":true}' ${where}`, `${other.uid} is not as line 2`],
] as const)('an object that was %s is found', async ([, sql, message]) => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  expect(findings(path)).toBe('');
  edit(path, sql);
  expect(findings(path)).toContain(message);
  const run = await runHere(['ledger', 'verify', '--ledger', path]);
  expect(run.code).toBe(1);
  expect(run.out).toContain(message);
});

test('a history that was truncated together with its length is found by the objects', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  edit(
    path,
    `DELETE FROM history WHERE scope = '${shop}' AND line >= 2;
     UPDATE chain SET lines = 1, hash = (SELECT hash FROM history WHERE scope = '${shop}' AND line = 1) WHERE scope = '${shop}'`,
  );
  expect(findings(path)).toContain(`inventory ${shop}: ${other.uid} is in no line of the history`);
});

test('the seal of an object cannot be changed with the object', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  edit(path, `UPDATE history SET objects = '[]' WHERE line = 2 AND scope = '${shop}'; DELETE FROM object ${where}`);
  expect(findings(path)).toContain('chain default/team-a/region-1/42: line 2');
});

test('a schema from the future is found, and restoring such a backup says which version it needs', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  edit(path, "UPDATE meta SET v = '99' WHERE k = 'schema'");
  expect(findings(path)).toContain('schema -: the ledger has schema 99, and this version of Portolan knows up to');
  const { restoreLedger } = await import('../../src/ledger/backup.ts');
  expect(await codeOf(restoreLedger(join(directory.path, 'new.db'), path, real))).toBe('ledger/newer');
});

test.for([
  ['an index', 'DROP INDEX intent_one_install', 'schema -: the index intent_one_install is missing'],
  ['a table', 'ALTER TABLE object RENAME TO things', 'schema -: the table object is missing'],
  [
    'a trigger',
    'CREATE TRIGGER t AFTER INSERT ON intent BEGIN DELETE FROM object; END',
    'the trigger t does not belong',
  ],
] as const)('%s that differs from the schema is found', async ([, sql, message]) => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  edit(path, sql);
  expect(findings(path)).toContain(message);
});

test('the objects stay covered when the lines about them are compacted away, and an earlier change is not forgiven', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  await usedLedger(path);
  for (const round of [1, 2]) {
    const ledger = await openSqliteLedger(path, real);
    const { history } = await ledger.compact({ nowMs: 1_000 * round * DAY_MS, actor: 'test', keepPerObject: 0 });
    expect(history).toBeGreaterThan(round === 1 ? 5 : -1);
    expect(findings(path)).toBe('');
    await ledger.commit(transaction([{ op: 'put-object', object: { ...elsewhere, failures: round } }], blog));
    expect(findings(path)).toBe('');
    await ledger.close();
  }
  edit(path, `UPDATE object SET origin = 'adopted' ${where}`);
  expect(findings(path)).toContain('(origin adopted, id rule-1 now)');
  const ledger = await openSqliteLedger(path, real);
  await ledger.compact({ nowMs: 5_000 * DAY_MS, actor: 'test', keepPerObject: 0 });
  await ledger.close();
  expect(findings(path)).toContain('(origin adopted, id rule-1 now)');
});

test('a ledger from before is not accused: it is covered from its first opening on, and verify says since when', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  edit(path, readFileSync(join(import.meta.dirname, 'at-540081a', 'extended.sql'), 'utf8'));
  const before = await runHere(['ledger', 'verify', '--ledger', path]);
  expect(before.code, before.out).toBe(0);
  expect(before.out).toContain('Its objects could not be checked');

  await (await openSqliteLedger(path, real)).close();
  const after = await runHere(['ledger', 'verify', '--ledger', path]);
  expect(after.code, after.out).toBe(0);
  expect(after.out).toMatch(/Its \d+ objects are as recorded since serial \d+; earlier changes are not covered\./);
  edit(path, "DELETE FROM object WHERE kind = 'HttpGatewayRule'");
  expect(findings(path)).toMatch(/^inventory .* is missing$/m);
});
