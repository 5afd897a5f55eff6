import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/** What is on the heap after a forced collection, and what V8 holds beside it. */
export interface HeapShares {
  readonly objectBytes: number;
  readonly codeBytes: number;
  /** Pages of the heap that are in memory, their free room included. */
  readonly heapBytes: number;
  /** What V8 allocated for itself, compilers above all. */
  readonly mallocedBytes: number;
  /** Buffers and the like. */
  readonly externalBytes: number;
}

/**
 * Preloaded into a daemon that is measured: on SIGUSR2 it collects everything and says what is left, objects and code
 * apart. V8 goes on compiling what has become hot for minutes, and drops what has not run for a while: that says nothing
 * about what the program keeps.
 */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  let [objectBytes, codeBytes] = [0, 0];
  for (const { space_name: space, space_used_size: bytes } of getHeapSpaceStatistics()) {
    // Compiled code, and the bytecode that it is made of.
    if (/^(?:code|trusted)_/.test(space)) codeBytes += bytes;
    else objectBytes += bytes;
  }
  const { total_physical_size: heapBytes, malloced_memory: mallocedBytes } = getHeapStatistics();
  const { external: externalBytes } = process.memoryUsage();
  process.stderr.write(
    `heap-probe ${JSON.stringify({ objectBytes, codeBytes, heapBytes, mallocedBytes, externalBytes })} end\n`,
  );
});
