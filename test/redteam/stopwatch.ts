import type { Time } from './bombs.ts';

/** Begins to measure, and returns what has passed since. */
export function stopwatch(): () => Time {
  const before = process.cpuUsage();
  const startMs = performance.now();
  return () => {
    const wallMs = Math.round(performance.now() - startMs);
    const { user, system } = process.cpuUsage(before);
    return { wallMs, cpuMs: Math.round((user + system) / 1000) };
  };
}
