import type { Random } from '../runtime/random.ts';

const DELAY_MS_FIRST = 5;
const DELAY_MS_MAX = 1_000_000;

/**
 * How long a key waits after its `failures`-th failure in a row. The ceiling doubles from 10 ms to 1000 s, and the delay
 * lies in its upper half: 5 … 10 ms at first, 500 … 1000 s in the end, so that what failed together is not tried together.
 * @param failures counts from 1.
 * @returns milliseconds in [5, 1 000 000).
 * @throws RangeError when `failures` < 1: the caller's count is wrong, and waiting next to nothing would hide it.
 */
export function keyBackoffMs(failures: number, random: Random): number {
  if (!(failures >= 1)) throw new RangeError(`failures count from 1, got ${failures}`);
  const ceilingMs = Math.min(DELAY_MS_MAX, DELAY_MS_FIRST * 2 ** failures);
  return (ceilingMs / 2) * (1 + random.next());
}
