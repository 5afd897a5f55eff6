import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Preloaded into a daemon that is measured: on SIGUSR2 it says the longest time that the event loop did not turn since the
 * last signal, and starts over. Both as time, and as time of the processor that the main thread used meanwhile: a machine
 * that is busy with something else lengthens only the first.
 */
const RESOLUTION_MS = 5;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
let usedBefore = process.threadCpuUsage();
let longestMs = 0;
setInterval(() => {
  const now = process.threadCpuUsage();
  longestMs = Math.max(longestMs, (now.user + now.system - usedBefore.user - usedBefore.system) / 1_000);
  usedBefore = now;
}, RESOLUTION_MS).unref();
process.on('SIGUSR2', () => {
  const delayMs = Math.max(0, delays.max / 1e6 - RESOLUTION_MS);
  process.stderr.write(`delay-probe ${delayMs.toFixed(1)} ${longestMs.toFixed(1)} end\n`);
  delays.reset();
  longestMs = 0;
});
