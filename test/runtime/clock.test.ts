import { spawnSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock, unlessAborted } from '../../src/runtime/clock.ts';

const DAY_MS = 86_400_000;

afterEach(() => void vi.useRealTimers());

test('a sleep of a month ends after a month, although a timer of Node.js ends at once', async () => {
  vi.useFakeTimers();
  const told: string[] = [];
  void systemClock.sleep(30 * DAY_MS).then(() => told.push('ended'));
  await vi.advanceTimersByTimeAsync(30 * DAY_MS - 1);
  expect(told).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(told).toEqual(['ended']);
});

test('such a sleep can be aborted in each of its parts', async () => {
  vi.useFakeTimers();
  for (const days of [1, 26]) {
    const stop = new AbortController();
    const slept = systemClock.sleep(30 * DAY_MS, stop.signal).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(days * DAY_MS);
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await slept).toBe(reason);
    expect(vi.getTimerCount(), `${days} days`).toBe(0);
  }
});

test('work that ends leaves no listener on the signal that could have aborted it', async () => {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal]);
  expect(await unlessAborted(Promise.resolve('done'), signal)).toBe('done');
  await expect(unlessAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('work is left when the signal is aborted, also before', async () => {
  const never = new Promise<never>(() => {});
  const stop = new AbortController();
  const left = unlessAborted(never, stop.signal);
  stop.abort(new Error('enough'));
  await expect(left).rejects.toThrow('enough');
  await expect(unlessAborted(never, stop.signal)).rejects.toThrow('enough');
});

const MODULE = fileURLToPath(new URL('../../src/runtime/clock.ts', import.meta.url));
const READ = `"${process.execPath}" -e 'import("${MODULE}").then(({ systemClock }) => console.log(JSON.stringify(systemClock.sinceBoot())))'`;

/** Runs a shell with other namespaces. @returns undefined where the kernel does not permit that. */
function inNamespaces(
  options: readonly string[],
  before: string,
): ReturnType<typeof systemClock.sinceBoot> | undefined {
  const args = [...options, 'sh', '-c', `${before} || exit 9; exec ${READ}`];
  const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
  if (status === 0) return JSON.parse(stdout) as ReturnType<typeof systemClock.sinceBoot>;
  if (status === 1 || status === 9 || status === null) return undefined;
  throw new Error(stderr);
}

const OVERLAY = 'mount -t tmpfs none /mnt && echo 5.00 5.00 > /mnt/uptime && mount --bind /mnt/uptime /proc/uptime';

test.skipIf(process.platform !== 'linux').for([
  ['a time namespace', ['--map-root-user', '--time', '--boottime', '100000', '--fork'], 'true'],
  ['another filesystem over its uptime', ['--map-root-user', '--mount'], OVERLAY],
] as const)('a container with %s has times of its own', ([, options, before], { skip }) => {
  const first = inNamespaces(options, before);
  const second = inNamespaces(options, before);
  skip(first === undefined || second === undefined, 'the kernel does not permit it');
  const own = systemClock.sinceBoot();
  expect(Math.abs((first?.uptimeMs ?? 0) - own.uptimeMs)).toBeGreaterThan(50_000);
  expect(new Set([own.boot, first?.boot, second?.boot]).size).toBe(3);
  expect(systemClock.sinceBoot().boot).toBe(own.boot);
});
