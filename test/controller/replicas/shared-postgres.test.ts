import { expect, onTestFinished, test } from 'vitest';
import { draftEvent } from '../../../src/controller/events.ts';
import { Commands } from '../../../src/controller/replicas/commands.ts';
import { createSharedEventLog } from '../../../src/controller/replicas/shared-events.ts';
import { openSharedLedger } from '../../../src/ledger/postgres/shared.ts';
import type { LeaseUnit, SharedLedger } from '../../../src/ledger/shared.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { SharedSessionStore } from '../../../src/server/sign-in/shared-sessions.ts';
import { freshSchema, querySharedServer, sharedUrl, trusting } from '../../support/postgres-shared.ts';
import { logInto } from '../hand-made.ts';
import { HandLeadership } from './hand-leadership.ts';

const UNIT: LeaseUnit = 'platform:default';
const never = new AbortController().signal;
const real = { clock: systemClock, random: systemRandom };

/** Two processes over a ledger in PostgreSQL. */
async function twoProcesses(): Promise<{ schema: string; one: SharedLedger; two: SharedLedger }> {
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  const open = async (replica: string): Promise<SharedLedger> => {
    const shared = await openSharedLedger(access, { ...real, replica, actor: `test ${replica}` });
    onTestFinished(() => shared.close());
    return shared;
  };
  return { schema, one: await open('one'), two: await open('two') };
}

test('events of two processes have one order in PostgreSQL, whichever process reads them', async () => {
  const { one, two } = await twoProcesses();
  const logs = [one, two].map((shared) => {
    const log = createSharedEventLog({ shared, ...real, log: logInto([]) });
    onTestFinished(() => log.close(1_000));
    return log;
  });
  for (let at = 0; at < 300; at += 1) logs[at % 2]?.publish(draftEvent('apply.started', `event ${at}`));
  await expect.poll(() => logs.map(({ newest }) => newest)).toEqual([300, 300]);
  const [first, second] = logs.map((log) => log.since(0, 1_000).events);
  expect(first).toEqual(second);
  expect(new Set(first?.map(({ message }) => message)).size).toBe(300);
  // Each process keeps its own order.
  const ofOne = first?.map(({ message }) => Number(message.split(' ')[1])).filter((at) => at % 2 === 0);
  expect(ofOne).toEqual(ofOne?.toSorted((left, right) => left - right));
  expect(logs[0]?.origin).toBe(one.reader.lineage);
});

test('a command waits in PostgreSQL for the next leader', async () => {
  const { schema, one, two } = await twoProcesses();
  const done: string[] = [];
  const replica = (name: string, shared: SharedLedger) => {
    const leadership = new HandLeadership(shared);
    const commands = new Commands({
      shared,
      leadership,
      units: () => [UNIT],
      sourceUnit: 'source:default',
      clock: systemClock,
      log: logInto([]),
      carryOut: async ({ method }) => {
        done.push(`${name} ${method}`);
        return { by: name };
      },
      isAwaited: () => true,
      count: () => {},
      isLong: () => false,
      onlyStops: () => false,
      orderOf: () => 'shop',
      refused: () => {},
    });
    commands.start();
    onTestFinished(() => commands.close());
    return { leadership, commands };
  };
  const [first, second] = [replica('one', one), replica('two', two)];
  await first.leadership.take(UNIT);
  const add = (method: string) => second.commands.add({ unit: UNIT, method, args: 'shop', by: 'ops' });
  expect(await second.commands.resultOf(await add('suspend'), 10_000, never)).toEqual({ value: { by: 'one' } });
  // The first one ends without handing over.
  await first.commands.close();
  const id = await add('resume');
  await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = 1 WHERE scope = '${UNIT}'`);
  await expect.poll(() => second.leadership.take(UNIT)).toBe(true);
  expect(await second.commands.resultOf(id, 10_000, never)).toEqual({ value: { by: 'two' } });
  expect(done).toEqual(['one suspend', 'two resume']);
});

test('a session in PostgreSQL counts at each process, until one of them ends it', async () => {
  const { schema, one, two } = await twoProcesses();
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const settings = () => ({ idleMs: 600_000, lifetimeMs: 3_600_000, max: 10 });
  const [first, second] = [one, two].map(
    (shared) => new SharedSessionStore({ shared, leaseMs: 15_000, ...real, settings, signal: end.signal }),
  ) as [SharedSessionStore, SharedSessionStore];
  const user = { via: 'token', name: 'ops', fingerprint: 'f' } as const;
  const id = await first.start(user);
  expect(await second.use(id)).toMatchObject({ user });
  const ended = Promise.withResolvers<void>();
  first.whenEnded(id, never, ended.resolve);
  await second.end(id);
  await ended.promise;
  expect(await first.use(id)).toBeUndefined();
  const rows = await querySharedServer(`SELECT * FROM ${schema}.session`);
  expect(rows).toEqual([]);
});
