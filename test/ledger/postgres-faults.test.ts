import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Ledger, LedgerOperation } from '../../src/ledger/ledger.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import { verifyPostgresLedger } from '../../src/ledger/postgres/verify.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { FaultyProxy } from '../support/faulty-proxy.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedPort, trusting } from '../support/postgres-shared.ts';
import { codeOf, errorOf, intent, object, real, record, transaction } from './fixtures.ts';

/** A database that fails: every transaction takes place as a whole or not at all, and the ledger knows which. */

/** One whole step of the journal: an intent, its object and a line of history. */
function step(n: number): readonly LedgerOperation[] {
  return [
    { op: 'put-object', object: object({ naturalKey: `key-${n}` }) },
    { op: 'open-intent', intent: intent({ id: `intent-${n}`, uid: `uid-${n}` }) },
    record(`step ${n}`, `uid-${n}`),
  ];
}

/** The numbers of the steps of which anything is recorded. @throws where one is recorded in part. */
async function recorded(ledger: Ledger): Promise<readonly number[]> {
  const objects = (await ledger.objects({})).map(({ naturalKey }) => naturalKey.replace('key-', ''));
  const intents = (await ledger.intents({})).map(({ id }) => id.replace('intent-', ''));
  const events = (await ledger.history({ limit: 10_000 })).map(({ event }) => event.replace('step ', ''));
  expect(intents.toSorted()).toEqual(objects.toSorted());
  expect(events.toSorted()).toEqual(objects.toSorted());
  return objects.map(Number);
}

async function throughProxy(schema = freshSchema()) {
  const port = await sharedPort();
  const proxy = await CuttingProxy.before(port);
  const access = trusting(postgresUrl(proxy.port, schema));
  const direct = trusting(postgresUrl(port, schema));
  return { schema, proxy, access, direct };
}

test('a connection cut after any byte of a commit leaves the whole transaction or nothing, and the answer is true', async () => {
  const { proxy, access, direct } = await throughProxy();
  const ledger = await openPostgresLedger(access, real);
  const reader = await openPostgresLedger(direct, { ...real, readOnly: true });
  let n = 0;
  let resolved = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('requests', 'answers'),
      fc.integer({ min: 1, max: 2_600 }),
      async (direction, bytes) => {
        n += 1;
        const cutsBefore = proxy.cuts;
        proxy.cutAfter(direction, bytes);
        // It never fails: what was not recorded is repeated, and a lost answer is looked up.
        await ledger.commit(transaction(step(n)));
        proxy.heal();
        resolved += proxy.cuts - cutsBefore;
        const numbers = await recorded(reader);
        expect(numbers).toHaveLength(n);
        expect(new Set(numbers).size).toBe(n);
      },
    ),
    { numRuns: 60 },
  );
  expect(resolved).toBeGreaterThan(20);
  await ledger.close();
  await reader.close();
  await proxy.close();
  expect((await verifyPostgresLedger(direct)).findings).toEqual([]);
});

test('the lost answer of a commit is found by reading: nothing is written twice', async () => {
  const { schema, proxy, access } = await throughProxy();
  const ledger = await openPostgresLedger(access, real);
  await ledger.commit(transaction(step(0)));
  // The server announces each transaction that took place.
  const commits = async () =>
    Number((await querySharedServer(`SELECT v FROM ${schema}.meta WHERE k = 'serial'`))[0]?.['v']);
  let lost = 0;
  for (let n = 1; n <= 12; n += 1) {
    // The answer to `commit` is the last message of a transaction: 'COMMIT' and 'ready', 18 bytes.
    const size = await answerSize(proxy, () => ledger.commit(transaction(step(1_000 + n))));
    const before = await commits();
    proxy.cutAfter('answers', size - 3 - n);
    await ledger.commit(transaction(step(n)));
    proxy.heal();
    expect(await commits()).toBe(before + 1);
    lost += 1;
  }
  expect(lost).toBe(12);
  expect(await recorded(ledger)).toHaveLength(25);
  await ledger.close();
  await proxy.close();
});

test('the error of a pooler that has lost its server says nothing about the commit that was sent to it', async () => {
  const { schema, proxy, access } = await throughProxy();
  const ledger = await openPostgresLedger(access, real);
  await ledger.commit(transaction(step(0)));
  const serial = async () =>
    Number((await querySharedServer(`SELECT v FROM ${schema}.meta WHERE k = 'serial'`))[0]?.['v']);
  // As older versions of PgBouncer: an ordinary error of the class 08, and not a fatal one.
  const fields = Buffer.from('SERROR\0C08P01\0Mserver conn crashed?\0\0');
  const message = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), fields]);
  message.writeUInt32BE(4 + fields.length, 1);
  const size = await answerSize(proxy, () => ledger.commit(transaction(step(1))));
  const before = await serial();
  // In place of the answer to `commit`, which are the last 18 bytes.
  proxy.cutAfter('answers', size - 17, undefined, message);
  await ledger.commit(transaction(step(2)));
  expect(proxy.cuts).toBe(1);
  expect(await serial()).toBe(before + 1);
  expect(await recorded(ledger)).toHaveLength(3);
  await ledger.close();
  await proxy.close();
});

/** Counts the bytes of the answers while some work runs. */
async function answerSize(proxy: CuttingProxy, work: () => Promise<void>): Promise<number> {
  const before = proxy.answered;
  await work();
  return proxy.answered - before;
}

