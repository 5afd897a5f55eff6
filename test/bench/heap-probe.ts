/** Preloaded into a daemon that is measured: on SIGUSR2 it collects everything and says what is left. */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  process.stderr.write(`heap-probe ${heapUsed} ${process.getActiveResourcesInfo().length}\n`);
});
