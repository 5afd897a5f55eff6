import { cpSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runProcess, startProgram } from '../cli/running.ts';
import { ENV, type Place, placed, readiness, rules, until } from '../processes/place.ts';
import { commit } from '../source/repositories.ts';

/** What somebody does to the files of a running daemon's ledger, and how the right ledger comes back. */
interface Swap {
  readonly what: string;
  swap(ledger: string): void;
  /** With the daemon ended. */
  repair(ledger: string): void | Promise<void>;
  readonly message: RegExp;
}

/** A copy that `portolan ledger backup` made before the swap. */
const backupOf = (ledger: string): string => `${ledger}.kept`;

async function restore(ledger: string, from: string): Promise<void> {
  const run = await runProcess(['ledger', 'restore', from, '--ledger', ledger, '--yes'], { env: ENV });
  expect(run.code, run.err).toBe(0);
}

const swaps: readonly Swap[] = [
  {
    what: 'the ledger is removed',
    swap: (ledger) => rmSync(ledger),
    repair: async (ledger) => {
      const saved = readdirSync(dirname(ledger)).find((name) => name.startsWith('portolan.db.rescued-'));
      await restore(ledger, join(dirname(ledger), saved ?? 'nothing was saved'));
    },
    message: /the file was removed/,
  },
  {
    what: 'the ledger is moved away, and another one is moved into its place',
    swap: (ledger) => {
      cpSync(backupOf(ledger), `${ledger}.other`);
      // Nothing in between: a check of the daemon would find no file.
      renameSync(ledger, `${ledger}.away`);
      renameSync(`${ledger}.other`, ledger);
    },
    repair: (ledger) => renameSync(`${ledger}.away`, ledger),
    message: /another file is in its place/,
  },
  {
    what: 'a backup is copied over the ledger',
    swap: (ledger) => writeFileSync(ledger, readFileSync(backupOf(ledger))),
    repair: (ledger) => restore(ledger, backupOf(ledger)),
    message: /something else wrote into the file/,
  },
  {
    what: 'the ledger is overwritten with nothing',
    swap: (ledger) => writeFileSync(ledger, ''),
    repair: (ledger) => restore(ledger, backupOf(ledger)),
    message: /something else wrote into the file/,
  },
  {
    what: 'the write-ahead log is removed',
    swap: (ledger) => rmSync(`${ledger}-wal`),
    repair: () => {},
    message: /its write-ahead log \S+ was removed/,
  },
  {
    what: 'the lock file is removed',
    swap: (ledger) => rmSync(`${ledger}.lock`),
    repair: () => {},
    message: /its lock file \S+ was removed/,
  },
  {
    what: 'the lock file is replaced',
    swap: (ledger) => {
      writeFileSync(`${ledger}.new`, '');
      renameSync(`${ledger}.new`, `${ledger}.lock`);
    },
    repair: () => {},
    message: /another file is in the place of its lock file/,
  },
  {
    what: 'the lock file gets a second name',
    swap: (ledger) => linkSync(`${ledger}.lock`, `${ledger}.lock2`),
    repair: (ledger) => rmSync(`${ledger}.lock2`),
    message: /its lock file \S+ has a second name/,
  },
];

async function inSync(place: Place): Promise<Awaited<ReturnType<Place['daemon']>>> {
  const daemon = await place.daemon();
  await until(
    async () => (await readiness(daemon.url).catch(() => '')) === 'True InSync',
    () => daemon.outputSoFar().err,
  );
  return daemon;
}

for (const { what, swap, repair, message } of swaps) {
  test(`${what}: the daemon ends before its next write, and converges with the right ledger`, async () => {
    const place = await placed();
    const daemon = await inSync(place);
    const backup = await runProcess(['ledger', 'backup', backupOf(place.ledger), '--ledger', place.ledger]);
    expect(backup.code, backup.err).toBe(0);
    const before = place.writes();

    swap(place.ledger);
    commit(place.checkout, { 'rules.yaml': rules(4) });
    const { code, err } = await daemon.ended;
    expect(code, err).toBe(4);
    expect(err).toMatch(message);
    expect(err).toContain('[ledger/replaced]');
    expect(place.writes(), err).toBe(before);

    await repair(place.ledger);
    const next = await inSync(place);
    await until(
      () => place.domains().length === 4,
      () => next.outputSoFar().err,
    );
    const verify = await runProcess(['ledger', 'verify', '--ledger', place.ledger]);
    expect(verify.code, verify.out).toBe(0);
  });
}

test('an apply ends before its next write when its ledger is moved away, and continues when it is back', async () => {
  const place = await placed();
  place.sandbox.setFaults([{ operation: 'createRule', fault: { type: 'delay', ms: 1_000 } }]);
  commit(place.checkout, { 'rules.yaml': rules(5) });
  const args = ['apply', '--config', place.config, '-f', place.checkout, '--ledger', place.ledger, '--yes'] as const;
  const run = startProgram(args, { env: ENV });
  onTestFinished(() => void run.child.kill('SIGKILL'));
  await until(
    () => place.domains().length === 1,
    () => run.outputSoFar().err,
  );
  renameSync(place.ledger, `${place.ledger}.away`);
  const { code, out, err } = await run.ended;
  expect(code, out + err).toBe(4);
  expect(out + err).toContain('the file was removed');
  // One may have been on its way.
  expect(place.domains().length).toBeLessThanOrEqual(2);

  place.sandbox.setFaults([]);
  const without = await runProcess(args, { env: ENV });
  expect(without.code, without.err).toBe(4);
  expect(without.err).toContain('No new ledger was made');
  renameSync(`${place.ledger}.away`, place.ledger);
  // On a slow machine the answer of the last one came too late to be recorded: it is in doubt for a moment.
  const next = await runProcess([...args, '--wait'], { env: ENV });
  expect(next.code, next.out + next.err).toBe(0);
  expect(place.domains()).toHaveLength(5);
  expect(place.sandbox.requests().filter(({ operation }) => operation === 'createRule')).toHaveLength(5);
});

test('beside a daemon, other names of its ledger are refused', async () => {
  const place = await placed();
  const daemon = await inSync(place);
  const before = place.writes();
  commit(place.checkout, { 'rules.yaml': rules(2) });
  const apply = (ledger: string) =>
    runProcess(['apply', '--config', place.config, '-f', place.checkout, '--ledger', ledger, '--yes'], { env: ENV });
  const symbolic = join(place.folder, 'symbolic.db');
  symlinkSync(place.ledger, symbolic);
  const second = await apply(symbolic);
  expect(second.code, second.err).toBe(6);
  const hard = join(place.folder, 'hard.db');
  linkSync(place.ledger, hard);
  const third = await apply(hard);
  expect(third.code, third.err).toBe(4);
  expect(third.err).toContain('has a second name (a hard link)');
  expect(place.writes()).toBe(before);
  daemon.child.kill('SIGTERM');
});
