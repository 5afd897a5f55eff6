import { signal } from '@preact/signals';

/** The clock of the browser: the only file of the dashboard that reads the time or sets timers. */

export function nowMs(): number {
  return Date.now();
}

/** Calls `listener` once, after `ms`. @returns a function that cancels it. */
export function after(ms: number, listener: () => void): () => void {
  const timer = setTimeout(listener, ms);
  return () => clearTimeout(timer);
}

/** Resolves after `ms`, or when the signal is aborted. */
export function sleep(ms: number, aborted: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(ms, resolve);
    aborted.addEventListener('abort', () => {
      cancel();
      resolve();
    });
  });
}

const TICK_MS = 10_000;

/** The time for relative times on the page; changes every ten seconds. */
export const tick = signal(nowMs());

setInterval(() => {
  tick.value = nowMs();
}, TICK_MS);
