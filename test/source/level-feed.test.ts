import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { silentLog } from '../../src/runtime/log.ts';
import type { SourceReading } from '../../src/source/feed.ts';
import { heldContents } from '../../src/source/workbench.ts';
import { LevelFeed, type SourceReader } from '../../src/source/level-feed.ts';
import type { WatchPlan } from '../../src/source/watch-plan.ts';
import type { WatchListener } from '../../src/source/watcher.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const INTERVAL_MS = 60_000;
const DEBOUNCE_MS = 100;

/** A source whose state a test sets, on a clock of its own. Nothing runs but what the test waits for. */
function scene({ chance = 0.5 } = {}) {
  const clock = new VirtualClock(0);
  let now: () => string = () => 'one';
  let plan: WatchPlan | undefined = { folders: ['/x'], names: [], trees: [], isPlain: false, identity: '1' };
  const looked: number[] = [];
  const told: string[] = [];
  const asked: number[] = [];
  const slow = { ms: 0 };
  const opened: string[] = [];
  let listener: WatchListener | undefined;
  const reader: SourceReader = {
    location: 'here',
    async observe() {
      looked.push(clock.monotonic());
      if (slow.ms > 0) await clock.sleep(slow.ms);
      return reading(now());
    },
    watchPlan: async () => plan,
    findCommit: async () => ({ found: 'none' }),
    async close() {},
  };
  const warnings: string[] = [];
  const feed = new LevelFeed({
    reader,
    watch: (wanted, listens) => {
      opened.push(`open ${wanted.identity}`);
      listener = listens;
      return { close: async () => void opened.push(`close ${wanted.identity}`) };
    },
    intervalMs: INTERVAL_MS,
    debounceMs: DEBOUNCE_MS,
    clock,
    random: { next: () => chance, hex: () => '' },
    log: { ...silentLog, warn: (message) => void warnings.push(message) },
  });
  return {
    clock,
    feed,
    looked,
    told,
    asked,
    slow,
    opened,
    warnings,
    is: (state: () => string) => {
      now = state;
    },
    watches: (next: WatchPlan | undefined) => {
      plan = next;
    },
    hint: () => listener?.changed(),
    fails: (error: Error) => listener?.failed(error),
    start: (tell?: (line: string) => Promise<void>) =>
      feed.start(async (state) => {
        const line = state.type === 'read' ? state.reading.revision : `failed ${state.error.message}`;
        told.push(line);
        if (state.type === 'read') asked.push(state.askedMs);
        await tell?.(line);
      }),
  };
}

function reading(revision: string): SourceReading {
  return {
    revision,
    commit: null,
    contents: heldContents({ kinds: kindDeclarations, files: [] }),
    observedMs: 0,
    descentFrom: async () => 'unknown',
  };
}

function failure(message: string): never {
  throw new PortolanError({ code: 'source/test', disposition: 'give-up', message, remedy: 'None.' });
}

/** Lets everything happen until that time on the clock. */
async function until(clock: VirtualClock, ms: number): Promise<void> {
  await clock.sleep(ms - clock.monotonic());
}

test('it looks at once and then at the interval, and tells only what differs', async () => {
  const { clock, feed, looked, told, start, is } = scene();
  start();
  await until(clock, 1.5 * INTERVAL_MS);
  is(() => 'two');
  await until(clock, 3.5 * INTERVAL_MS);
  expect(looked).toEqual([0, 1, 2, 3].map((n) => n * INTERVAL_MS));
  expect(told).toEqual(['one', 'two']);
  await feed.close();
});

test.for([
  [0, 0.9],
  [0.999_999, 1.1],
])('the interval is %s of the way between a tenth less and a tenth more', async ([chance = 0, share = 0]) => {
  const { clock, feed, looked, start } = scene({ chance });
  start();
  await until(clock, 1.5 * INTERVAL_MS);
  expect(looked[1]).toBeCloseTo(share * INTERVAL_MS, -1);
  await feed.close();
});

test('hints wait for the debounce and count once; more of them do not put it off', async () => {
  const { clock, feed, looked, start, hint } = scene();
  start();
  await until(clock, 1_000);
  hint();
  for (const ms of [1_030, 1_060, 1_090]) {
    await until(clock, ms);
    hint();
  }
  await until(clock, 5_000);
  expect(looked).toEqual([0, 1_100]);
  await feed.close();
});

test('a poke looks now, during a debounce too', async () => {
  const { clock, feed, looked, start, hint } = scene();
  start();
  await until(clock, 1_000);
  feed.poke();
  await until(clock, 2_000);
  hint();
  await until(clock, 2_040);
  feed.poke();
  await until(clock, 3_000);
  expect(looked).toEqual([0, 1_000, 2_040]);
  await feed.close();
});

test('a confirmation reports the same state again, from a read that began after it', async () => {
  const { clock, feed, looked, told, asked, start, slow } = scene();
  start();
  await until(clock, 1_000);
  slow.ms = 500;
  feed.poke();
  await until(clock, 1_200);
  // The read in progress may have asked the source before this.
  feed.confirm();
  await until(clock, 3_000);
  expect(looked).toEqual([0, 1_000, 1_500]);
  expect(told).toEqual(['one', 'one']);
  expect(asked).toEqual([0, 1_500]);
  await feed.close();
});

test('what is heard while somebody is told is looked at afterwards', async () => {
  const { clock, feed, looked, told, start, hint, is } = scene();
  start(async (line) => {
    if (line !== 'one') return;
    await clock.sleep(500);
    is(() => 'two');
    hint();
    await clock.sleep(500);
  });
  await until(clock, 300);
  hint();
  feed.poke();
  await until(clock, 5_000);
  expect(looked).toEqual([0, 1_000]);
  expect(told).toEqual(['one', 'two']);
  await feed.close();
});

test('a failure is told once, looked at sooner, and the former state is told again when it heals', async () => {
  const { clock, feed, looked, told, start, is } = scene();
  start();
  await until(clock, 1);
  is(() => failure('gone'));
  feed.poke();
  await until(clock, 20_000);
  is(() => failure('other'));
  await until(clock, 40_000);
  is(() => {
    throw new Error('EIO: the disk');
  });
  await until(clock, 70_000);
  is(() => 'one');
  await until(clock, 200_000);
  expect(told).toEqual(['one', 'failed gone', 'failed other', 'failed here cannot be read: EIO: the disk.', 'one']);
  expect(looked.slice(1, 8).map((ms) => ms - 1)).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000]);
  await feed.close();
});

test('it listens where the source is now, and anew when that is replaced', async () => {
  const { clock, feed, opened, start, watches, fails, warnings } = scene();
  start();
  await until(clock, 1);
  watches({ folders: ['/x'], names: [], trees: [], isPlain: false, identity: '2' });
  feed.poke();
  await until(clock, 2);
  feed.poke();
  await until(clock, 3);
  fails(new Error('ENOSPC: no more'));
  watches(undefined);
  feed.poke();
  await until(clock, 4);
  await feed.close();
  expect(opened).toEqual(['open 1', 'close 1', 'open 2', 'close 2']);
  expect(warnings).toEqual(['here cannot be watched, so changes are detected only at the interval: ENOSPC: no more']);
});

test('closing ends it between looks, and does not wait for whoever is being told', async () => {
  const { clock, feed, looked, told, start } = scene();
  const isTold = Promise.withResolvers<void>();
  start(async () => {
    isTold.resolve();
    await feed.close();
  });
  await isTold.promise;
  await feed.close();
  await until(clock, 10 * INTERVAL_MS);
  expect(looked).toEqual([0]);
  expect(told).toEqual(['one']);
});
