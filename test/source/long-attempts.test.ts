import { expect, test } from 'vitest';
import { repository } from './repositories.ts';
import { applications, Bench } from './threads.ts';

/** Holds each call of one name on its way to the thread, until it is released. */
function holdBack(bench: Bench, name: string): () => void {
  const released = Promise.withResolvers<void>();
  bench.delivered = async (message) => {
    if ((message as { readonly call: string }).call === name) await released.promise;
  };
  return () => released.resolve();
}

/** Steps of the attempts that the ledger counts, and how many processes began each. */
function counted({ store }: Bench): readonly string[] {
  const text = store.facts.get('unreadable default') ?? '{"attempts":[]}';
  const { attempts } = JSON.parse(text) as { readonly attempts: readonly { step: string; times: number }[] };
  return attempts.map(({ step, times }) => `${step} ${times}`);
}

test.for(['commit', 'load'])('a long %s is counted until it ends', async (call) => {
  const root = repository(applications(1));
  const bench = new Bench();
  const release = holdBack(bench, call);
  const reading = bench.ends(root);
  await expect.poll(() => counted(bench)).toEqual([call === 'commit' ? 'read 1' : 'load 1']);
  release();
  expect(await reading).toBe('1 resources');
  expect(counted(bench)).toEqual([]);
});

test('a replica that begins to lead during a long attempt counts it from then on', async () => {
  const root = repository(applications(1));
  const bench = new Bench();
  bench.isLeader = false;
  const release = holdBack(bench, 'commit');
  const reading = bench.ends(root);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(bench.store.facts.has('unreadable default')).toBe(false);
  bench.isLeader = true;
  await expect.poll(() => counted(bench)).toEqual(['read 1']);
  release();
  expect(await reading).toBe('1 resources');
  expect(counted(bench)).toEqual([]);
});
