import { cpSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restoreLedger } from '../../src/ledger/backup.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { verifySqliteLedger } from '../../src/ledger/verify.ts';
import { codeOf, intent, object, real, record, temporaryDirectory, transaction } from './fixtures.ts';

const put = transaction([{ op: 'put-object', object: object() }, record('a')]);

/** A ledger that is open, with an older copy of it in `old.db`. */
async function held(folder: string, name = 'ledger.db') {
  const path = join(folder, name);
  const first = await openSqliteLedger(path, real);
  await first.commit(put);
  await first.close();
  cpSync(path, join(folder, 'old.db'));
  const ledger = await openSqliteLedger(path, real);
  await ledger.commit(transaction([record('b')]));
  return { path, ledger, old: join(folder, 'old.db') };
}

const swaps: Readonly<Record<string, (path: string, old: string, strange: string) => void>> = {
  'the ledger was removed': (path) => rmSync(path),
  'the ledger was moved away': (path) => renameSync(path, `${path}.away`),
  'a copy was moved over the ledger': (path, old) => renameSync(old, path),
  'another ledger was written into the ledger': (path, _, strange) => writeFileSync(path, readFileSync(strange)),
  'an older copy was written into the ledger': (path, old) => writeFileSync(path, readFileSync(old)),
  'the ledger was overwritten': (path) => writeFileSync(path, 'x'.repeat(8192)),
  'the ledger was truncated': (path) => writeFileSync(path, ''),
  'the ledger got a second name': (path) => linkSync(path, `${path}.twin`),
  'the log was removed': (path) => rmSync(`${path}-wal`),
  'the index of the log was removed': (path) => rmSync(`${path}-shm`),
  'the lock was removed': (path) => rmSync(`${path}.lock`),
  'the lock was replaced': (path) => {
    writeFileSync(`${path}.new`, '');
    renameSync(`${path}.new`, `${path}.lock`);
  },
  'the lock got a second name': (path) => linkSync(`${path}.lock`, `${path}.lock2`),
};

for (const [what, swap] of Object.entries(swaps)) {
  test(`${what}: nothing is recorded any more, and no request may leave`, async () => {
    using directory = temporaryDirectory();
    const { path, ledger, old } = await held(directory.path);
    const strange = join(directory.path, 'strange.db');
    const stranger = await openSqliteLedger(strange, real);
    for (const n of [1, 2, 3]) await stranger.commit(transaction([record(`s${n}`)]));
    await stranger.close();
    swap(path, old, strange);
    const open = transaction([{ op: 'open-intent', intent: intent({ epoch: ledger.epoch }) }]);
    for (const refused of [open, transaction([record('c')]), open])
      expect(await codeOf(ledger.commit(refused))).toBe('ledger/replaced');
    await expect(ledger.commit(open)).rejects.toThrow(path);
    await ledger.close();
  });
}

test('a commit costs no more than the look at five files, and what SQLite writes itself is no alarm', async () => {
  using directory = temporaryDirectory();
  const { path, ledger } = await held(directory.path);
  for (let n = 0; n < 300; n += 1) await ledger.commit(transaction([record('x'.repeat(60_000))]));
  await ledger.compact({ nowMs: 1e13, actor: 'test', keepPerObject: 0 });
  await ledger.commit(transaction([record('after compaction')]));
  await ledger.close();
  expect(verifySqliteLedger(path)).toEqual([]);
});

test('what became of a request is recorded although the ledger was moved away, and is there when it comes back', async () => {
  using directory = temporaryDirectory();
  const { path, ledger } = await held(directory.path);
  await ledger.commit(transaction([{ op: 'open-intent', intent: intent({ epoch: ledger.epoch }) }]));
  renameSync(path, `${path}.away`);
  await ledger.commit(transaction([{ op: 'move-intent', id: 'intent-1', state: 'applied' }, record('applied')]));
  expect(await codeOf(ledger.commit(transaction([record('c')])))).toBe('ledger/replaced');
  await ledger.close();
  renameSync(`${path}.away`, path);
  const back = await openSqliteLedger(path, real);
  expect((await back.intents({})).map(({ state }) => state)).toEqual(['applied']);
  await back.close();
  expect(verifySqliteLedger(path)).toEqual([]);
});

