import { expect, onTestFinished, test } from 'vitest';
import { platformUnit, sourceUnit } from '../../../src/controller/replicas/leadership.ts';
import { MemoryDatabase } from '../../support/memory-database.ts';
import { type MemoryShared, openMemoryShared } from '../../support/memory-shared.ts';
import { seededRandom } from '../../support/virtual-clock.ts';
import { DaemonWorld } from '../daemon.ts';
import { APPLICATION, SHOP, web } from '../shop.ts';
import { HandLeadership } from './hand-leadership.ts';

const PLATFORM = platformUnit('default');
const SOURCE = sourceUnit('default');
const FILES = { 'app.yaml': APPLICATION, 'web.yaml': web('WEB') };

/** A controller that leads its source, over a database that another process uses too. */
async function following(): Promise<{ world: DaemonWorld; leads: HandLeadership; other: MemoryShared }> {
  const world = new DaemonWorld();
  const database = new MemoryDatabase(world.store, () => world.clock.monotonic());
  const open = (replica: string, seed: number) =>
    openMemoryShared(database, { clock: world.clock, random: seededRandom(seed), actor: replica, replica });
  const [own, other] = [open('own', 1), open('other', 2)];
  const leads = new HandLeadership(own);
  world.share(own, leads);
  onTestFinished(async () => {
    await world.controller.drain();
    await own.close();
    await other.close();
  });
  world.start();
  await leads.take(SOURCE);
  await world.commit(FILES);
  return { world, leads, other };
}

test('a platform gets no request before this process leads it', async () => {
  const { world, leads } = await following();
  await world.pass(60_000);
  expect(world.requests).toEqual([]);
  await leads.take(PLATFORM);
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it is in sync');
  expect(world.writes().length).toBeGreaterThan(0);
});

test('a hand-over waits for the write in flight, which is recorded, and starts no other one', async () => {
  const { world, leads } = await following();
  const answered = Promise.withResolvers<undefined>();
  world.answer = (request) => (request.isRead ? undefined : answered.promise);
  await leads.take(PLATFORM);
  await world.until(() => world.writes().length > 0, 'a write leaves');
  let hasLeft = false;
  const leaving = leads.leave(PLATFORM).then(() => (hasLeft = true));
  await world.pass(2_000);
  expect(hasLeft).toBe(false);
  answered.resolve(undefined);
  await leaving;
  await world.pass(60_000);
  expect(world.writes()).toHaveLength(1);
  expect([...world.store.intents.values()].map(({ intent }) => intent.state)).toEqual(['applied']);
});

test('a process that was stopped until another one took its platform over sends nothing, and does not end', async () => {
  const { world, leads, other } = await following();
  let hasLost = false;
  void world.controller.lost.then(() => (hasLost = true));
  let taken: unknown;
  world.answer = async (request) => {
    if (!request.isRead || taken !== undefined) return undefined;
    // The process is stopped while it waits for this answer: nothing renews its lease.
    world.clock.advance(60_000);
    taken = await other.lead(PLATFORM);
    return undefined;
  };
  await leads.take(PLATFORM);
  await world.until(() => taken !== undefined, 'the other one leads the platform');
  await world.pass(120_000);
  expect(leads.of(PLATFORM)).toBeUndefined();
  expect(world.writes()).toEqual([]);
  expect([...world.store.intents.values()]).toEqual([]);
  expect(hasLost).toBe(false);
  expect(world.lines.filter((line) => line.includes('a bug in Portolan'))).toEqual([]);
});
