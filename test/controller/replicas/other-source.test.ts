import { expect, onTestFinished, test } from 'vitest';
import { joinReplicas } from '../../../src/cli/session/replica.ts';
import { type LedFacts, Replicas } from '../../../src/controller/replicas/group.ts';
import { platformUnit, sourceUnit } from '../../../src/controller/replicas/leadership.ts';
import type { ReplicaLeadership } from '../../../src/controller/replicas/replica-leadership.ts';
import type { LeaseUnit } from '../../../src/ledger/shared.ts';
import { createTextLog } from '../../../src/runtime/text-log.ts';
import { type DatabaseLink, LinkLost, MemoryDatabase } from '../../support/memory-database.ts';
import { MemoryStore } from '../../support/memory-ledger.ts';
import { openMemoryShared } from '../../support/memory-shared.ts';
import { silentObserver } from '../../support/silent-observer.ts';
import { seededRandom, VirtualClock } from '../../support/virtual-clock.ts';

const LEASE_MS = 15_000;
const LATENCY_MS = 2;
const PLATFORMS = ['east', 'north', 'south', 'west'];

/** How a process reaches the database. */
type Link = { isCut: boolean };

function linkOf(clock: VirtualClock, link: Link): DatabaseLink {
  return {
    run: async (_, statement) => {
      await clock.sleep(LATENCY_MS);
      if (link.isCut) throw new LinkLost(false);
      return statement();
    },
    signal: (deliver) => (link.isCut ? undefined : deliver()),
  };
}

function start(clock: VirtualClock, database: MemoryDatabase, { name, source }: { name: string; source: string }) {
  const link: Link = { isCut: false };
  const random = seededRandom(name.charCodeAt(0));
  const shared = openMemoryShared(database, {
    clock,
    random,
    actor: name,
    replica: name,
    leaseMs: LEASE_MS,
    link: linkOf(clock, link),
  });
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
  return { led, leadsSource, link, rivals, yielded, end: () => ended(clock, leadership) };
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

test.for([0, 100, 300])(
  'of controllers that start %d ms apart, those of one source get all platforms for good',
  async (apartMs) => {
    const { clock, add } = scene();
    const [shop, blog, next] = [
      add('shop-1'),
      await after(clock, apartMs, () => add('blog-1')),
      await after(clock, apartMs, () => add('shop-2')),
    ];
    await pass(clock, 120_000);
    const yielded = shop.yielded.length + blog.yielded.length + next.yielded.length;
    const led = (): readonly number[] => [shop.led().length + next.led().length, blog.led().length].toSorted();
    expect(led()).toEqual([0, PLATFORMS.length]);
    await pass(clock, 300_000);
    expect(led()).toEqual([0, PLATFORMS.length]);
    expect(shop.yielded.length + blog.yielded.length + next.yielded.length - yielded).toBeLessThan(3);
  },
);

test.for([0, 1, 2, 3, 4])(
  'a source whose only leader was cut off gets nothing back, and one source leads (%d)',
  async (at) => {
    const { clock, add } = scene();
    const shop = add('shop-1');
    await pass(clock, 5_000);
    const blog = add('blog-1');
    await pass(clock, 30_000 + at * 700);
    shop.link.isCut = true;
    await pass(clock, 40_000 + at * 300);
    expect(blog.led()).toEqual(PLATFORMS);
    shop.link.isCut = false;
    await pass(clock, 120_000);
    expect([shop.led(), blog.led()]).toEqual([[], PLATFORMS]);
  },
);

async function after<Result>(clock: VirtualClock, ms: number, work: () => Result): Promise<Result> {
  await pass(clock, ms);
  return work();
}
