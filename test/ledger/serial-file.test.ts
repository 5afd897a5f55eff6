import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backUpLedger, restoreLedger } from '../../src/ledger/backup.ts';
import { awaitsConfirmation, confirmScope } from '../../src/ledger/confirmation.ts';
import { copyLedger } from '../../src/ledger/copy.ts';
import { filePlace } from '../../src/ledger/file-place.ts';
import type { LedgerOperation } from '../../src/ledger/ledger.ts';
import { readSerialMark, serialPath } from '../../src/ledger/serial-file.ts';
import { openSqliteLedger, type SqliteLedgerOptions } from '../../src/ledger/sqlite.ts';
import { seededRandom, VirtualClock } from '../support/virtual-clock.ts';
import { temporaryFolder } from '../cli/platform.ts';
import { codeOf, errorOf, intent as intentOf } from './fixtures.ts';

const SCOPE = 'default/team-a/region-1/42';

function options(changes: Partial<SqliteLedgerOptions> = {}): SqliteLedgerOptions {
  return { clock: new VirtualClock(), random: seededRandom(1), actor: 'test', ...changes };
}

const note: LedgerOperation = { op: 'record', event: 'note', detail: {} };

/** Opens the ledger, commits so often, and closes it. */
async function written(path: string, commits: number, changes: Partial<SqliteLedgerOptions> = {}): Promise<void> {
  const ledger = await openSqliteLedger(path, options(changes));
  for (let commit = 0; commit < commits; commit += 1)
    await ledger.commit({ scope: SCOPE, actor: 'test', atMs: 1, operations: [note] });
  await ledger.close();
}

async function awaits(path: string, changes: Partial<SqliteLedgerOptions> = {}): Promise<boolean> {
  const ledger = await openSqliteLedger(path, options(changes));
  try {
    return await awaitsConfirmation(ledger, SCOPE);
  } finally {
    await ledger.close();
  }
}

test('the mark beside a ledger has its lineage, serial and epoch, for its owner only', async () => {
  const path = join(temporaryFolder(), 'ledger.db');
  await written(path, 3);
  const mark = readSerialMark(path);
  expect(mark).toMatchObject({ serial: 3, epoch: 1 });
  expect(readFileSync(serialPath(path), 'utf8')).toContain(mark?.lineage);
  expect(statSync(serialPath(path)).mode & 0o777).toBe(0o600);
  await written(path, 1);
  expect(readSerialMark(path)).toEqual({ ...mark, serial: 4, epoch: 2 });
});

test.for([1, 5])('an older copy in the place of a ledger, by %i commits, is treated as restored', async (missing) => {
  const path = join(temporaryFolder(), 'ledger.db');
  await written(path, 2);
  copyFileSync(path, `${path}.old`);
  await written(path, missing);
  copyFileSync(`${path}.old`, path);
  const found: unknown[] = [];
  const onOlder = (facts: unknown): void => void found.push(facts);
  expect(await awaits(path, { readOnly: true, onOlder })).toBe(true);
  expect(await awaits(path, { onOlder })).toBe(true);
  const facts = { path, serial: 2, expected: 2 + missing };
  expect(found).toEqual([facts, facts]);
  // It goes on above both, is not found again, and still waits.
  found.length = 0;
  const ledger = await openSqliteLedger(path, options({ onOlder }));
  expect(found).toEqual([]);
  expect(await awaitsConfirmation(ledger, SCOPE)).toBe(true);
  const [row] = await ledger.history({ scope: SCOPE, limit: 1 });
  expect(row).toMatchObject({ event: 'ledger.restored', detail: { serial: 2, expected: 2 + missing } });
  expect(row?.serial).toBeGreaterThan(2 + missing);
  await ledger.commit({
    scope: SCOPE,
    actor: 'a person',
    atMs: 1,
    operations: [confirmScope(SCOPE, ledger.epoch)],
  });
  expect(await awaitsConfirmation(ledger, SCOPE)).toBe(false);
  await ledger.close();
  expect(await awaits(path)).toBe(false);
});

test('an older copy is copied elsewhere only once it is noted as restored, and its copy waits too', async () => {
  const path = join(temporaryFolder(), 'ledger.db');
  const [elsewhere, clock] = [`${path}.elsewhere`, new VirtualClock()];
  const copied = () => copyLedger(filePlace(path, seededRandom(2)), filePlace(elsewhere, seededRandom(3)), clock);
  await written(path, 2);
  copyFileSync(path, `${path}.old`);
  await written(path, 1);
  copyFileSync(`${path}.old`, path);
  const error = await errorOf(copied());
  expect([error.code, error.disposition]).toEqual(['ledger/older-copy', 'ask-human']);
  expect(error.message).toContain(`at transaction 2, and ${path}.serial says that it was at 3.`);
  expect(existsSync(elsewhere)).toBe(false);
  // As `ledger migrate` does, which the error names.
  await written(path, 0);
  await copied();
  expect(await awaits(elsewhere)).toBe(true);
});

test('what a scope was confirmed for before does not hold for an older copy', async () => {
  const path = join(temporaryFolder(), 'ledger.db');
  const ledger = await openSqliteLedger(path, options());
  await ledger.commit({ scope: SCOPE, actor: 'x', atMs: 1, operations: [note, confirmScope(SCOPE, ledger.epoch)] });
  await ledger.close();
  copyFileSync(path, `${path}.old`);
  await written(path, 1);
  copyFileSync(`${path}.old`, path);
  expect(await awaits(path)).toBe(true);
});

