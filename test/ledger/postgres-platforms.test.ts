import { expect, test } from 'vitest';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { openSharedLedger, type SharedLedgerOptions } from '../../src/ledger/postgres/shared.ts';
import { LEASE_MS } from '../../src/ledger/postgres/lease.ts';
import { verifyPostgresLedger } from '../../src/ledger/postgres/verify.ts';
import type { Lead, SharedLedger } from '../../src/ledger/shared.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { freshSchema, querySharedServer, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { standbyOf } from './failover.ts';
import { codeOf, real, record, snapshot, stillClock, transaction } from './fixtures.ts';
import { scopeOf, step } from './shared-steps.ts';

/** Leases of platforms: each platform has at most one leader, and its successor is never mistaken for it. */

async function shared(schema: string, options: Partial<SharedLedgerOptions> = {}): Promise<SharedLedger> {
  return openSharedLedger(trusting(await sharedUrl(schema)), { ...real, replica: 'one', ...options });
}

/** The platform, which must have been free. */
async function lead(ledger: SharedLedger, platform: string): Promise<Lead & { readonly platform: string }> {
  const led = await ledger.lead(`platform:${platform}`);
  if (led === undefined) throw new Error(`${platform} is led by another process`);
  return { ...led, platform };
}

async function expire(schema: string, platform: string): Promise<void> {
  await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = 1 WHERE scope = 'platform:${platform}'`);
}

test('two processes write the records of their platforms at once, and both see everything', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema, { actor: 'one' }), await shared(schema, { actor: 'two' })];
  const [east, west] = [await lead(one, 'east'), await lead(two, 'west')];
  expect(east.ledger.epoch).not.toBe(west.ledger.epoch);
  await Promise.all(
    [east, west].map(async ({ platform, ledger }) => {
      for (let n = 0; n < 20; n += 1) await ledger.commit(step(platform, ledger.epoch, n));
    }),
  );
  for (const { reader } of [one, two]) expect(await reader.objects({})).toHaveLength(40);
  const serials = (await one.reader.history({ limit: 100 })).map(({ serial }) => serial);
  expect(serials).toEqual(Array.from({ length: 40 }, (_, n) => 40 - n));
  expect((await verifyPostgresLedger(trusting(await sharedUrl(schema)))).findings).toEqual([]);
  expect(await one.leaders()).toMatchObject([
    { unit: 'platform:east', actor: 'one', epoch: east.ledger.epoch },
    { unit: 'platform:west', actor: 'two', epoch: west.ledger.epoch },
  ]);
  await one.close();
  await two.close();
});

test('a platform has one leader; the next one has a higher epoch, and the former is fenced for this platform only', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema, { clock: stillClock }), await shared(schema)];
  const [east, west] = [await lead(one, 'east'), await lead(one, 'west')];
  await east.ledger.commit(step('east', east.ledger.epoch, 1));
  expect(await two.lead('platform:east')).toBeUndefined();
  await expire(schema, 'east');
  const taken = await lead(two, 'east');
  expect(taken.ledger.epoch).toBeGreaterThan(Math.max(east.ledger.epoch, west.ledger.epoch));
  expect(await taken.ledger.intents({ states: ['open'] })).toHaveLength(1);
  expect(await codeOf(east.ledger.commit(step('east', east.ledger.epoch, 2)))).toBe('ledger/fenced');
  expect(await codeOf(taken.ledger.commit(step('east', east.ledger.epoch, 2)))).toBe('ledger/fenced');
  await taken.ledger.commit(step('east', taken.ledger.epoch, 2));
  await west.ledger.commit(step('west', west.ledger.epoch, 1));
  await one.close();
  await taken.ledger.commit(step('east', taken.ledger.epoch, 3));
  await two.close();
});

test.for(['forward', 'back'] as const)('the clock of the database may be set %s', async (direction) => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema), await shared(schema)];
  const [east, west] = [await lead(one, 'east'), await lead(one, 'west')];
  // All times of the database are as of before.
  const sign = direction === 'back' ? '+' : '-';
  await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = expires_ms ${sign} 3600000`);
  if (direction === 'forward') {
    expect(await two.lead('platform:east')).toBeDefined();
    expect(await codeOf(east.ledger.commit(step('east', east.ledger.epoch, 1)))).toBe('ledger/fenced');
  } else {
    expect(await two.lead('platform:east')).toBeUndefined();
    await east.ledger.commit(step('east', east.ledger.epoch, 1));
  }
  // Only a renewal counts from the new time.
  await west.ledger.commit(step('west', west.ledger.epoch, 1));
  const [{ left = 0 } = {}] = (await two.leaders()).flatMap(({ unit, leftMs }) =>
    unit === 'platform:west' ? [{ left: leftMs }] : [],
  );
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(LEASE_MS);
  for (const ledger of [one, two]) await ledger.close();
});

