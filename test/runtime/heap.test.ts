import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { keepSmall } from '../../src/runtime/heap.ts';

const MIB = 2 ** 20;

const WHILE_STARTING = [
  '--optimize-for-size',
  '--memory-reducer-gc-count=1',
  '--gc-memory-reducer-start-delay-ms=60000',
  '--heap-growing-percent=10',
];

test('a small heap may grow further than a large one before it is collected', async () => {
  expect(await flagsFor([10, 25, 35, 60, 200])).toEqual([...WHILE_STARTING, ...percents(100, 60, 60, 10, 10)]);
});

test('garbage does not count: only a collection shows how much is alive', async () => {
  expect(await flagsFor([25, 30, 39, 25, 26])).toEqual([...WHILE_STARTING, ...percents(60, 60, 60, 60, 60)]);
  expect(await flagsFor([60, 65, 30, 39, 45])).toEqual([...WHILE_STARTING, ...percents(10, 10, 33, 33, 10)]);
});

test('Node.js knows these flags: it ignores an unknown one that is set later', async () => {
  const start = (...flags: readonly string[]): number | null =>
    spawnSync(process.execPath, [...flags, '-e', '']).status;
  expect(start(...(await flagsFor([60])))).toBe(0);
  expect(start('--heap-growing-percentage=20')).not.toBe(0);
});

function percents(...values: readonly number[]): readonly string[] {
  return values.map((percent) => `--heap-growing-percent=${percent}`);
}

/** Returns the flags that are set while the old part of the heap has these sizes, one after another. */
function flagsFor(sizesMib: readonly number[]): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const flags: string[] = [];
    const left = [...sizesMib];
    const sleep = async (): Promise<void> => {
      if (left.length > 0) return;
      resolve(flags);
      await new Promise(() => {});
    };
    const heap = { oldBytes: () => (left.shift() ?? 0) * MIB, setFlag: (flag: string) => flags.push(flag) };
    void keepSmall(heap, { ...systemClock, sleep });
  });
}
