import { type AddressInfo, createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { databaseOf } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import type { Lead, SharedLedger } from '../../src/ledger/shared.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { PostgresServer, postgresUrl } from '../support/postgres.ts';
import { freshSchema, querySharedServer, sharedPort, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { standbyOf } from './failover.ts';
import { codeOf, errorOf, intent, real, record, transaction } from './fixtures.ts';

/** Another server takes the place of the database, with or without the last transactions. */

async function shared(url: string): Promise<SharedLedger> {
  const ledger = await openSharedLedger(trusting(url), { ...real, replica: 'one' });
  onTestFinished(() => ledger.close());
  return ledger;
}

async function lead(ledger: SharedLedger, platform: string): Promise<Lead> {
  const led = await ledger.lead(`platform:${platform}`);
  if (led === undefined) throw new Error(`${platform} is led by another process`);
  return led;
}

function step(platform: string, { ledger: { epoch } }: Lead, n: number) {
  const scope = `${platform}/team-a/region-1/42`;
  const opened = intent({ id: `${platform}-${n}`, uid: `${platform}-${n}`, scope, epoch });
  return transaction([{ op: 'open-intent', intent: opened }, record(`step ${n}`)], scope);
}

test('a leader notices that its own record was lost, however much others have recorded since', async () => {
  const schema = freshSchema();
  const url = await sharedUrl(schema);
  const [one, two] = [await shared(url), await shared(url)];
  const [east, west] = [await lead(one, 'east'), await lead(two, 'west')];
  await east.ledger.commit(step('east', east, 1));
  await west.ledger.commit(step('west', west, 1));
  const failover = await standbyOf(schema);
  await east.ledger.commit(step('east', east, 2));
  await failover();
  for (const n of [2, 3, 4]) await west.ledger.commit(step('west', west, n));
  expect(await codeOf(east.ledger.commit(step('east', east, 3)))).toBe('ledger/replaced');
  expect(east.over.aborted, 'the lease is kept').toBe(false);
  await west.ledger.commit(step('west', west, 5));
});

test('a leader goes on after a failover that lost nothing of it, and after one that took its platform before', async () => {
  const schema = freshSchema();
  const url = await sharedUrl(schema);
  const [one, two] = [await shared(url), await shared(url)];
  const former = await lead(one, 'east');
  await former.ledger.commit(step('east', former, 1));
  await former.ledger.close();
  const east = await lead(two, 'east');
  const failover = await standbyOf(schema);
  await failover();
  for (const n of [2, 3]) await east.ledger.commit(step('east', east, n));
});

test('a reader of facts reads all of them again from another server, also where that has recorded as much', async () => {
  const server = await PostgresServer.create();
  onTestFinished(() => server.remove());
  const schema = freshSchema();
  const url = postgresUrl(server.port, schema);
  const [writer, reader] = [await shared(url), await shared(url)];
  const west = await lead(writer, 'west');
  const set = ({ unit, ledger }: Lead, key: string) =>
    ledger.commit(
      transaction(
        [{ op: 'set-fact', key, value: 'now', was: null }],
        `${unit.slice('platform:'.length)}/team-a/region-1/42`,
      ),
    );
  await set(west, 'status a');
  const query = (text: string) => server.query(text);
  const failover = await standbyOf(schema, query);
  await set(west, 'status lost');
  const known = await reader.factsSince(0, ['status ']);
  expect([...known.facts.keys()].sort()).toEqual(['status a', 'status lost']);
  const { server: first } = await reader.events.since(0, 1);

  await failover();
  await server.stop();
  await server.start();
  const next = await lead(writer, 'north');
  await set(next, 'status b');
  await set(next, 'status c');
  const found = await reader.factsSince(known.serial, ['status ']);
  expect(found.serial).toBeGreaterThan(known.serial);
  expect([...found.facts.keys()].sort()).toEqual(['status a', 'status b', 'status c']);
  expect((await reader.factsSince(found.serial, ['status '])).facts.size).toBe(0);
  expect((await reader.events.since(0, 1)).server).not.toBe(first);
});

test('a session with a standby is not kept: the address may lead to the primary server by now', async () => {
  const schema = freshSchema();
  await querySharedServer('CREATE ROLE following LOGIN SUPERUSER');
  const ledger = await shared(postgresUrl(await sharedPort(), schema, 'following'));
  const report = { name: 'one', version: '1', address: null, startedMs: 1, facts: {} };
  const east = await lead(ledger, 'east');
  await east.ledger.commit(step('east', east, 1));
  // Every session from now on is one with a standby.
  await querySharedServer('ALTER ROLE following SET default_transaction_read_only = on');
  await querySharedServer("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'following'");
  expect(await eventually(() => codeOf(ledger.beat(report, false)), 'ledger/refused')).toBe('ledger/refused');
  expect(await eventually(() => codeOf(east.ledger.commit(step('east', east, 2))), 'ledger/refused')).toBe(
    'ledger/refused',
  );
  await querySharedServer('ALTER ROLE following RESET default_transaction_read_only');
  await ledger.beat(report, false);
  await east.ledger.commit(step('east', east, 3));
  await east.ledger.close();
});

test('a connection ends at its greatest age, also while it is used all the time', async () => {
  const db = await databaseOf(trusting(await sharedUrl()), { connections: 1, lifetimeSMax: 1 });
  onTestFinished(() => db.destroy());
  const process = async () => (await sql<{ pid: string }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid;
  const first = await process();
  expect(await process()).toBe(first);
  const untilMs = real.clock.monotonic() + 1_500;
  while (real.clock.monotonic() < untilMs) await process();
  expect(await process()).not.toBe(first);
});

test('a server that cannot start a process for a connection is out of reach, and nothing else', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    // The answer of a server without memory to a request for TLS.
    socket.once('data', () => socket.end('Ecould not fork new process for connection: Cannot allocate memory\n\0'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const access = trusting(`${postgresUrl(port, 'x')}&sslmode=verify-full`);
  const error = await errorOf(openSharedLedger(access, { ...real, replica: 'one' }));
  expect([error.code, error.disposition]).toEqual(['ledger/unreachable', 'retry']);
});

test('nothing is left of a lease that another process took', async () => {
  const schema = freshSchema();
  const url = await sharedUrl(schema);
  const [one, two] = [await shared(url), await shared(url)];
  const lost: WeakRef<AbortSignal>[] = [];
  for (let n = 0; n < 20; n += 1) {
    const led = await lead(one, 'east');
    lost.push(new WeakRef(led.over));
    await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = 1`);
    const next = await lead(two, 'east');
    expect(await codeOf(led.ledger.commit(step('east', led, n)))).toBe('ledger/fenced');
    await next.ledger.close();
  }
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let n = 0; n < 3; n += 1) {
    await real.clock.sleep(20);
    collect();
  }
  // The last one may still be on the stack.
  expect(lost.filter((reference) => reference.deref() !== undefined).length).toBeLessThan(3);
});

test.for([
  ['before it was sent', 'ledger/unreachable', 0],
  ['after it was sent', 'ledger/unanswered', 1],
] as const)(
  'the error of a command whose database goes away %s says whether it may be recorded',
  async ([when, code, stored]) => {
    const schema = freshSchema();
    const proxy = await CuttingProxy.before(await sharedPort());
    onTestFinished(() => proxy.close());
    const ledger = await shared(postgresUrl(proxy.port, schema));
    const add = () => ledger.commands.add({ unit: 'platform:east', method: 'resume', args: [], by: 'ann' });
    if (when === 'before it was sent') {
      proxy.refuse();
      // Until the pool has noticed.
      await real.clock.sleep(100);
    } else proxy.cutAfter('answers', 1, () => proxy.refuse());
    const error = await errorOf(add());
    expect([error.code, error.disposition]).toEqual([code, 'retry']);
    expect(error.message.includes('Nothing was recorded')).toBe(stored === 0);
    proxy.heal();
    expect(await ledger.commands.open('platform:east')).toHaveLength(stored);
  },
);

/** The first calls may meet the connections that were just ended. */
async function eventually(call: () => Promise<string | undefined>, wanted: string): Promise<string | undefined> {
  for (let attempt = 0; attempt < 10; attempt += 1) if ((await call()) === wanted) return wanted;
  return call();
}
