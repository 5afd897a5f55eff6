import { expect, onTestFinished, test } from 'vitest';
import { joinReplicas } from '../../../src/cli/session/replica.ts';
import { type LedFacts, Replicas } from '../../../src/controller/replicas/group.ts';
import { platformUnit, sourceUnit } from '../../../src/controller/replicas/leadership.ts';
import type { ReplicaLeadership } from '../../../src/controller/replicas/replica-leadership.ts';
import type { LeaseUnit } from '../../../src/ledger/shared.ts';
import { createTextLog } from '../../../src/runtime/text-log.ts';
import { MemoryDatabase } from '../../support/memory-database.ts';
import { MemoryStore } from '../../support/memory-ledger.ts';
import { openMemoryShared } from '../../support/memory-shared.ts';
import { silentObserver } from '../../support/silent-observer.ts';
import { seededRandom, VirtualClock } from '../../support/virtual-clock.ts';

const LEASE_MS = 15_000;
const PLATFORMS = ['east', 'north', 'south', 'west'];

function start(clock: VirtualClock, database: MemoryDatabase, { name, source }: { name: string; source: string }) {
  const random = seededRandom(name.charCodeAt(0));
  const shared = openMemoryShared(database, { clock, random, actor: name, replica: name, leaseMs: LEASE_MS });
  const replicas = new Replicas(shared, { name, leaseMs: LEASE_MS, clock });
  const lines: string[] = [];
  const yielded: LeaseUnit[] = [];
  const { leadership } = joinReplicas(
    { replicas, clock },
    {
      observer: { ...silentObserver, yielded: (unit) => void yielded.push(unit) },
      log: createTextLog('info', (line) => void lines.push(line), clock),
      source,
      clock,
      random,
      opened: () => ({ configuration: { platforms: new Map(PLATFORMS.map((platform) => [platform, {}])) } }) as never,
      address: () => null,
    },
  );
  const led = (): readonly string[] =>
    PLATFORMS.filter((platform) => leadership.of(platformUnit(platform)) !== undefined);
  replicas.facts = () => ({
    platforms: led().map((platform) => ({ name: platform }) as LedFacts['platforms'][number]),
    regions: [],
    queued: 0,
    running: 0,
    source,
  });
  leadership.start();
  onTestFinished(() => ended(clock, leadership));
  const rivals = () => lines.filter((line) => line.includes('controller/other-source'));
  const leadsSource = () => leadership.of(sourceUnit(source)) !== undefined;
  return { led, leadsSource, rivals, yielded, end: () => ended(clock, leadership) };
}

async function ended(clock: VirtualClock, leadership: ReplicaLeadership): Promise<void> {
  const drained = leadership.drain();
  await pass(clock, 5_000);
  await drained;
}

async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 100) {
    clock.advance(100);
    await new Promise(setImmediate);
  }
}

function scene() {
  const clock = new VirtualClock();
  const database = new MemoryDatabase(new MemoryStore('lineage'), () => clock.monotonic());
  return { clock, add: (name: string) => start(clock, database, { name, source: name.slice(0, -2) }) };
}

test('a controller beside one of another source works on nothing, says so, and disturbs nothing', async () => {
  const { clock, add } = scene();
  const shop = add('shop-1');
  await pass(clock, 5_000);
  const blog = add('blog-1');
  await pass(clock, 300_000);
  expect(shop.led()).toEqual(PLATFORMS);
  expect(shop.yielded).toEqual([]);
  expect([blog.led(), blog.leadsSource()]).toEqual([[], false]);
  expect(blog.rivals()).toEqual([
    expect.stringMatching(/error .*works on nothing.*shop-1 works on the source "shop".*on "blog".*\?schema=NAME/),
  ]);
  expect(shop.rivals()).toEqual([]);
});

test('the platforms stay with a source while its controllers are replaced, and until all of them have ended', async () => {
  const { clock, add } = scene();
  const shop = add('shop-1');
  await pass(clock, 5_000);
  const blog = add('blog-1');
  await pass(clock, 60_000);
  const next = add('shop-2');
  await pass(clock, 20_000);
  await shop.end();
  await pass(clock, 120_000);
  expect(next.led()).toEqual(PLATFORMS);
  expect([blog.led(), next.rivals()]).toEqual([[], []]);
  await next.end();
  await pass(clock, 60_000);
  expect(blog.led()).toEqual(PLATFORMS);
});

test('of two controllers that start at the same time, one gets all platforms', async () => {
  const { clock, add } = scene();
  const [shop, blog] = [add('shop-1'), add('blog-1')];
  await pass(clock, 120_000);
  expect([shop.led(), blog.led()].map(({ length }) => length).toSorted()).toEqual([0, PLATFORMS.length]);
});
