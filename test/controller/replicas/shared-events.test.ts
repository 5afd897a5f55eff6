import { expect, onTestFinished, test } from 'vitest';
import { draftEvent } from '../../../src/controller/events.ts';
import { createSharedEventLog, type SharedEventLog } from '../../../src/controller/replicas/shared-events.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { logInto } from '../hand-made.ts';
import { SharedWorld } from './shared-world.ts';

class World extends SharedWorld {
  replica(name: string): SharedEventLog {
    const { clock } = this;
    const shared = this.open(name);
    const log = createSharedEventLog({ shared, clock, random: systemRandom, log: logInto(this.lines) });
    onTestFinished(() => log.close(0));
    return log;
  }
}

const publish = (log: SharedEventLog, from: number, count: number): void => {
  for (let at = from; at < from + count; at += 1) log.publish(draftEvent('apply.started', `event ${at}`));
};

const messagesIn = (log: SharedEventLog, after = 0): readonly string[] =>
  log.since(after, Number.MAX_SAFE_INTEGER).events.map(({ message }) => message);

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `event ${at}`);

test('replicas have the same events under the same sequences, and only the publisher reports one as its own', async () => {
  const world = new World();
  const [one, other] = [world.replica('one'), world.replica('other')];
  const own: string[] = [];
  one.subscribe(({ message }) => own.push(message), 'own');
  publish(one, 0, 3);
  expect(own).toEqual(numbered(3));
  publish(other, 3, 2);
  await world.until(() => one.newest === 5 && other.newest === 5, 'both have all');
  expect(one.since(0, 9)).toEqual(other.since(0, 9));
  expect([...messagesIn(one)].sort()).toEqual(numbered(5));
  expect(own).toEqual(numbered(3));
  expect(one.origin).toBe(other.origin);
});

test('without signals, events arrive within the poll interval', async () => {
  const world = new World();
  world.hasSignals = false;
  const [one, other] = [world.replica('one'), world.replica('other')];
  await world.until(() => other.contact().ageMs === 0, 'it has read');
  publish(one, 0, 1);
  const fromMs = world.clock.now();
  await world.until(() => other.newest === 1, 'it arrives');
  expect(world.clock.now() - fromMs).toBeLessThanOrEqual(2_100);
});

test.for(['before', 'after'] as const)('an append that is lost %s the database has it is made once', async (cut) => {
  const world = new World();
  const [one, other] = [world.replica('one'), world.replica('other')];
  world.cut.set('one', cut);
  publish(one, 0, 4);
  await world.until(() => world.lines.some((line) => line.includes('events wait in memory')), 'it is reported');
  publish(one, 4, 2);
  world.cut.delete('one');
  await world.until(() => one.newest >= 6 && other.newest >= 6, 'both have all');
  expect(messagesIn(one)).toEqual(numbered(6));
  expect(messagesIn(other)).toEqual(numbered(6));
});

test('an append that the database made after its answer was given up counts once', async () => {
  const world = new World();
  const [one, other] = [world.replica('one'), world.replica('other')];
  publish(one, 0, 2);
  await world.until(() => other.newest === 2, 'both have them');
  // The same events once more, as after a retry that raced with the first attempt.
  const stored = world.database.events.slice();
  for (const { event } of stored) world.database.events.push({ sequence: (world.database.sequence += 1), event });
  publish(other, 2, 1);
  await world.until(() => one.newest === 5 && other.newest === 5, 'both have all');
  expect(messagesIn(one)).toEqual(numbered(3));
  // A reader continues behind the duplicates.
  expect(one.since(2, 9)).toMatchObject({ events: [{ sequence: 5 }], isComplete: true, through: 5 });
  expect(messagesIn(other, 3)).toEqual(['event 2']);
});

test('while the database is away, memory is bounded, its age shows, and the newest events follow in order', async () => {
  const world = new World();
  const one = world.replica('one');
  publish(one, 0, 1);
  await world.until(() => one.newest === 1, 'it is stored');
  world.cut.set('one', 'before');
  publish(one, 1, 6_000);
  await world.until(() => !one.contact().isReachable, 'the database is away');
  expect(one.contact().ageMs).toBeGreaterThanOrEqual(5_000);
  expect(messagesIn(one)).toEqual(['event 0']);
  world.cut.delete('one');
  await world.until(() => one.contact().isReachable && one.newest === 5_001, 'it is back');
  const messages = messagesIn(one);
  expect(messages.slice(-5_000)).toEqual(numbered(6_001).slice(-5_000));
  expect(world.lines.some((line) => line.includes('dropped=1000'))).toBe(true);
});

test('a position that the database does not have, as after it was restored, is not known', async () => {
  const world = new World();
  const one = world.replica('one');
  publish(one, 0, 2);
  await world.until(() => one.newest === 2, 'they are stored');
  expect(one.since(2, 1).isComplete).toBe(true);
  expect(one.since(3, 1).isComplete).toBe(false);
});

