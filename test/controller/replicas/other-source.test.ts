import { expect, onTestFinished, test } from 'vitest';
import { joinReplicas } from '../../../src/cli/session/replica.ts';
import { Replicas } from '../../../src/controller/replicas/group.ts';
import { platformUnit, sourceUnit } from '../../../src/controller/replicas/leadership.ts';
import { createTextLog } from '../../../src/runtime/text-log.ts';
import { MemoryDatabase } from '../../support/memory-database.ts';
import { MemoryStore } from '../../support/memory-ledger.ts';
import { openMemoryShared } from '../../support/memory-shared.ts';
import { silentObserver } from '../../support/silent-observer.ts';
import { seededRandom, VirtualClock } from '../../support/virtual-clock.ts';

const LEASE_MS = 15_000;
const EAST = platformUnit('east');

function start(clock: VirtualClock, database: MemoryDatabase, { name, source }: { name: string; source: string }) {
  const random = seededRandom(name.charCodeAt(0));
  const shared = openMemoryShared(database, { clock, random, actor: name, replica: name, leaseMs: LEASE_MS });
  const replicas = new Replicas(shared, { name, leaseMs: LEASE_MS, clock });
  replicas.facts = () => ({ platforms: [], regions: [], queued: 0, running: 0, source });
  const lines: string[] = [];
  const { leadership } = joinReplicas(
    { replicas, clock },
    {
      observer: silentObserver,
      log: createTextLog('info', (line) => void lines.push(line), clock),
      source,
      clock,
      random,
      opened: () => ({ configuration: { platforms: new Map([['east', {}]]) } }) as never,
      address: () => null,
    },
  );
  leadership.start();
  onTestFinished(async () => {
    const drained = leadership.drain();
    await pass(clock, 5_000);
    await drained;
  });
  const rivals = () => lines.filter((line) => line.includes('controller/other-source'));
  return {
    leads: () => [EAST, sourceUnit(source)].map((unit) => leadership.of(unit) !== undefined),
    rivals,
    leadership,
  };
}

async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 100) {
    clock.advance(100);
    await new Promise(setImmediate);
  }
}

test('a controller beside one of another source works on nothing, and says so, until that one ends', async () => {
  const clock = new VirtualClock();
  const database = new MemoryDatabase(new MemoryStore('lineage'), () => clock.monotonic());
  const shop = start(clock, database, { name: 'shop-1', source: 'shop' });
  await pass(clock, 5_000);
  const blog = start(clock, database, { name: 'blog-1', source: 'blog' });
  const standby = start(clock, database, { name: 'shop-2', source: 'shop' });
  await pass(clock, 120_000);
  expect(shop.leads().includes(true) || standby.leads().includes(true)).toBe(true);
  expect(blog.leads()).toEqual([false, false]);
  expect(blog.rivals()).toEqual([
    expect.stringMatching(/error .*works on nothing.*shop-1 works on the source "shop".*on "blog".*\?schema=NAME/),
  ]);
  expect([...shop.rivals(), ...standby.rivals()]).toEqual([]);
  for (const { leadership } of [shop, standby]) {
    const drained = leadership.drain();
    await pass(clock, 5_000);
    await drained;
  }
  await pass(clock, 60_000);
  expect(blog.leads()).toEqual([true, true]);
});
