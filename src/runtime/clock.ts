import { existsSync, readFileSync, statSync } from 'node:fs';
import { platform, uptime } from 'node:os';
import type { EpochMs, MonotonicMs } from '../model/time.ts';

/** The only source of time. The simulator has another implementation. */
export interface Clock {
  now(): EpochMs;
  monotonic(): MonotonicMs;
  /**
   * Returns the time since the machine started. It is independent of the wall clock, equal in all processes, and passes while the
   * machine is suspended, when `monotonic` may stand still.
   */
  sinceBoot(): BootTime;
  /** Resolves after `ms` milliseconds; rejects with the reason of the signal when that is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface BootTime {
  /** The id of this start of the machine; `''` where the system has none, and then only the wall clock is left. */
  readonly boot: string;
  /** Whole milliseconds. */
  readonly uptimeMs: number;
  /** Largest error of the difference between two readings. Default: 0. */
  readonly errorMs?: number;
}

/** The reason to abort a wait that is not needed any more. Without a reason, each `abort()` makes an error with a stack. */
export const NOT_NEEDED = new Error('the wait is not needed any more');

/** Calls `then` after `ms` milliseconds, unless `unless` is aborted before. */
export function after(clock: Clock, ms: number, unless: AbortSignal, then: () => void): void {
  clock.sleep(ms, unless).then(then, (error: unknown) => {
    if (!unless.aborted) throw error;
  });
}

/** Returns a promise that rejects with the signal's reason once it is aborted, and never resolves. */
export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/**
 * Returns the result of the work, or rejects with the signal's reason once that is aborted. No listener is left: Node.js keeps a signal
 * of `AbortSignal.any` that has one, and the result with it, until it is aborted.
 */
export async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Longest timer of Node.js, 24.8 days. It fires at once beyond that. */
const TIMER_MS_MAX = 2 ** 31 - 1;

let bootId: string | undefined;
/** See `systemUptime`. */
let uptimeErrorMs: number | undefined;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => {
    bootId ??= readBootId();
    return { boot: bootId, ...systemUptime() };
  },
  // `node:timers/promises` would reject with an error of its own, whose stack takes longer than all the rest.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      let timer: NodeJS.Timeout | undefined;
      let leftMs = ms;
      const wait = (): void => {
        const partMs = Math.min(leftMs, TIMER_MS_MAX);
        leftMs -= partMs;
        timer = setTimeout(leftMs > 0 ? wait : end, partMs);
      };
      const end = (): void => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      wait();
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/**
 * Returns the time since boot with suspension. Linux has it in `/proc/uptime`, in hundredths of a second; without that file, Node.js
 * returns whole seconds. The monotonic clocks of the other systems count suspension themselves, and are finer than their uptime.
 */
function systemUptime(): Omit<BootTime, 'boot'> {
  if (platform() !== 'linux') return { uptimeMs: Math.round(performance.now()), errorMs: 1 };
  uptimeErrorMs ??= existsSync('/proc/uptime') ? 10 : 1_000;
  return { uptimeMs: Math.round(uptime() * 1000), errorMs: uptimeErrorMs };
}

/**
 * Returns the id that Linux gives to each start of the machine; other systems have none. In a container whose times begin at another
 * moment, that moment is part of it, so that all processes of the container have one id, and those of another container have another one.
 */
function readBootId(): string {
  let boot: string;
  try {
    boot = readProc('sys/kernel/random/boot_id');
  } catch {
    return '';
  }
  try {
    return [boot, ...offsetOfNamespace(), ...startOfContainer()].join('-');
  } catch {
    return readProc('sys/kernel/random/uuid');
  }
}

/** Returns by how much the uptime of a time namespace differs from that of the machine. */
function offsetOfNamespace(): readonly string[] {
  if (!existsSync('/proc/self/timens_offsets')) return [];
  const [, seconds = '', nanoseconds = ''] =
    /^boottime\s+(-?\d+)\s+(\d+)$/m.exec(readProc('self/timens_offsets')) ?? [];
  return seconds === '0' && nanoseconds === '0' ? [] : [`${seconds}.${nanoseconds}`];
}

/** Returns when the first process of a container started, if another filesystem (lxcfs) counts its uptime from then. */
function startOfContainer(): readonly string[] {
  if (statSync('/proc/uptime').dev === statSync('/proc/self/stat').dev) return [];
  // The name of the program, in parentheses, may contain spaces.
  const [, start = ''] = /\) (?:\S+ ){19}(\d+) /.exec(readProc('1/stat')) ?? [];
  return [start];
}

function readProc(path: string): string {
  return readFileSync(`/proc/${path}`, 'utf8').trim();
}