test('a ledger that was removed is saved when it is closed, and can be restored', async () => {
  using directory = temporaryDirectory();
  const { path, ledger } = await held(directory.path);
  rmSync(path);
  expect(await codeOf(ledger.commit(transaction([record('c')])))).toBe('ledger/replaced');
  await ledger.close();
  expect(await codeOf(openSqliteLedger(path, real)), 'no new ledger is made in its place').toBe('ledger/missing');
  const [saved = ''] = readdirSync(directory.path).filter((name) => name.includes('.rescued-'));
  await restoreLedger(path, join(directory.path, saved), real);
  const back = await openSqliteLedger(path, real);
  expect((await back.history({ limit: 9 })).map(({ event }) => event)).toContain('b');
  await back.close();
});

test('a copy that was moved over the ledger stays as it is, and is known as an older one', async () => {
  using directory = temporaryDirectory();
  const { path, ledger, old } = await held(directory.path);
  renameSync(old, path);
  expect(await codeOf(ledger.commit(transaction([record('c')])))).toBe('ledger/replaced');
  await ledger.close();
  expect(verifySqliteLedger(path)).toEqual([]);
  const found: number[] = [];
  const next = await openSqliteLedger(path, { ...real, onOlder: ({ expected }) => found.push(expected) });
  expect(found).toHaveLength(1);
  await next.close();
});

test('the log of a killed process is not replayed into another ledger in its place', async () => {
  using directory = temporaryDirectory();
  const { path, ledger } = await held(directory.path);
  for (const n of [1, 2, 3])
    await ledger.commit(transaction([{ op: 'put-object', object: object({ naturalKey: `k${n}` }) }, record('d')]));
  // As a kill leaves them: the ledger, and a log that was never merged into it.
  const killed = join(directory.path, 'killed.db');
  const log = join(directory.path, 'log');
  cpSync(path, killed);
  cpSync(`${path}-wal`, log);
  await ledger.close();
  cpSync(log, `${killed}-wal`);
  const right = await openSqliteLedger(killed, real);
  expect(await right.objects({})).toHaveLength(4);
  await right.close();

  const strange = join(directory.path, 'strange.db');
  const stranger = await openSqliteLedger(strange, real);
  for (let n = 0; n < 40; n += 1)
    await stranger.commit(transaction([{ op: 'put-object', object: object({ naturalKey: `s${n}` }) }, record('s')]));
  await stranger.close();
  cpSync(log, `${strange}-wal`);
  expect(await codeOf(openSqliteLedger(strange, real))).toBe('ledger/corrupt');
});

test('two names of one ledger are one ledger: a symbolic link meets the lock, a hard link is refused', async () => {
  using directory = temporaryDirectory();
  const { path, ledger } = await held(directory.path);
  const symbolic = join(directory.path, 'symbolic.db');
  symlinkSync(path, symbolic);
  expect(await codeOf(openSqliteLedger(symbolic, real))).toBe('ledger/locked');
  await ledger.close();
  const hard = join(directory.path, 'hard.db');
  linkSync(path, hard);
  for (const name of [hard, path]) {
    expect(await codeOf(openSqliteLedger(name, real))).toBe('ledger/linked');
    expect(await codeOf(openSqliteLedger(name, { ...real, readOnly: true }))).toBe('ledger/linked');
  }
});

test('a symbolic link that leads elsewhere is another ledger', async () => {
  using directory = temporaryDirectory();
  const { path, ledger, old } = await held(directory.path);
  await ledger.close();
  const name = join(directory.path, 'current.db');
  symlinkSync(path, name);
  const through = await openSqliteLedger(name, real);
  rmSync(name);
  symlinkSync(old, name);
  expect(await codeOf(through.commit(transaction([record('c')])))).toBe('ledger/replaced');
  await through.close();
});
