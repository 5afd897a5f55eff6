import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ReplicaGroup, UnitState } from '../../src/model/replicas.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { runProcess } from '../cli/running.ts';
import { commit } from '../source/repositories.ts';
import { postgresUrl, PostgresServer } from '../support/postgres.ts';
import { ask, ENV, type Place, placed, readiness, until, web } from './place.ts';

const env = { ...ENV, PORTOLAN_SET_CONTROLLER_LEASE: '2s' };

type Daemon = Awaited<ReturnType<Place['daemon']>>;

async function group(): Promise<{ readonly place: Place; readonly start: (name: string) => Promise<Daemon> }> {
  const server = await PostgresServer.create();
  onTestFinished(() => server.remove());
  const place = await placed();
  place.ledger = postgresUrl(server.port, 'replicas');
  return { place, start: (name) => place.daemon(undefined, { ...env, PORTOLAN_RUN_REPLICA_NAME: name }) };
}

/** Returns how a daemon took the platform, each time. */
function taken(daemon: Daemon): readonly string[] {
  return [...daemon.outputSoFar().err.matchAll(/leads platform:default \((\w+)\)/g)].map(([, from = '']) => from);
}

async function leads(daemon: Daemon, times: number): Promise<void> {
  await until(
    () => taken(daemon).length >= times,
    () => daemon.outputSoFar().err,
  );
}

function creations({ sandbox }: Place): number {
  return sandbox.requests().filter(({ operation }) => operation === 'createRule').length;
}

test('when one of two controllers is killed, the other one continues; when one ends, it hands over', async () => {
  const { place, start } = await group();
  const [first, second] = [await start('first'), await start('second')];
  const said = () => second.outputSoFar().err;
  await until(() => place.domains().length === 2 && place.port().alias === 'WEB', said);
  const [leader, other] = taken(first).length > 0 ? [first, second] : [second, first];
  expect([taken(leader), taken(other)]).toEqual([['free'], []]);

  leader.child.kill('SIGKILL');
  await leader.ended;
  commit(place.checkout, { 'web.yaml': web('SITE') });
  await leads(other, 1);
  expect(taken(other)).toEqual(['expired']);
  await until(
    () => place.port().alias === 'SITE',
    () => other.outputSoFar().err,
  );

  const third = await start('third');
  await until(async () => (await ask<{ replicas: unknown[] }>(third.url, '/replicas')).replicas.length === 2);
  other.child.kill('SIGTERM');
  await leads(third, 1);
  expect(taken(third)).toEqual(['released']);
  const ended = await other.ended;
  expect(ended.code, ended.err).toBe(0);
  commit(place.checkout, { 'web.yaml': web('SHOP') });
  await until(
    () => place.port().alias === 'SHOP',
    () => third.outputSoFar().err,
  );
  third.child.kill('SIGTERM');
  expect((await third.ended).code).toBe(0);

  expect(creations(place)).toBe(2);
  const verified = await runProcess(['ledger', 'verify', '--ledger', place.ledger], { env });
  expect(verified.code, verified.err).toBe(0);
});

test('a controller that was stopped for longer than its lease sends nothing when it continues, and stays as standby', async () => {
  const { place, start } = await group();
  const first = await start('first');
  await until(
    () => place.port().alias === 'WEB',
    () => first.outputSoFar().err,
  );
  const second = await start('second');
  first.child.kill('SIGSTOP');
  await leads(second, 1);
  commit(place.checkout, { 'web.yaml': web('SITE') });
  await until(
    () => place.port().alias === 'SITE',
    () => second.outputSoFar().err,
  );
  const sent = place.writes();
  first.child.kill('SIGCONT');
  await until(
    () => /does not lead platform:default any more/.test(first.outputSoFar().err),
    () => first.outputSoFar().err,
  );
  expect(place.writes()).toBe(sent);
  second.child.kill('SIGTERM');
  await leads(first, 2);
  for (const daemon of [first, second]) daemon.child.kill('SIGTERM');
  expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
});

test('a leader that reaches neither the platform nor git keeps its lead, and an end hands it over', async () => {
  const { place, start } = await group();
  const first = await start('first');
  await until(
    () => place.domains().length === 2 && place.port().alias === 'WEB',
    () => first.outputSoFar().err,
  );
  const second = await start('second');
  const said = (): string => second.outputSoFar().err;
  const units = async (): Promise<readonly UnitState[]> => (await ask<ReplicaGroup>(second.url, '/replicas')).units;
  const before = await units();
  const leaseOver = systemClock.monotonic() + 3 * 2_000;
  await place.sandbox.close();
  renameSync(join(place.checkout, '.git'), join(place.checkout, 'away'));
  await until(async () => (await readiness(second.url).catch(() => '')) === 'Unknown Unreachable', said);
  await until(
    async () => (await ask<{ source: { error: unknown } }>(second.url, '/status')).source.error !== null,
    said,
  );
  await until(() => systemClock.monotonic() > leaseOver);
  const now = (await units()).map(({ unit, leader, epoch }) => ({ unit, leader, epoch }));
  expect(now).toEqual(before.map(({ unit, leader, epoch }) => ({ unit, leader, epoch })));
  expect(now.map(({ leader }) => leader)).toEqual(['first', 'first']);
  first.child.kill('SIGTERM');
  await leads(second, 1);
  expect(taken(second)).toEqual(['released']);
});
