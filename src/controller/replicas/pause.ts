import type { Clock } from '../../runtime/clock.ts';

/** Waits; ends early when the signal is aborted. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch {
    // The signal was aborted, as the caller sees.
  }
}
