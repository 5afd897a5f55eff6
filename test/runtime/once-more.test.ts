import { expect, test } from 'vitest';
import { onceMore } from '../../src/runtime/once-more.ts';

/** A task whose runs end when the test says so. */
function held() {
  const runs: (() => void)[] = [];
  const run = onceMore(() => new Promise<void>((resolve) => runs.push(resolve)));
  return { runs, run };
}

test('calls while it runs make it run once more, and they wait for that', async () => {
  const { runs, run } = held();
  const ended: string[] = [];
  const calls = ['first', 'second', 'third'].map(async (name) => {
    await run();
    ended.push(name);
  });
  expect(runs).toHaveLength(1);
  runs[0]?.();
  await expect.poll(() => runs).toHaveLength(2);
  expect(ended).toEqual([]);
  runs[1]?.();
  await Promise.all(calls);
  expect(runs).toHaveLength(2);
  void run();
  expect(runs).toHaveLength(3);
});

test('a call at any moment around the end of a run is not lost', async () => {
  for (let jobs = 0; jobs < 10; jobs += 1) {
    let began = 0;
    const run = onceMore(async () => {
      began += 1;
    });
    const first = run();
    for (let job = 0; job < jobs; job += 1) await Promise.resolve();
    await run();
    await first;
    expect(began, `after ${jobs} jobs`).toBe(2);
  }
});

test('a run that failed does not prevent the next', async () => {
  const outcomes = [() => Promise.reject(new Error('the first fails')), () => Promise.resolve()];
  const run = onceMore(() => outcomes.shift()?.() ?? Promise.reject(new Error('no run is left')));
  await expect(run()).rejects.toThrow('the first fails');
  await run();
  expect(outcomes).toEqual([]);
});