/** Two replicas that have read ten events, and a server in the place of the first one that lacks the last four. */
async function failedOver() {
  const world = new World();
  const [one, other] = [world.replica('one'), world.replica('other')];
  publish(one, 0, 10);
  await world.until(() => one.newest === 10 && other.newest === 10, 'both have all');
  world.database.events.splice(6);
  world.database.sequence = 6;
  world.database.server = 'second';
  return { world, one, other };
}

test.for([2, 9])('a replica goes on with a server that lacks the last events, and has %s others', async (others) => {
  const { world, one, other } = await failedOver();
  let rung = 0;
  other.subscribe(() => (rung += 1));
  publish(one, 10, others);
  const kept = [...numbered(6), ...numbered(10 + others).slice(10)];
  for (const log of [one, other]) {
    await world.until(() => messagesIn(log).length === kept.length, 'the new ones arrive');
    expect(messagesIn(log)).toEqual(kept);
  }
  expect([other.newest, other.since(6, 9).isComplete]).toEqual([6 + others, true]);
  expect(other.since(10, 9).isComplete).toBe(others > 4);
  expect(rung).toBeGreaterThan(0);
});

test('a reader of events that a failover lost gets those in their place, after a gap', async () => {
  const { world, one, other } = await failedOver();
  publish(one, 10, 2);
  await world.until(() => other.newest === 8, 'the new ones arrive');
  expect(messagesIn(other, 10)).toEqual(['event 10', 'event 11']);
  expect(other.since(10, 1)).toMatchObject({ isComplete: false, through: 7 });
  expect(other.since(10, 2)).toMatchObject({ isComplete: false, through: 8 });
});

test('a restart of the database is no gap for those who read events', async () => {
  const world = new World();
  const [one, other] = [world.replica('one'), world.replica('other')];
  publish(one, 0, 1_200);
  await world.until(() => other.newest === 1_200, 'it has all');
  world.database.server = 'second';
  let isWhole = true;
  other.subscribe(() => (isWhole &&= other.since(1_200, 1).isComplete));
  publish(one, 1_200, 1);
  await world.until(() => other.newest === 1_201, 'the new one arrives');
  expect([isWhole, messagesIn(other)]).toEqual([true, numbered(1_201)]);
});

test('a replica that starts has the stored events, and one that was away for long reports the gap', async () => {
  const world = new World();
  const one = world.replica('one');
  publish(one, 0, 3);
  await world.until(() => one.newest === 3, 'they are stored');
  const late = world.replica('late');
  await late.refresh?.();
  expect(messagesIn(late)).toEqual(numbered(3));
  world.cut.set('late', 'before');
  publish(one, 3, 4_000);
  await world.until(() => one.newest === 4_003, 'they are stored');
  publish(one, 4_003, 4_000);
  await world.until(() => one.newest === 8_003, 'they are stored');
  world.cut.delete('late');
  await world.until(() => late.newest === 8_003, 'it has read');
  expect(late.since(3, 1).isComplete).toBe(false);
  expect(messagesIn(late)).toEqual(numbered(8_003).slice(-5_000));
});

test('the events that wait are stored before the process ends', async () => {
  const world = new World();
  const one = world.replica('one');
  publish(one, 0, 450);
  await one.close(1_000);
  expect(world.database.events.length).toBe(450);
});

test('after its end, nothing reads the database, which is closed then', async () => {
  const world = new World();
  const { events, reader, onSignal } = world.open('one');
  let [begun, ended] = [0, 0];
  const gate = Promise.withResolvers<void>();
  const since = async (sequence: number, limit: number) => {
    begun += 1;
    await gate.promise;
    const found = await events.since(sequence, limit);
    ended += 1;
    return found;
  };
  let signal = (): void => {};
  const shared = {
    events: { ...events, since },
    reader,
    onSignal: (listener: Parameters<typeof onSignal>[0]) => {
      signal = () => listener('event');
      return () => {};
    },
  };
  const log = createSharedEventLog({ shared, clock: world.clock, random: systemRandom, log: logInto(world.lines) });
  // One reading is under way, and a signal asks for the next one.
  signal();
  const closing = log.close(0);
  signal();
  gate.resolve();
  await closing;
  const atEnd = [begun, ended];
  await log.refresh?.();
  await world.clock.sleep(10_000);
  expect([begun, ended, begun - ended]).toEqual([...atEnd, 0]);
});

test.for(['events', 'append'] as const)('after a bug in %s, events are stored and read', async (kind) => {
  const world = new World();
  const [one, other] = [world.replica('one'), world.replica('other')];
  // Both statements have one name: the first one of a publisher reads, and a reader never appends.
  const broken = kind === 'append' ? 'one' : 'other';
  world.cut.set(broken, () => {
    throw new TypeError('no rows');
  });
  publish(one, 0, 3);
  await world.clock.sleep(20_000);
  world.cut.delete(broken);
  await world.until(() => other.newest === 3, 'they arrive');
  expect(messagesIn(other)).toEqual(numbered(3));
  expect(world.lines.filter((line) => line.includes('a bug in Portolan'))).toHaveLength(kind === 'append' ? 2 : 1);
});