test('the lease of a leader that died before the clock of the database was set back lasts longer by this time', async () => {
  const schema = freshSchema();
  const leaseMs = 300;
  const dead = await shared(schema, { clock: stillClock, leaseMs });
  await lead(dead, 'east');
  await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = expires_ms + 3600000`);
  const two = await shared(schema);
  await real.clock.sleep(2 * leaseMs);
  expect(await two.lead('platform:east')).toBeUndefined();
  await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = expires_ms - 3600000`);
  expect(await two.lead('platform:east')).toBeDefined();
  for (const ledger of [dead, two]) await ledger.close();
});

test('a released platform is free at once', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema), await shared(schema)];
  const east = await lead(one, 'east');
  await east.ledger.close();
  expect(await codeOf(east.ledger.commit(step('east', east.ledger.epoch, 1)))).toBe('ledger/fenced');
  const taken = await lead(two, 'east');
  await two.close();
  expect((await lead(one, 'east')).ledger.epoch).toBeGreaterThan(taken.ledger.epoch);
  await one.close();
});

test('a leader writes what its lease covers, and a platform shares facts of the source', async () => {
  const ledger = await shared(freshSchema());
  const east = await lead(ledger, 'east');
  const source = await ledger.lead('source:shop');
  if (source === undefined) throw new Error('the source is led');
  const fact = (key: string, was?: string | null) => ({ op: 'set-fact', key, value: '1', was }) as const;
  const refused = [
    [east, transaction([record('x')], scopeOf('west'))],
    [east, transaction([record('x')], scopeOf('eastern'))],
    [east, transaction([record('x')], 'platform:west')],
    [east, transaction([record('x')], '-')],
    [east, transaction([fact('budget shop')], 'source:shop')],
    [east, transaction([{ op: 'accept-snapshot', snapshot: snapshot() }], 'source:shop')],
    [source, transaction([record('x')], 'source:other')],
    [source, transaction([record('x')], scopeOf('east'))],
  ] as const;
  for (const [{ ledger: led }, refusal] of refused)
    expect(await codeOf(led.commit(refusal)), JSON.stringify(refusal)).toBe('RangeError');
  await east.ledger.commit(transaction([record('x')], 'platform:east'));
  await east.ledger.commit(transaction([fact('budget shop', null), record('x')], 'source:shop'));
  await east.ledger.commit(transaction([fact('capabilities east')], 'source:shop'));
  expect(await codeOf(east.ledger.commit(transaction([fact('budget shop', '2')], 'source:shop')))).toBe(
    'ledger/conflict',
  );
  await source.ledger.commit(
    transaction(
      [{ op: 'accept-snapshot', snapshot: snapshot({ source: 'shop' }) }, fact('budget shop')],
      'source:shop',
    ),
  );
  await ledger.close();
});

test('a leader knows that its lease is over', async () => {
  const schema = freshSchema();
  const [one, two] = [await shared(schema, { clock: stillClock }), await shared(schema, { clock: stillClock })];
  const east = await lead(one, 'east');
  expect(east.over.aborted).toBe(false);
  await expire(schema, 'east');
  await lead(two, 'east');
  expect(await codeOf(east.ledger.commit(transaction([record('x')], 'platform:east')))).toBe('ledger/fenced');
  expect(east.over.aborted).toBe(true);
  const west = await lead(one, 'west');
  await west.ledger.close();
  expect(west.over.aborted).toBe(true);
  for (const ledger of [one, two]) await ledger.close();
});

test('a process that has the whole ledger excludes leaders, and leaders exclude it', async () => {
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  const whole = await openPostgresLedger(access, real);
  const ledger = await shared(schema);
  expect(await ledger.lead('platform:east')).toBeUndefined();
  await whole.close();
  const east = await shared(schema, { leaseMs: 3_000 });
  await lead(east, 'east');
  expect(await codeOf(openPostgresLedger(access, real))).toBe('ledger/locked');
  await east.close();
  await (await openPostgresLedger(access, real)).close();
  await ledger.close();
});