test('a ledger that is ahead of its mark, as after a crash between the two, is not treated as restored', async () => {
  const path = join(temporaryFolder(), 'ledger.db');
  await written(path, 2);
  const before = readFileSync(serialPath(path));
  await written(path, 3);
  writeFileSync(serialPath(path), before);
  expect(await awaits(path)).toBe(false);
  expect(readSerialMark(path)).toMatchObject({ serial: 5 });
});

test('the mark is written before the commit of an install returns, and a copy without that intent is noticed', async () => {
  const path = join(temporaryFolder(), 'ledger.db');
  await written(path, 1);
  copyFileSync(path, `${path}.old`);
  const ledger = await openSqliteLedger(path, options());
  const intent = intentOf({
    scope: SCOPE,
    epoch: ledger.epoch,
    operation: 'install',
    idempotence: 'duplicate-accepting',
  });
  await ledger.commit({ scope: SCOPE, actor: 'test', atMs: 1, operations: [{ op: 'open-intent', intent }] });
  // Here the process dies.
  expect(readSerialMark(path)).toMatchObject({ serial: 2 });
  await ledger.close();
  copyFileSync(`${path}.old`, path);
  expect(await awaits(path)).toBe(true);
});

test.for([0, 2])(
  'a ledger returns to its former path after %i commits elsewhere, and the mark there may stay',
  async (commits) => {
    const folder = temporaryFolder();
    const path = join(folder, 'ledger.db');
    const elsewhere = join(folder, 'elsewhere.db');
    const place = (file: string) => filePlace(file, seededRandom(2));
    const clock = new VirtualClock();
    await written(path, 3);
    await copyLedger(place(path), place(elsewhere), clock);
    await written(elsewhere, commits);
    expect(await codeOf(copyLedger(place(elsewhere), place(path), clock))).toBe('ledger/not-empty');
    for (const suffix of ['', '-wal', '-shm'])
      if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${path}.retired${suffix}`);
    expect(readSerialMark(path)).toMatchObject({ serial: 3 });
    await copyLedger(place(elsewhere), place(path), clock);
    const found: unknown[] = [];
    expect(await awaits(path, { onOlder: (facts) => found.push(facts) })).toBe(false);
    expect(found).toEqual([]);
    expect(readSerialMark(path)).toMatchObject({ serial: 3 + commits });
  },
);

test.for([
  ['is not there', (path: string) => rmSync(path)],
  ['is empty', (path: string) => writeFileSync(path, '')],
  ['is damaged', (path: string) => writeFileSync(path, 'x'.repeat(300))],
  [
    'is of another ledger',
    (path: string) => writeFileSync(path, readFileSync(path, 'utf8').replace(/ 1 [0-9a-f]+/, ` 1 ${'f'.repeat(32)}`)),
  ],
] as const)('a mark that %s says nothing, and is written anew', async ([, spoil]) => {
  const path = join(temporaryFolder(), 'ledger.db');
  await written(path, 4);
  spoil(serialPath(path));
  expect(await awaits(path, { readOnly: true })).toBe(false);
  expect(await awaits(path)).toBe(false);
  expect(readSerialMark(path)).toMatchObject({ serial: 4, epoch: 2 });
});

test('a ledger in memory, and one that is only read, write no mark', async () => {
  await written(':memory:', 1);
  const path = join(temporaryFolder(), 'ledger.db');
  await written(path, 1);
  rmSync(serialPath(path));
  await awaits(path, { readOnly: true });
  expect(readSerialMark(path)).toBeUndefined();
});

test('a ledger behind a link has its mark beside the file, whichever name it is opened by', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'ledger.db');
  await written(path, 1);
  copyFileSync(path, `${path}.old`);
  symlinkSync(path, join(folder, 'link.db'));
  await written(join(folder, 'link.db'), 1);
  expect(readSerialMark(path)).toMatchObject({ serial: 2 });
  copyFileSync(`${path}.old`, path);
  expect(await awaits(join(folder, 'link.db'), { readOnly: true })).toBe(true);
});

test('a restore goes on above the mark, although the ledger that was there is damaged, and is not called older then', async () => {
  const path = join(temporaryFolder(), 'ledger.db');
  await written(path, 2);
  const backup = `${path}.backup`;
  backUpLedger(path, backup);
  await written(path, 7);
  writeFileSync(path, 'damaged');
  const report = await restoreLedger(path, backup, options());
  expect(report.serial).toBeGreaterThan(9);
  const found: unknown[] = [];
  expect(await awaits(path, { onOlder: (facts) => found.push(facts) })).toBe(true);
  expect(found).toEqual([]);
  expect(readSerialMark(`${path}.restoring`)).toBeUndefined();
});

test('where the mark cannot be written, the ledger is not opened for writing', async () => {
  const path = join(temporaryFolder(), 'ledger.db');
  await written(path, 1);
  rmSync(serialPath(path));
  mkdirSync(serialPath(path));
  await expect(openSqliteLedger(path, options())).rejects.toMatchObject({ code: 'ledger/io' });
});
