import type { Clock } from './clock.ts';

/** V8: the heap of this thread, and flags that count for the heaps of all threads. */
export interface Heap {
  /** Returns the size of the old part: what is alive, and garbage until the next collection of the whole heap. */
  oldBytes(): number;
  setFlag(flag: string): void;
}

const MIB = 2 ** 20;
const LOOK_MS = 1_000;
/** Time in which the heap grows to its usual size. Limits that fit its size of a second ago would be too wide. */
const START_MS = 5_000;
/** Holds the size that a heap may have before it is collected early. */
const SMALL_BYTES = 40 * MIB;
/** Hold what V8 itself allows with `--optimize-for-size`, and about half of what it allows without. */
const [PERCENT_MIN, PERCENT_MAX] = [10, 100];

/**
 * Makes V8 collect early, so that the heap becomes small again after a peak. V8 reads these flags at every collection.
 * @returns never: for as long as the process runs
 */
export async function keepSmall(heap: Heap, clock: Clock): Promise<never> {
  heap.setFlag('--optimize-for-size');
  // V8 collects a heap once more when little happens. After 8 s, and twice, that cost more than the commits between.
  heap.setFlag('--memory-reducer-gc-count=1');
  heap.setFlag('--gc-memory-reducer-start-delay-ms=60000');
  heap.setFlag(`--heap-growing-percent=${PERCENT_MIN}`);
  await clock.sleep(START_MS);
  let beforeBytes = 0;
  let liveBytes = 0;
  for (;;) {
    const oldBytes = heap.oldBytes();
    const percent = growthPercent(liveBytes);
    // It shrinks only in a collection. Where it grew further than a collection would allow, more is alive than before.
    if (oldBytes < beforeBytes || oldBytes > liveBytes * (1 + percent / 100)) liveBytes = oldBytes;
    beforeBytes = oldBytes;
    heap.setFlag(`--heap-growing-percent=${growthPercent(liveBytes)}`);
    await clock.sleep(LOOK_MS);
  }
}

/**
 * Returns by how many percent the old part of a heap may grow until V8 collects it again. Two commits fill a tenth of a
 * small heap, and to collect all of it takes more processor time than they do. A tenth of a large heap is much memory.
 */
function growthPercent(liveBytes: number): number {
  const percent = Math.round((SMALL_BYTES / liveBytes - 1) * 100);
  return Math.min(PERCENT_MAX, Math.max(PERCENT_MIN, percent));
}
