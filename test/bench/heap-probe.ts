import { getHeapSpaceStatistics } from 'node:v8';

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
  process.stderr.write(`heap-probe ${objectBytes} ${codeBytes}\n`);
});