test('a process whose lease expired is fenced by every lease that excludes it', async () => {
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  const whole = await openPostgresLedger(access, { ...real, clock: stillClock });
  await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = 1`);
  const ledger = await shared(schema, { clock: stillClock });
  const east = await lead(ledger, 'east');
  expect(await codeOf(whole.commit(transaction([record('stale')])))).toBe('ledger/fenced');
  await east.ledger.commit(step('east', east.ledger.epoch, 1));
  await expire(schema, 'east');
  const next = await openPostgresLedger(access, real);
  expect(await codeOf(east.ledger.commit(step('east', east.ledger.epoch, 2)))).toBe('ledger/fenced');
  await next.commit(transaction([record('ours')]));
  for (const one of [next, whole, ledger]) await one.close();
});

test('the lease of a leader whose ledger has lost transactions is renewed until its process ends', async () => {
  const schema = freshSchema();
  const leaseMs = 1_000;
  const [one, two] = [await shared(schema, { leaseMs }), await shared(schema, { leaseMs })];
  const east = await lead(one, 'east');
  await east.ledger.commit(step('east', east.ledger.epoch, 1));
  const failover = await standbyOf(schema);
  await east.ledger.commit(step('east', east.ledger.epoch, 2));
  await failover();
  expect(await codeOf(east.ledger.commit(step('east', east.ledger.epoch, 3)))).toBe('ledger/replaced');
  await real.clock.sleep(3 * leaseMs);
  expect(await two.lead('platform:east')).toBeUndefined();
  await one.close();
  await expect.poll(() => two.lead('platform:east')).toBeDefined();
  await two.close();
});

test('a lease that expires while another process takes one that excludes it is a rival, or over', async () => {
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  const whole = await openPostgresLedger(access, { ...real, clock: stillClock });
  const ledger = await shared(schema, { clock: stillClock });
  // It expires within a takeover, each of whose changes of leases takes longer than that.
  await querySharedServer(
    `UPDATE ${schema}.lease SET expires_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 300`,
  );
  await querySharedServer(
    `CREATE FUNCTION ${schema}.wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.6); RETURN NULL; END'`,
  );
  await querySharedServer(
    `CREATE TRIGGER wait AFTER UPDATE ON ${schema}.lease FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.wait()`,
  );
  const east = await ledger.lead('platform:east');
  await querySharedServer(`DROP TRIGGER wait ON ${schema}.lease`);
  const code = await codeOf(whole.commit(transaction([record('of the whole ledger')])));
  expect([east === undefined, code]).toEqual(east === undefined ? [true, undefined] : [false, 'ledger/fenced']);
  for (const one of [whole, ledger]) await one.close();
});

test('of many processes that want many platforms at the same moment, each platform gets exactly one', async () => {
  const schema = freshSchema();
  const processes: SharedLedger[] = [];
  for (let n = 0; n < 5; n += 1) processes.push(await shared(schema, { actor: `process ${n}` }));
  const platforms = Array.from({ length: 8 }, (_, n) => `platform-${n}`);
  const led = await Promise.all(
    processes.flatMap((ledger) =>
      platforms.map(async (platform) => (await ledger.lead(`platform:${platform}`))?.ledger.epoch),
    ),
  );
  const epochs = led.filter((epoch) => epoch !== undefined);
  expect(epochs).toHaveLength(platforms.length);
  expect(new Set(epochs).size).toBe(platforms.length);
  expect((await processes[0]?.leaders())?.map(({ unit }) => unit)).toEqual(platforms.map((name) => `platform:${name}`));
  for (const ledger of processes) await ledger.close();
});

test('a lease counts from before its request was sent, and a commit renews it', async () => {
  const schema = freshSchema();
  let nowMs = 1_000;
  const sinceBoot = () => ({ boot: 'boot', uptimeMs: 0 });
  const clock: Clock = { ...stillClock, sinceBoot, monotonic: () => (nowMs += 10) };
  const ledger = await shared(schema, { clock, leaseMs: 15_000 });
  const beforeMs = nowMs;
  const east = await lead(ledger, 'east');
  expect(east.validUntilMs()).toBe(beforeMs + 10 + 15_000);
  const laterMs = (nowMs = 9_000);
  await east.ledger.commit(step('east', east.ledger.epoch, 1));
  expect(east.validUntilMs()).toBe(laterMs + 10 + 15_000);
  expect(await codeOf(east.ledger.commit(step('east', east.ledger.epoch, 1)))).toBe('ledger/conflict');
  expect(east.validUntilMs(), 'a transaction that was rolled back renews nothing').toBe(laterMs + 10 + 15_000);
  await ledger.close();
});

test('a lease ends earlier by the time for which the machine of its leader was suspended, and as if that were exact', async () => {
  const schema = freshSchema();
  let suspendedMs = 0;
  const clock: Clock = {
    ...stillClock,
    monotonic: () => 500,
    sinceBoot: () => ({ boot: 'boot', uptimeMs: 1_000 + suspendedMs, errorMs: 10 }),
  };
  const ledger = await shared(schema, { clock, leaseMs: 15_000 });
  const east = await lead(ledger, 'east');
  expect(east.validUntilMs()).toBe(500 + 15_000 - 10);
  suspendedMs = 20_000;
  expect(east.validUntilMs()).toBe(500 + 15_000 - 10 - 20_000);
  await east.ledger.commit(step('east', east.ledger.epoch, 1));
  expect(east.validUntilMs(), 'a commit renews it').toBe(500 + 15_000 - 10);
  await ledger.close();
});

test('a ledger that this process has closed says so, and throws no error of a library', async () => {
  const ledger = await shared(freshSchema());
  const east = await lead(ledger, 'east');
  await ledger.close();
  const codes = [ledger.leaders(), ledger.events.since(0, 1), ledger.lead('platform:west')].map(codeOf);
  expect(await Promise.all(codes)).toEqual(['ledger/fenced', 'ledger/fenced', 'ledger/fenced']);
  expect(await codeOf(east.ledger.commit(step('east', east.ledger.epoch, 1)))).toBe('ledger/fenced');
  expect(await codeOf(ledger.reader.objects({}))).toBe('ledger/fenced');
});
