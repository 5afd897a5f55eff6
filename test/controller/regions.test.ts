import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRegions, FAILED_MS, type CheckedRegion } from '../../src/controller/regions.ts';
import { PortolanError } from '../../src/model/errors.ts';
import type { Region } from '../../src/platform/records.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const INTERVAL_MS = 30_000;

function regionRecord(name: string, status: string): Region {
  return {
    id: null,
    name,
    alias: name,
    url: 'https://region.example.com',
    websocketUrl: null,
    httpDomain: null,
    tcpDomain: null,
    status,
    description: '',
    scope: null,
  };
}

/** A platform whose listing the test sets; an error is thrown. */
function scene(listing: Record<string, string> | PortolanError) {
  const clock = new VirtualClock();
  const changes: string[] = [];
  const world = { listing, reads: 0 };
  const client = {
    name: 'default',
    regions: async () => {
      world.reads += 1;
      if (world.listing instanceof PortolanError) throw world.listing;
      return Object.entries(world.listing).map(([name, status]) => regionRecord(name, status));
    },
  };
  const onChange = ({ state, message }: CheckedRegion): void => void changes.push(`${state}: ${message}`);
  return { clock, client, world, changes, regions: createRegions({ clock, intervalMs: INTERVAL_MS, onChange }) };
}

const down = new PortolanError({
  code: 'platform/unreachable',
  disposition: 'unreachable',
  message: 'no answer',
  remedy: 'wait',
});

test.for([
  ['1', 'open', undefined],
  ['0', 'paused', 'being edited'],
  ['2', 'paused', 'disabled'],
  ['3', 'paused', 'under maintenance'],
  ['9', 'paused', 'in state "9"'],
] as const)('a region of status %s is %s', async ([status, type, state]) => {
  const { client, regions } = scene({ 'region-1': status });
  const look = await regions.check(client, 'team-a', 'region-1');
  expect(look.type).toBe(type);
  expect(look.type === 'paused' ? look.state : undefined).toBe(state);
});

test('a region that is not listed is paused: nothing would be written to it', async () => {
  const { client, regions, clock } = scene({ 'region-1': '1' });
  expect(await regions.check(client, 'team-a', 'region-2')).toEqual({
    type: 'paused',
    state: 'not in the list of regions',
    sinceMs: clock.now(),
    nextCheckMs: clock.now() + INTERVAL_MS,
  });
});

test('a paused region resumes by itself, and each change is told once', async () => {
  const { clock, client, world, changes, regions } = scene({ 'region-1': '1', 'region-2': '1' });
  const look = async () => (await regions.check(client, 'team-a', 'region-1')).type;
  expect(await look()).toBe('open');
  expect(changes).toEqual([]);
  world.listing = { 'region-1': '3', 'region-2': '2' };
  expect(await look()).toBe('open');
  clock.advance(INTERVAL_MS);
  const sinceMs = clock.now();
  expect(await look()).toBe('paused');
  clock.advance(INTERVAL_MS);
  expect(await regions.check(client, 'team-a', 'region-1')).toMatchObject({ type: 'paused', sinceMs });
  world.listing = { 'region-1': '1' };
  clock.advance(INTERVAL_MS);
  expect(await look()).toBe('open');
  // Nobody has asked for region-2.
  expect(changes).toEqual(['paused: region region-1 is under maintenance', 'open: region region-1 is enabled']);
  expect(regions.checked()).toEqual([
    {
      platform: 'default',
      region: 'region-1',
      state: 'open',
      message: 'region region-1 is enabled',
      sinceMs: clock.now(),
    },
  ]);
});

test('all who ask at once, and all within the interval, cost one request; platforms have listings of their own', async () => {
  const { clock, client, world, regions } = scene({ 'region-1': '1' });
  const ask = async () =>
    await Promise.all(Array.from({ length: 50 }, (_, index) => regions.check(client, 'team-a', `region-${index % 2}`)));
  await ask();
  clock.advance(INTERVAL_MS - 1);
  await ask();
  expect(world.reads).toBe(1);
  clock.advance(1);
  await ask();
  expect(world.reads).toBe(2);
  await regions.check({ ...client, name: 'other' }, 'team-a', 'region-1');
  expect(world.reads).toBe(3);
});

test('where the listing fails, what was known stands; where nothing was, that is said; and it is not asked for at once again', async () => {
  const { clock, client, world, regions } = scene(down);
  expect(await regions.check(client, 'team-a', 'region-1')).toEqual({
    type: 'unknown',
    error: down,
    nextCheckMs: clock.now() + FAILED_MS,
  });
  await regions.check(client, 'team-a', 'region-1');
  expect(world.reads).toBe(1);
  world.listing = { 'region-1': '3' };
  clock.advance(FAILED_MS);
  expect((await regions.check(client, 'team-a', 'region-1')).type).toBe('paused');
  world.listing = down;
  clock.advance(INTERVAL_MS);
  expect((await regions.check(client, 'team-a', 'region-1')).type).toBe('paused');
  expect(world.reads).toBe(3);
});

test('a fault of ours is not taken for one of the platform', async () => {
  const { client, regions } = scene({});
  const broken = {
    ...client,
    regions: async () => {
      throw new TypeError('undefined is not a function');
    },
  };
  await expect(regions.check(broken, 'team-a', 'region-1')).rejects.toThrow(TypeError);
  expect((await regions.check(client, 'team-a', 'region-1')).type).toBe('paused');
});

test('whatever the listings say and when they are asked for, it is read at most once an interval and told as it was read', async () => {
  const step = fc.record({
    listing: fc.oneof(
      fc.constant(down),
      fc.dictionary(fc.constantFrom('region-1', 'region-2'), fc.constantFrom('0', '1', '2', '3')),
    ),
    afterMs: fc.integer({ min: 0, max: 2 * INTERVAL_MS }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { clock, client, world, changes, regions } = scene({});
      const readsMs: number[] = [];
      let told = 'open';
      let lastGood: Record<string, string> | undefined;
      for (const { listing, afterMs } of steps) {
        clock.advance(afterMs);
        world.listing = listing;
        const before = world.reads;
        const look = await regions.check(client, 'team-a', 'region-1');
        if (world.reads > before) {
          expect(clock.monotonic() - (readsMs.at(-1) ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(FAILED_MS);
          readsMs.push(clock.monotonic());
          if (!(listing instanceof PortolanError)) lastGood = listing;
        }
        if (lastGood === undefined) expect(look.type).toBe('unknown');
        else expect(look.type).toBe(lastGood['region-1'] === '1' ? 'open' : 'paused');
        if (look.type !== 'unknown' && look.type !== told) {
          told = look.type;
          expect(changes.at(-1)).toMatch(new RegExp(`^${told}: region region-1 is `));
        }
      }
      expect(
        changes.every((change, index) => index === 0 || change.slice(0, 4) !== changes[index - 1]?.slice(0, 4)),
      ).toBe(true);
    }),
  );
});
