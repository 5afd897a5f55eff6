import type { ResourceId } from '../../src/model/ids.ts';
import { WorkQueue } from '../../src/controller/queue.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

export const START_MS = Date.UTC(2026, 10, 20, 12);
export const id = (name: string | number): ResourceId => `Application/${name}`;

export interface Started {
  readonly atMs: number;
  readonly key: ResourceId;
  readonly because: readonly string[];
}

/** A queue whose work ends when the test says so, and what was seen of it. */
export function scene({ concurrency = (): number => 1 } = {}) {
  const clock = new VirtualClock(START_MS);
  const started: Started[] = [];
  const observed: string[] = [];
  const errors: unknown[] = [];
  const running = new Map<ResourceId, PromiseWithResolvers<void>>();
  const queue = new WorkQueue({
    clock,
    random: { next: () => 0, hex: () => '' },
    concurrency,
    observer: {
      queued: (key, because) => observed.push(`queued ${key}: ${because}`),
      began: (key, waitedMs) => observed.push(`began ${key} after ${waitedMs}`),
      ended: (key, result, tookMs) => observed.push(`ended ${key}: ${result} in ${tookMs}`),
      retried: (key) => observed.push(`retried ${key}`),
    },
    onError: (_, error) => errors.push(error),
  });
  const work = (key: ResourceId, because: readonly string[]): Promise<void> => {
    if (running.has(key)) throw new Error(`${key} runs twice at once`);
    started.push({ atMs: clock.monotonic() - START_MS, key, because });
    const ends = Promise.withResolvers<void>();
    running.set(key, ends);
    return ends.promise;
  };
  const end = async (key: ResourceId, error?: Error): Promise<void> => {
    const ends = running.get(key);
    running.delete(key);
    if (error === undefined) ends?.resolve();
    else ends?.reject(error);
    await settle();
  };
  return { clock, queue, work, end, running, started, observed, errors };
}

/** Every promise job that is due, without letting time pass. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
}

/** Lets time pass, and whatever falls due at its end happen. */
export async function pass(clock: Clock, ms: number): Promise<void> {
  await clock.sleep(ms);
  await clock.sleep(0);
  await settle();
}
