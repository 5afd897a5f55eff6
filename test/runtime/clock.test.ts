import { spawnSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { type BootTime, systemClock, unlessAborted } from '../../src/runtime/clock.ts';

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

/** Returns the clocks of two processes of a container. @returns undefined where the kernel does not permit to make one. */
function inContainer(options: readonly string[], before: string): readonly BootTime[] | undefined {
  const args = ['--map-root-user', ...options, 'sh', '-c', `${before} || exit 9; ${READ} && ${READ}`];
  const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
  if (status === 0) return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as BootTime]));
  if (status === 1 || status === 9 || status === null) return undefined;
  throw new Error(stderr);
}

const inNamespace = (aheadS: number) => () => inContainer(['--time', '--boottime', `${aheadS}`, '--fork'], 'true');
const LAID_OVER = 'mount -t tmpfs none /mnt && echo 5.00 5.00 > /mnt/uptime && mount --bind /mnt/uptime /proc/uptime';
const laidOver = () => inContainer(['--mount', '--pid', '--fork', '--mount-proc'], LAID_OVER);

test.skipIf(process.platform !== 'linux').for([
  ['time namespaces', inNamespace(100_000), inNamespace(200_000)],
  ['another filesystem over the uptime', laidOver, laidOver],
] as const)(
  'two containers with %s have times of their own, and all processes of one the same',
  ([, one, two], { skip }) => {
    const [first, second] = [one(), two()];
    if (first === undefined || second === undefined) return skip('the kernel does not permit it');
    const own = systemClock.sinceBoot();
    for (const { uptimeMs } of [...first, ...second]) expect(Math.abs(uptimeMs - own.uptimeMs)).toBeGreaterThan(50_000);
    const ids = [own, ...first, ...second].map(({ boot }) => boot);
    expect(ids).toEqual([ids[0], ids[1], ids[1], ids[3], ids[3]]);
    expect(new Set(ids).size).toBe(3);
    expect(ids.join(' ')).not.toMatch(/undefined| {2}|-(?: |$)/);
  },
);
