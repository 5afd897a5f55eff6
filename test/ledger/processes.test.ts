import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { verifySqliteLedger } from '../../src/ledger/verify.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { real, temporaryDirectory } from './fixtures.ts';

const program = fileURLToPath(new URL('./writer.ts', import.meta.url));

/** A real process, its lines as they come, and its death. */
class Writer {
  readonly lines: string[] = [];
  readonly exited: Promise<void>;
  readonly #process: ChildProcessWithoutNullStreams;
  #waiting: (() => void)[] = [];

  constructor(path: string, mode: 'once' | 'forever', prefix: readonly string[] = []) {
    const words: string[] = [...prefix, process.execPath, program, path, mode];
    this.#process = spawn(words[0] ?? '', words.slice(1));
    createInterface(this.#process.stdout).on('line', (line) => {
      this.lines.push(line);
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.#process.stderr.on('data', (data: Buffer) => this.lines.push(`stderr ${data.toString()}`));
    this.exited = new Promise((resolve) => this.#process.on('close', () => resolve()));
    void this.exited.then(() => this.#waiting.splice(0).forEach((wake) => wake()));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Waits until `count` lines that begin so have come. */
  async said(beginning: string, count = 1): Promise<string> {
    for (;;) {
      const found = this.lines.filter((line) => line.startsWith(beginning));
      if (found.length >= count) return found.at(-1) ?? '';
      if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
        throw new Error(`the writer ended without "${beginning}": ${this.lines.join(' | ')}`);
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.exited;
  }
}

test('another process is refused while the writer lives, may read, and takes over at once when it is killed', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const holder = new Writer(path, 'forever');
  await holder.said('done', 2);

  const second = new Writer(path, 'once');
  await second.exited;
  expect(second.lines).toHaveLength(1);
  expect(second.lines[0]).toMatch(/^refused ledger\/locked: /);
  expect(second.lines[0]).toContain(`held by writer, pid ${holder.pid}, since 2`);

  const reader = await openSqliteLedger(path, { ...real, readOnly: true });
  expect((await reader.objects({})).length).toBeGreaterThan(1);
  await reader.close();

  await holder.kill();
  const next = await openSqliteLedger(path, real);
  expect(next.epoch).toBe(2);
  await next.close();
});

test('what was acknowledged survives kill -9, twenty times over', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const acknowledged = new Set<string>();
  for (let cycle = 1; cycle <= 20; cycle += 1) {
    const writer = new Writer(path, 'forever');
    await writer.said('done', (cycle * 7) % 23 || 1);
    await writer.kill();
    expect(writer.lines[0]).toBe(`open ${cycle}`);
    for (const line of writer.lines) if (line.startsWith('done ')) acknowledged.add(line.slice(5));
  }
  expect(acknowledged.size).toBeGreaterThan(100);
  const ledger = await openSqliteLedger(path, real);
  const kept = new Set((await ledger.objects({})).map(({ naturalKey }) => naturalKey));
  expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
  // At most the one that was in flight in each cycle is open; an outcome and its object come together or not at all.
  const intents = await ledger.intents({});
  for (const { id, state } of intents) expect([id, kept.has(id)]).toEqual([id, state === 'applied']);
  expect(intents.filter(({ state }) => state === 'open').length).toBeLessThanOrEqual(20);
  await ledger.close();
  expect(readdirSync(directory.path).toSorted()).toEqual(['ledger.db', 'ledger.db.lock', 'ledger.db.serial']);
  expect(verifySqliteLedger(path)).toEqual([]);
});

const limits = ['bash', '-c', 'ulimit -S -f 200 && exec "$@"', 'bash'];
/** Changes the limits of a process that runs already; not every system has it. */
const limiter = 'prlimit';
const canLimit = ['bash', limiter].every((command) => {
  try {
    execFileSync(command, ['--version']);
    return true;
  } catch {
    return false;
  }
});

test.runIf(canLimit)('a file that may not grow refuses commits and takes them again once it may', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const writer = new Writer(path, 'forever', limits);
  expect(await writer.said('refused')).toMatch(/^refused ledger\/(io|full)$/);
  const before = writer.lines.filter((line) => line.startsWith('done')).length;
  execFileSync(limiter, ['--fsize=unlimited:unlimited', '--pid', String(writer.pid)]);
  await writer.said('done', before + 5);
  await writer.kill();
  expect(verifySqliteLedger(path)).toEqual([]);
  const ledger = await openSqliteLedger(path, real);
  expect((await ledger.objects({})).length).toBeGreaterThanOrEqual(before + 5);
  await ledger.close();
});

test('opening the lock file by other means is what a holder must never do, and the fence stands behind it', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'ledger.db');
  const ours = await openSqliteLedger(path, real);
  const other = new Writer(path, 'once');
  await other.exited;
  expect(other.lines[0]).toMatch(/^refused ledger\/locked/);
  // What a careless backup would do: POSIX then drops our lock.
  closeSync(openSync(`${path}.lock`, 'r'));
  const thief = new Writer(path, 'once');
  await thief.said('closed');
  const refusal = await ours
    .commit({ scope: 's', actor: 'test', atMs: 1, operations: [] })
    .catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(PortolanError);
  expect((refusal as PortolanError).code).toBe('ledger/fenced');
  await ours.close();
});