test('a database that is out of reach has an error with a remedy, and the ledger recovers by itself', async () => {
  const { proxy, access } = await throughProxy();
  // Waits between attempts pass at once.
  const clock = {
    ...real.clock,
    sleep: async (ms: number, signal?: AbortSignal) => real.clock.sleep(ms > 4_000 ? ms : 1, signal),
  };
  const ledger = await openPostgresLedger(access, { ...real, clock });
  await ledger.commit(transaction(step(1)));
  proxy.refuse();
  for (const work of [() => ledger.commit(transaction(step(2))), () => ledger.objects({})]) {
    const error = await errorOf(work());
    expect([error.code, error.disposition]).toEqual(['ledger/unreachable', 'retry']);
    expect(error.remedy).not.toBe('');
  }
  proxy.heal();
  expect(await recorded(ledger)).toEqual([1]);
  await ledger.commit(transaction(step(2)));
  expect(await recorded(ledger)).toEqual([1, 2]);
  await ledger.close();
  await proxy.close();
});

test('a commit without an answer and without a database to ask says that it is not known', async () => {
  const { proxy, access } = await throughProxy();
  const clock = {
    ...real.clock,
    sleep: async (ms: number, signal?: AbortSignal) => real.clock.sleep(ms > 4_000 ? ms : 1, signal),
  };
  const ledger = await openPostgresLedger(access, { ...real, clock });
  await ledger.commit(transaction(step(0)));
  const size = await answerSize(proxy, () => ledger.commit(transaction(step(1))));
  proxy.cutAfter('answers', size - 8, () => proxy.refuse());
  const error = await errorOf(ledger.commit(transaction(step(2))));
  expect([error.code, error.disposition]).toEqual(['ledger/unanswered', 'retry']);
  proxy.heal();
  // It was recorded, as a whole; to repeat it is a conflict and not a second record.
  expect(await recorded(ledger)).toEqual([0, 1, 2]);
  expect(await codeOf(ledger.commit(transaction(step(2))))).toBe('ledger/conflict');
  await ledger.commit(transaction(step(3)));
  expect(await recorded(ledger)).toEqual([0, 1, 2, 3]);
  await ledger.close();
  await proxy.close();
});

test('a commit that was rolled back is not confirmed by one of the next process, which has its serial', async () => {
  const { schema, proxy, access, direct } = await throughProxy();
  let next: Ledger | undefined;
  let isCut = false;
  // Before it asks again whether the commit took place, another process takes the ledger over.
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    if (!isCut || ms > 4_000) return real.clock.sleep(ms, signal);
    isCut = false;
    await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = 1`);
    next = await openPostgresLedger(direct, real);
    await next.commit(transaction([record('of the next process')]));
    proxy.heal();
  };
  const ledger = await openPostgresLedger(access, { ...real, clock: { ...real.clock, sleep } });
  await ledger.commit(transaction(step(0)));
  const before = proxy.requested;
  await ledger.commit(transaction(step(1)));
  const size = proxy.requested - before;
  // The last bytes of `commit` never arrive.
  proxy.cutAfter('requests', size - 2, () => {
    isCut = true;
    proxy.refuse();
  });
  expect(await codeOf(ledger.commit(transaction(step(2))))).toBe('ledger/fenced');
  const events = (await (next as unknown as Ledger).history({ limit: 10 })).map(({ event }) => event);
  expect(events).toEqual(['of the next process', 'step 1', 'step 0']);
  await next?.close();
  await ledger.close();
  await proxy.close();
});

test('a session that the server ends in the middle of a transaction is repeated as a whole', async () => {
  const { schema, access, proxy } = await throughProxy();
  const ledger = await openPostgresLedger(access, real);
  const killing = (async () => {
    for (let n = 0; n < 15; n += 1) {
      await querySharedServer(
        `SELECT pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace s ON s.oid = c.relnamespace JOIN pg_stat_activity a ON a.pid = l.pid WHERE s.nspname = '${schema}' AND a.application_name = 'portolan'`,
      );
    }
  })();
  for (let n = 0; n < 30; n += 1) await ledger.commit(transaction(step(n)));
  await killing;
  expect(await recorded(ledger)).toHaveLength(30);
  await ledger.close();
  await proxy.close();
});

test('a process that listens for signals ends although the network loses all packets', async () => {
  const proxy = await FaultyProxy.before(await sharedPort());
  onTestFinished(() => proxy.close());
  const access = trusting(postgresUrl(proxy.port, freshSchema()));
  const listening = Promise.withResolvers<void>();
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    // It waits for the next probe, so the first one has arrived.
    if (ms === 30_000) listening.resolve();
    return real.clock.sleep(ms, signal);
  };
  const ledger = await openSharedLedger(access, { ...real, clock: { ...real.clock, sleep }, replica: 'one' });
  ledger.onSignal(() => {});
  await listening.promise;
  proxy.silence('requests', 'answers');
  await ledger.close();
});

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.create();
});
afterAll(() => server.remove());

test('commits continue across restarts and crashes of the server, each recorded once', async () => {
  const access = trusting(server.url('restarts'));
  const ledger = await openPostgresLedger(access, real);
  let n = 0;
  let isOver = false;
  const failures: string[] = [];
  const writing = (async () => {
    while (!isOver) {
      n += 1;
      // A crash may take longer than the ledger waits; then the same step is tried again, as the next pass would do.
      for (let done = false; !done; ) {
        const code = await codeOf(ledger.commit(transaction(step(n))));
        if (code !== undefined) failures.push(code);
        done = code === undefined || code === 'ledger/conflict';
      }
    }
  })();
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL', 'SIGINT'] as const) {
    const from = n;
    while (n < from + 5) await real.clock.sleep(5);
    await server.stop(signal);
    await server.start();
  }
  isOver = true;
  await writing;
  expect(await recorded(ledger)).toHaveLength(n);
  await ledger.close();
  expect((await verifyPostgresLedger(access)).findings).toEqual([]);
  expect(failures.filter((code) => !/^ledger\/(?:unreachable|unanswered|conflict)$/.test(code))).toEqual([]);
});
